package claims

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/cluster/local/openbao"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// namespace makes a namespace of the test's own.
func namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "claims-"}}
	if err := p.Client.Create(t.Context(), ns); err != nil {
		t.Fatalf("cannot create namespace: %v", err)
	}
	t.Cleanup(func() {
		if err := p.Client.Delete(context.Background(), ns); err != nil {
			t.Errorf("cannot delete namespace: %v", err)
		}
	})
	return ns.Name
}

func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := p.WaitFor(ctx, what, check); err != nil {
		t.Fatal(err)
	}
}

func apply(t *testing.T, format string, args ...any) {
	t.Helper()
	if err := p.Apply(t.Context(), fmt.Appendf(nil, format, args...)); err != nil {
		t.Fatalf("cannot apply: %v", err)
	}
}

// object of a kind of ours.
func object(gvk schema.GroupVersionKind, ns, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace(ns)
	u.SetName(name)
	return u
}

func field(u *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(u.Object, path...)
	return s
}

func observedGeneration(u *unstructured.Unstructured) int64 {
	g, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	return g
}

// condition of an object: its status and reason.
func condition(u *unstructured.Unstructured, conditionType string) (status, reason string) {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == conditionType {
			return fmt.Sprint(m["status"]), fmt.Sprint(m["reason"])
		}
	}
	return "", ""
}

// ready waits until a claim is Ready with its current spec.
func ready(t *testing.T, gvk schema.GroupVersionKind, ns, name string) *unstructured.Unstructured {
	t.Helper()
	return says(t, object(gvk, ns, name), "Ready", "True")
}

// says waits until a condition of a claim has a status, for its current generation.
func says(t *testing.T, u *unstructured.Unstructured, conditionType, want string) *unstructured.Unstructured {
	t.Helper()
	eventually(t, fmt.Sprintf("%s %s to have %s=%s", u.GetKind(), u.GetName(), conditionType, want), func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return err
		}
		if got, reason := condition(u, conditionType); got != want || observedGeneration(u) != u.GetGeneration() {
			return fmt.Errorf("it is %s %s of generation %d, at generation %d", got, reason, observedGeneration(u), u.GetGeneration())
		}
		return nil
	})
	return u
}

// gone waits until an object is gone.
func gone(t *testing.T, u client.Object) {
	t.Helper()
	eventually(t, fmt.Sprintf("%T %s to be gone", u, u.GetName()), func(ctx context.Context) error {
		err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u)
		if kerrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New("it is there"))
	})
}

// composite behind a claim.
func composite(t *testing.T, claim *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	gvk := claim.GroupVersionKind()
	gvk.Kind = "X" + gvk.Kind
	xr := object(gvk, "", field(claim, "spec", "resourceRef", "name"))
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(xr), xr); err != nil {
		t.Fatalf("cannot get composite: %v", err)
	}
	return xr
}

// readyAnew waits until there is another composite of a name, and it is Ready.
func readyAnew(t *testing.T, xr *unstructured.Unstructured) {
	t.Helper()
	eventually(t, "the composite to be made anew", func(ctx context.Context) error {
		again := xr.DeepCopy()
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(xr), again); err != nil {
			return err
		}
		if again.GetUID() == xr.GetUID() {
			return errors.New("it is the one of before")
		}
		if status, reason := condition(again, "Ready"); status != "True" {
			return fmt.Errorf("it is not Ready: %s", reason)
		}
		return nil
	})
}

// outside is what there is of a Tenant on the servers. There is no secret in it.
type outside struct {
	OID              uint32
	OwnerUID, Owner  string // Of the database, in the registry.
	State            string
	Version          string // Of the record.
	RecordOwner      string
	Retained, Exists bool // The record.
}

func outsideOf(t *testing.T, ns, name, database string) outside {
	t.Helper()
	o := outside{}
	for db, query := range map[string]string{
		"postgres": "SELECT coalesce(max(oid::bigint), 0)::oid, '', '', '' FROM pg_database WHERE datname = $1",
		"terdut": `SELECT 0::oid, coalesce(max(owner_uid), ''), coalesce(max(owner_namespace || '/' || owner_name), ''), coalesce(max(state), '')
			FROM terdut_registry.object WHERE kind = 'database' AND name = $1`,
	} {
		c, err := p.Plane.Postgres.Connect(t.Context(), db)
		if err != nil {
			t.Fatalf("cannot connect: %v", err)
		}
		var oid uint32
		var uid, owner, state string
		err = c.QueryRow(t.Context(), query, database).Scan(&oid, &uid, &owner, &state)
		_ = c.Close(t.Context())
		if err != nil {
			t.Fatalf("cannot look at database: %v", err)
		}
		o.OID, o.OwnerUID, o.Owner, o.State = max(o.OID, oid), o.OwnerUID+uid, o.Owner+owner, o.State+state
	}
	s, err := p.Plane.OpenBao.Root().Logical().ReadWithContext(t.Context(), openbao.Mount+"/metadata/tenants/"+ns+"/"+name)
	if err != nil {
		t.Fatalf("cannot read record: %v", err)
	}
	if s != nil {
		custom, _ := s.Data["custom_metadata"].(map[string]any)
		o.Exists, o.Version = true, fmt.Sprint(s.Data["current_version"])
		o.RecordOwner = fmt.Sprint(custom["terdut-owner-uid"])
		_, o.Retained = custom["terdut-retained"]
	}
	return o
}

// connectionLimit of a role.
func connectionLimit(ctx context.Context, role string) (int, error) {
	c, err := p.Plane.Postgres.Connect(ctx, "postgres")
	if err != nil {
		return 0, fmt.Errorf("cannot connect: %w", err)
	}
	defer c.Close(context.Background()) // Nothing is left to do with it.
	limit := 0
	if err := c.QueryRow(ctx, "SELECT rolconnlimit FROM pg_roles WHERE rolname = $1", role).Scan(&limit); err != nil {
		return 0, fmt.Errorf("cannot look at role: %w", err)
	}
	return limit, nil
}

// propagation of a deletion.
func propagation(how metav1.DeletionPropagation) client.DeleteOption {
	return client.PropagationPolicy(how)
}

// An observer looks at each version of claims and of the composites behind them.
type observer struct {
	mu     sync.Mutex
	faults []string
	deaf   []string
}

// listened fails a test when Crossplane did not listen to a composite so far.
func (o *observer) listened(t *testing.T) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range o.deaf {
		t.Error(d)
	}
}

// honest watches the claims of a namespace until the test ends: whenever one says that it speaks of its current generation, the check must hold.
func honest(t *testing.T, gvk schema.GroupVersionKind, ns string, check func(*unstructured.Unstructured) error) *observer {
	t.Helper()
	c, err := client.NewWithWatch(p.Plane.Config(), client.Options{Scheme: p.Client.Scheme()})
	if err != nil {
		t.Fatalf("cannot create client: %v", err)
	}
	o := &observer{}
	var done sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	behind := gvk
	behind.Kind = "X" + gvk.Kind
	for _, kind := range []schema.GroupVersionKind{gvk, behind} {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(kind)
		w, err := c.Watch(ctx, l)
		if err != nil {
			t.Fatalf("cannot watch %s: %v", kind.Kind, err)
		}
		done.Go(func() {
			defer w.Stop()
			for event := range w.ResultChan() {
				if u, ok := event.Object.(*unstructured.Unstructured); ok {
					o.look(u, ns, check)
				}
			}
		})
	}
	t.Cleanup(func() {
		stop()
		done.Wait()
		for _, f := range o.faults {
			t.Error(f)
		}
	})
	return o
}

func (o *observer) look(u *unstructured.Unstructured, ns string, check func(*unstructured.Unstructured) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if u.GetNamespace() == "" && field(u, "spec", "claimRef", "namespace") == ns {
		if status, _ := condition(u, "Responsive"); status == "False" {
			o.deaf = append(o.deaf, fmt.Sprintf("%s %s: Crossplane did not listen to it", u.GetKind(), u.GetName()))
		}
	}
	if u.GetNamespace() != ns || observedGeneration(u) != u.GetGeneration() {
		return
	}
	if err := check(u); err != nil {
		o.faults = append(o.faults, fmt.Sprintf("%s %s of generation %d: %v", u.GetKind(), u.GetName(), u.GetGeneration(), err))
	}
}

var (
	tenantKind   = terdutv1alpha1.TenantGroupVersionKind
	contractKind = terdutv1alpha1.SecretContractGroupVersionKind
	serverKind   = terdutv1alpha1.TerdutServerGroupVersionKind
)

// patch a claim as people do, who know its spec alone.
func patch(t *testing.T, u *unstructured.Unstructured, format string, args ...any) {
	t.Helper()
	if err := p.Client.Patch(t.Context(), u, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, format, args...))); err != nil {
		t.Fatalf("cannot patch %s %q: %v", u.GetKind(), u.GetName(), err)
	}
}
