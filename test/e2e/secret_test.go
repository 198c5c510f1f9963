package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// gaps are moments in which a Secret was not there, or lacked a key.
type gaps struct {
	mu   sync.Mutex
	seen []string
}

func (g *gaps) check(t *testing.T, what string) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.seen {
		t.Errorf("%s: %s", what, s)
	}
	g.seen = nil
}

// watchSecret notes each moment in which a Secret is not as an application needs it.
func watchSecret(t *testing.T, ns, name string, keys ...string) *gaps {
	t.Helper()
	c, err := client.NewWithWatch(p.Plane.Config(), client.Options{Scheme: p.Client.Scheme()})
	if err != nil {
		t.Fatalf("cannot create client: %v", err)
	}
	w, err := c.Watch(context.Background(), &corev1.SecretList{}, client.InNamespace(ns))
	if err != nil {
		t.Fatalf("cannot watch Secrets: %v", err)
	}
	t.Cleanup(w.Stop)
	g := &gaps{}
	go func() {
		for e := range w.ResultChan() {
			s, ok := e.Object.(*corev1.Secret)
			if !ok || s.Name != name {
				continue
			}
			g.mu.Lock()
			if e.Type == watch.Deleted {
				g.seen = append(g.seen, "the Secret was deleted")
			}
			for _, k := range keys {
				if e.Type != watch.Deleted && len(s.Data[k]) == 0 {
					g.seen = append(g.seen, "the Secret had no value at key "+k)
				}
			}
			g.mu.Unlock()
		}
	}()
	return g
}

// deliverAgain asks External Secrets to deliver again, and waits until it said how that went.
func deliverAgain(t *testing.T, ns, tenant, trigger string, status corev1.ConditionStatus) {
	t.Helper()
	es := externalSecretOf(t, ns, tenant)
	rawPatch(t, es, `{"metadata":{"annotations":{"e2e-sync":%q}}}`, trigger)
	eventually(t, "External Secrets to look again", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(es), es); err != nil {
			return err
		}
		if got := condition(es, "Ready")["status"]; got != string(status) {
			return fmt.Errorf("Ready is %v", got) // A condition's name.
		}
		return nil
	})
}

// A delivery is a Tenant's Secret, watched from when it was delivered.
type delivery struct {
	ns     string
	tenant *unstructured.Unstructured
	config *postgresqlv1alpha1.ClusterProviderConfig
	before facts
	gaps   *gaps
}

// deliver a Secret for a Tenant of its own. Crossplane bounds how much may happen to a composite in a short time.
func deliver(t *testing.T) *delivery {
	t.Helper()
	d := &delivery{ns: namespace(t)}
	watchTenants(t, d.ns, nil)
	d.config, _ = ownConfigs(t, d.ns)
	create(t, newTenant(d.ns, "orders", map[string]any{"deletionPolicy": "Delete", "instanceRef": map[string]any{"name": d.ns}}))
	d.tenant = restsFor(t, d.ns, "orders", longCalm)
	d.before = secretFacts(t, d.ns, "orders-db")
	d.gaps = watchSecret(t, d.ns, "orders-db", "host", "port", "dbname", "username", "password", "uri", "ca.crt", "sslmode")
	return d
}

// unchanged fails unless the Secret is the same object, with the same data at all keys but some, and was so all the time.
func (d *delivery) unchanged(t *testing.T, what string, but ...string) {
	t.Helper()
	d.gaps.check(t, what)
	now := secretFacts(t, d.ns, "orders-db")
	for _, k := range append(but, "secret/resourceVersion") {
		now[k] = d.before[k]
	}
	if diff := d.before.changes(now); len(diff) > 0 {
		t.Errorf("%s: these changed: %q", what, diff)
	}
}

// A delivered Secret stays, and stays the same object, while its store is sealed.
func TestH52StoreSealed(t *testing.T) {
	d := deliver(t)
	unseal := sealed(t)
	deliverAgain(t, d.ns, "orders", "sealed", corev1.ConditionFalse)
	d.unchanged(t, "while the store is sealed")
	mustLogin(t, secretData(t, d.ns, "orders-db"))
	unseal()
	tenantReady(t, d.ns, "orders")
	d.unchanged(t, "after the store was sealed")
}

// sealed seals OpenBao until the function that is returned is called, or the test ends.
func sealed(t *testing.T) (unseal func()) {
	t.Helper()
	if err := p.Plane.OpenBao.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	unseal = sync.OnceFunc(func() {
		if err := p.Plane.OpenBao.Unseal(context.Background()); err != nil {
			t.Errorf("%v", err)
		}
	})
	t.Cleanup(unseal)
	return unseal
}

// So it does while its record is deleted softly.
func TestH52RecordDeleted(t *testing.T) {
	t.Parallel()
	d := deliver(t)
	if err := p.Plane.OpenBao.Root().KVv2(openbao.Mount).Delete(t.Context(), kvPath(d.tenant)); err != nil {
		t.Fatal("cannot delete the record")
	}
	deliverAgain(t, d.ns, "orders", "deleted", corev1.ConditionFalse)
	tenantIs(t, d.ns, "orders", func(u *unstructured.Unstructured) error {
		if condition(u, "CredentialReady")["reason"] != "DataLost" {
			return errors.New("it does not say that the record is lost")
		}
		return nil
	})
	d.unchanged(t, "while the record is deleted")
	if err := p.Plane.OpenBao.Root().KVv2(openbao.Mount).Undelete(t.Context(), kvPath(d.tenant), []int{1}); err != nil {
		t.Fatal("cannot undelete the record")
	}
	deliverAgain(t, d.ns, "orders", "undeleted", corev1.ConditionTrue)
	tenantReady(t, d.ns, "orders")
	d.unchanged(t, "after the record was deleted")
}

// So it does when its Tenant is edited, and when what its template writes changes, without a moment in which a key is missing.
func TestH52Edits(t *testing.T) {
	t.Parallel()
	d := deliver(t)
	u := d.tenant
	change(t, types.NamespacedName{Namespace: d.ns, Name: "orders"}, u, func() {
		u.SetLabels(map[string]string{"team": "shop"})
		_ = unstructured.SetNestedField(u.Object, int64(9), "spec", "connectionLimit")
		_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{"name": "pgcrypto"}}, "spec", "extensions")
	})
	tenantIs(t, d.ns, "orders", func(u *unstructured.Unstructured) error {
		if observedGeneration(u) != u.GetGeneration() || condition(u, "Ready")["status"] != "True" {
			return errors.New("the new generation is not Ready")
		}
		return nil
	})
	d.unchanged(t, "after the Tenant was edited")

	allow(t, d.config, func(pc *postgresqlv1alpha1.ClusterProviderConfig) {
		pc.Spec.Consumer = &postgresqlv1alpha1.ConsumerEndpoint{Host: ptr.To("db.example")}
	})
	eventually(t, "the Secret to follow", func(context.Context) error {
		if string(secretData(t, d.ns, "orders-db")["host"]) != "db.example" {
			return errors.New("it has the old host")
		}
		return nil
	})
	d.unchanged(t, "after the template changed", "secret/data/host", "secret/data/uri")
	tenantReady(t, d.ns, "orders")
}
