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

// TestH52SecretStays holds that a delivered Secret stays, and stays the same object, whatever becomes of its source or its Tenant's spec.
func TestH52SecretStays(t *testing.T) {
	ns := namespace(t)
	watchTenants(t, ns, nil)
	pg, _ := ownConfigs(t, ns)
	spec := map[string]any{"deletionPolicy": "Delete", "instanceRef": map[string]any{"name": ns}}
	create(t, newTenant(ns, "orders", spec))
	u := atRest(t, ns, "orders")
	before := secretFacts(t, ns, "orders-db")
	g := watchSecret(t, ns, "orders-db", "host", "port", "dbname", "username", "password", "uri", "ca.crt", "sslmode")
	unchanged := func(what string, but ...string) {
		t.Helper()
		g.check(t, what)
		now := secretFacts(t, ns, "orders-db")
		for _, k := range append(but, "secret/resourceVersion") {
			now[k] = before[k]
		}
		if diff := before.changes(now); len(diff) > 0 {
			t.Errorf("%s: these changed: %q", what, diff)
		}
	}

	// The store is sealed.
	if err := p.Plane.OpenBao.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	unsealed := false
	unseal := func() {
		if !unsealed {
			unsealed = true
			if err := p.Plane.OpenBao.Unseal(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Cleanup(unseal)
	deliverAgain(t, ns, "orders", "sealed", corev1.ConditionFalse)
	unchanged("while the store is sealed")
	mustLogin(t, secretData(t, ns, "orders-db"))
	unseal()
	atRest(t, ns, "orders")
	unchanged("after the store was sealed")

	// The record is deleted softly, and comes back.
	if err := p.Plane.OpenBao.Root().KVv2(openbao.Mount).Delete(t.Context(), kvPath(u)); err != nil {
		t.Fatal("cannot delete the record")
	}
	deliverAgain(t, ns, "orders", "deleted", corev1.ConditionFalse)
	tenantIs(t, ns, "orders", func(u *unstructured.Unstructured) error {
		if condition(u, "CredentialReady")["reason"] != "DataLost" {
			return errors.New("it does not say that the record is lost")
		}
		return nil
	})
	unchanged("while the record is deleted")
	if err := p.Plane.OpenBao.Root().KVv2(openbao.Mount).Undelete(t.Context(), kvPath(u), []int{1}); err != nil {
		t.Fatal("cannot undelete the record")
	}
	deliverAgain(t, ns, "orders", "undeleted", corev1.ConditionTrue)
	atRest(t, ns, "orders")
	unchanged("after the record was deleted")

	// The Tenant is edited.
	change(t, types.NamespacedName{Namespace: ns, Name: "orders"}, u, func() {
		u.SetLabels(map[string]string{"team": "shop"})
		_ = unstructured.SetNestedField(u.Object, int64(9), "spec", "connectionLimit")
		_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{"name": "pgcrypto"}}, "spec", "extensions")
	})
	tenantIs(t, ns, "orders", func(u *unstructured.Unstructured) error {
		if observedGeneration(u) != u.GetGeneration() || condition(u, "Ready")["status"] != "True" {
			return errors.New("the new generation is not Ready")
		}
		return nil
	})
	unchanged("after the Tenant was edited")

	// What the template writes changes.
	atRest(t, ns, "orders")
	allow(t, pg, func(pc *postgresqlv1alpha1.ClusterProviderConfig) {
		pc.Spec.Consumer = &postgresqlv1alpha1.ConsumerEndpoint{Host: ptr.To("db.example")}
	})
	eventually(t, "the Secret to follow", func(context.Context) error {
		if string(secretData(t, ns, "orders-db")["host"]) != "db.example" {
			return errors.New("it has the old host")
		}
		return nil
	})
	unchanged("after the template changed", "secret/data/host", "secret/data/uri")
	atRest(t, ns, "orders")
}
