package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// patience is how long anything may take on a machine that does other things too.
const patience = 4 * time.Minute

var externalSecretKind = schema.GroupVersionKind{Group: "external-secrets.io", Version: "v1", Kind: "ExternalSecret"}

// namespace makes a namespace of the test's own. It is deleted, and waited for, when the test ends.
func namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
	if err := p.Client.Create(t.Context(), ns); err != nil {
		t.Fatalf("cannot create namespace: %v", err)
	}
	t.Cleanup(func() { deleteNamespace(t, ns.Name) })
	return ns.Name
}

// deleteNamespace deletes a namespace and waits until it is gone.
func deleteNamespace(t *testing.T, name string) {
	t.Helper()
	ctx := context.Background() // The test's own context has ended when cleanup runs.
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := client.IgnoreNotFound(p.Client.Delete(ctx, ns)); err != nil {
		t.Errorf("cannot delete namespace %q: %v", name, err)
		return
	}
	eventually(t, "namespace "+name+" to be gone", func(ctx context.Context) error {
		return gone(ctx, &corev1.Namespace{}, types.NamespacedName{Name: name})
	})
}

// eventually waits for a check to succeed. It does not end the test's goroutine, so that it can be used in cleanups.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.WaitFor(ctx, what, check); err != nil {
		t.Errorf("%v", err)
		if t.Context().Err() == nil {
			t.FailNow()
		}
	}
}

// gone is nil when an object does not exist.
func gone(ctx context.Context, o client.Object, n types.NamespacedName) error {
	err := p.Client.Get(ctx, n, o)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return err
	case err == nil:
		return fmt.Errorf("%T %s still exists: %s", o, n, conditionsOf(o))
	}
	return nil
}

// newTenant returns a Tenant. The modifications change its spec.
func newTenant(ns, name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(terdutv1alpha1.TenantGroupVersionKind)
	u.SetNamespace(ns)
	u.SetName(name)
	if spec == nil {
		spec = map[string]any{}
	}
	u.Object["spec"] = spec
	return u
}

// create an object.
func create(t *testing.T, o client.Object) {
	t.Helper()
	if err := p.Client.Create(t.Context(), o); err != nil {
		t.Fatalf("cannot create %s %q: %v", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), err)
	}
}

// remove deletes an object without waiting for it to go.
func remove(t *testing.T, o client.Object, opts ...client.DeleteOption) {
	t.Helper()
	if err := p.Client.Delete(t.Context(), o, opts...); client.IgnoreNotFound(err) != nil {
		t.Fatalf("cannot delete %q: %v", o.GetName(), err)
	}
}

// tenantReady waits until a Tenant is Ready, and returns it.
func tenantReady(t *testing.T, ns, name string) *unstructured.Unstructured {
	t.Helper()
	return tenantIs(t, ns, name, func(u *unstructured.Unstructured) error {
		if phase(u) != string(terdutv1alpha1.PhaseReady) || condition(u, "Ready")["status"] != "True" {
			return errors.New("it is not Ready")
		}
		return nil
	})
}

// tenantIs waits until a Tenant satisfies a check, and returns it.
func tenantIs(t *testing.T, ns, name string, check func(*unstructured.Unstructured) error) *unstructured.Unstructured {
	t.Helper()
	u := newTenant(ns, name, nil)
	eventually(t, "Tenant "+name, func(ctx context.Context) error {
		if err := p.Client.Get(ctx, types.NamespacedName{Namespace: ns, Name: name}, u); err != nil {
			return err
		}
		if err := check(u); err != nil {
			return fmt.Errorf("%w: phase %s, %s", err, phase(u), conditionsOf(u))
		}
		return nil
	})
	return u
}

func phase(u *unstructured.Unstructured) string {
	s, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	return s
}

func status(u *unstructured.Unstructured, field ...string) string {
	s, _, _ := unstructured.NestedString(u.Object, append([]string{"status"}, field...)...)
	return s
}

// condition of an unstructured object, empty when it has none of the type.
func condition(u *unstructured.Unstructured, kind string) map[string]any {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == kind {
			return m
		}
	}
	return map[string]any{}
}

// conditionsOf writes the conditions of any object in one line.
func conditionsOf(o client.Object) string {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return ""
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	out := ""
	for _, c := range list {
		if m, ok := c.(map[string]any); ok {
			out += fmt.Sprintf("[%v=%v %v %v] ", m["type"], m["status"], m["reason"], m["message"])
		}
	}
	return out
}

// database returns the only PGDatabase of a namespace.
func database(t *testing.T, ns string) *postgresqlv1alpha1.PGDatabase {
	t.Helper()
	l := &postgresqlv1alpha1.PGDatabaseList{}
	if err := p.Client.List(t.Context(), l, client.InNamespace(ns)); err != nil || len(l.Items) != 1 {
		t.Fatalf("cannot find the PGDatabase of namespace %q: %d there, %v", ns, len(l.Items), err)
	}
	return &l.Items[0]
}

// credential returns the only BaoSecret of a namespace.
func credential(t *testing.T, ns string) *openbaov1alpha1.BaoSecret {
	t.Helper()
	l := &openbaov1alpha1.BaoSecretList{}
	if err := p.Client.List(t.Context(), l, client.InNamespace(ns)); err != nil || len(l.Items) != 1 {
		t.Fatalf("cannot find the BaoSecret of namespace %q: %d there, %v", ns, len(l.Items), err)
	}
	return &l.Items[0]
}

// secretData returns the data of a Secret. Its values must not be printed.
func secretData(t *testing.T, ns, name string) map[string][]byte {
	t.Helper()
	s := &corev1.Secret{}
	if err := p.Client.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: name}, s); err != nil {
		t.Fatalf("cannot get Secret %q: %v", name, err)
	}
	return s.Data
}

// superuser connects to PostgreSQL as its superuser.
func superuser(t *testing.T, database string) *pgx.Conn {
	t.Helper()
	c, err := p.Plane.Postgres.Connect(t.Context(), database)
	if err != nil {
		t.Fatalf("cannot connect to PostgreSQL as superuser: %v", err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// count runs a query that returns one number.
func count(t *testing.T, c *pgx.Conn, sql string, args ...any) int {
	t.Helper()
	n := 0
	if err := c.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("cannot count: %v", err)
	}
	return n
}
