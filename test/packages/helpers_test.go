package packages

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

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

// applyTenant applies a Tenant whose database and owner are called like its namespace and name.
func applyTenant(t *testing.T, ns, name, policy string, extensions ...string) {
	t.Helper()
	apply(t, "apiVersion: terdut.ryuvia.com/v1alpha1\nkind: Tenant\nmetadata: {namespace: %s, name: %s}\nspec: {deletionPolicy: %s, extensions: [%s]}",
		ns, name, policy, strings.Join(extensions, ", "))
}

// object of a kind.
func object(gvk schema.GroupVersionKind, ns, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace(ns)
	u.SetName(name)
	return u
}

func tenant(ns, name string) *unstructured.Unstructured {
	return object(terdutv1alpha1.TenantGroupVersionKind, ns, name)
}

// get an object as it is now.
func get(t *testing.T, o client.Object) {
	t.Helper()
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatalf("cannot get %T %s: %v", o, o.GetName(), err)
	}
}

// condition of an object, empty when it has none of the type.
func condition(u *unstructured.Unstructured, kind string) map[string]any {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == kind {
			return m
		}
	}
	return map[string]any{}
}

// ready is nil when an object is Ready, and so of its current generation.
func ready(ctx context.Context, u *unstructured.Unstructured) error {
	if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
		return err
	}
	if c := condition(u, "Ready"); c["status"] != "True" {
		all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		return fmt.Errorf("%s %s is not Ready: %v", u.GetKind(), u.GetName(), all)
	}
	if g, found, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration"); !found || g != u.GetGeneration() {
		return fmt.Errorf("%s %s is Ready in generation %d, not in %d", u.GetKind(), u.GetName(), g, u.GetGeneration())
	}
	return nil
}

// isReady waits until objects are Ready.
func isReady(t *testing.T, objects ...*unstructured.Unstructured) {
	t.Helper()
	for _, u := range objects {
		eventually(t, u.GetKind()+" "+u.GetName()+" to be Ready", func(ctx context.Context) error { return ready(ctx, u) })
	}
}

// secretData of a Secret. It must not be printed.
func secretData(t *testing.T, ns, name string) map[string][]byte {
	t.Helper()
	s := &corev1.Secret{}
	if err := p.Client.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: name}, s); err != nil {
		t.Fatalf("cannot get Secret %q: %v", name, err)
	}
	return s.Data
}

// login as an application does with the keys of a Secret. The error is the server's code alone.
func login(t *testing.T, data map[string][]byte) *pgx.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig("sslmode=disable")
	if err != nil {
		t.Fatal("cannot make a connection string")
	}
	port, err := strconv.ParseUint(string(data["port"]), 10, 16)
	if err != nil {
		t.Fatal("key port is no port")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data["ca.crt"]) {
		t.Fatal("key ca.crt is no certificate")
	}
	cfg.Host, cfg.Port, cfg.Database = string(data["host"]), uint16(port), string(data["dbname"])
	cfg.User, cfg.Password = string(data["username"]), string(data["password"])
	cfg.TLSConfig, cfg.Fallbacks = &tls.Config{RootCAs: roots, ServerName: cfg.Host, MinVersion: tls.VersionTLS12}, nil
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal("the values of the Secret do not log in")
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// store a row in the database of a Secret, as its application.
func store(t *testing.T, data map[string][]byte) {
	t.Helper()
	c := login(t, data)
	defer c.Close(context.Background()) // An open session would be in the way of whoever drops the database.
	for _, sql := range []string{"CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (42)"} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatalf("cannot execute %q: %v", sql, err)
		}
	}
}

// stored fails unless the row is there, and can be written, for whoever logs in with the Secret.
func stored(t *testing.T, data map[string][]byte) {
	t.Helper()
	c := login(t, data)
	defer c.Close(context.Background()) // As above.
	n := 0
	if err := c.QueryRow(t.Context(), "UPDATE kept SET n = n RETURNING n").Scan(&n); err != nil || n != 42 {
		t.Errorf("what the application stored is not there: %d, %v", n, err)
	}
}

// superuser connects to the server as its administrator.
func superuser(t *testing.T) *pgx.Conn {
	t.Helper()
	c, err := p.Plane.Postgres.Connect(t.Context(), "postgres")
	if err != nil {
		t.Fatalf("cannot connect to PostgreSQL as superuser: %v", err)
	}
	return c
}

// namespace makes one that stays: what the packages leave behind is looked at by others.
func namespace(t *testing.T, name string) {
	t.Helper()
	err := p.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil && !kerrors.IsAlreadyExists(err) {
		t.Fatalf("cannot create namespace %q: %v", name, err)
	}
}

// errNot is what is not yet.
var errNot = errors.New("it is not")
