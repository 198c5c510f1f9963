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
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rotateTenant gives a Tenant another trigger, and returns the new generation.
func rotateTenant(t *testing.T, u *unstructured.Unstructured, trigger string) int64 {
	t.Helper()
	change(t, types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}, u, func() {
		_ = unstructured.SetNestedField(u.Object, trigger, "spec", "rotation", "trigger")
	})
	return u.GetGeneration()
}

// provenWith is nil when the Secret has the password that OpenBao has, which logs in.
func provenWith(ctx context.Context, u *unstructured.Unstructured) error {
	password, err := kvPassword(ctx, kvPath(u))
	if err != nil {
		return err
	}
	s := &corev1.Secret{}
	if err := p.Client.Get(ctx, types.NamespacedName{Namespace: u.GetNamespace(), Name: "orders-db"}, s); err != nil {
		return err
	}
	if string(s.Data["password"]) != password {
		return errors.New("the Secret does not have the password that OpenBao has")
	}
	c, err := login(ctx, s.Data)
	if err != nil {
		return fmt.Errorf("the password does not log in: SQLSTATE %q", sqlState(err))
	}
	return c.Close(ctx)
}

// A readiness watches that a Tenant whose credential rotates is Ready only when the new password was delivered and logs in.
type readiness struct {
	mu   sync.Mutex
	from int64
	lies []string
}

func (r *readiness) see(u *unstructured.Unstructured) {
	r.mu.Lock()
	from := r.from
	r.mu.Unlock()
	if from == 0 || observedGeneration(u) < from || condition(u, "Ready")["status"] != "True" {
		return
	}
	err := provenWith(context.Background(), u)
	r.mu.Lock()
	defer r.mu.Unlock()
	// What is looked at must still be asked for.
	if err != nil && r.from == from {
		r.lies = append(r.lies, err.Error())
	}
}

func (r *readiness) expect(generation int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from = generation
}

// resting is a Tenant at rest whose readiness is watched until the test ends.
func resting(t *testing.T) (*unstructured.Unstructured, *readiness) {
	t.Helper()
	ns, r := begun(t)
	return restsFor(t, ns, "orders", longCalm), r
}

// begun is the namespace of a Tenant that is being created, whose readiness is watched until the test ends.
func begun(t *testing.T) (string, *readiness) {
	t.Helper()
	ns, r := namespace(t), &readiness{}
	h := watchTenants(t, ns, r.see)
	t.Cleanup(func() {
		h.end()
		for _, l := range r.lies {
			t.Errorf("a Tenant was Ready too early: %s", l)
		}
	})
	create(t, newTenant(ns, "orders", map[string]any{"deletionPolicy": "Delete", "owner": ns, "rotation": map[string]any{"trigger": "first"}}))
	return ns, r
}

// rotated waits until a generation of a Tenant is Ready and at rest.
func rotated(t *testing.T, u *unstructured.Unstructured, generation int64) *unstructured.Unstructured {
	t.Helper()
	tenantIs(t, u.GetNamespace(), u.GetName(), func(u *unstructured.Unstructured) error {
		if observedGeneration(u) != generation || condition(u, "Ready")["status"] != "True" {
			return fmt.Errorf("generation %d is not Ready", generation)
		}
		return nil
	})
	return atRest(t, u.GetNamespace(), u.GetName())
}

// delivered returns which version of the record External Secrets was told to deliver.
func delivered(t *testing.T, ns string) string {
	t.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(externalSecretKind)
	if err := p.Client.List(t.Context(), l, client.InNamespace(ns)); err != nil || len(l.Items) != 1 {
		t.Fatalf("want one ExternalSecret, got %d (%v)", len(l.Items), err)
	}
	from, _, _ := unstructured.NestedSlice(l.Items[0].Object, "spec", "dataFrom")
	if len(from) != 1 {
		t.Fatalf("the ExternalSecret reads %d records", len(from))
	}
	version, _, _ := unstructured.NestedString(from[0].(map[string]any), "extract", "version")
	return version
}

// TestRotation gives a Tenant a new password, once for each trigger.
func TestRotation(t *testing.T) {
	t.Parallel()
	u, ready := resting(t)
	ns, c := u.GetNamespace(), superuser(t, "postgres")
	before, old := outsideOf(t, c, u), secretData(t, u.GetNamespace(), "orders-db")
	s := sample(t, u)

	ready.expect(rotateTenant(t, u, "second"))
	u = rotated(t, u, u.GetGeneration())
	now := outsideOf(t, c, u)
	if now.KVVersion != 2 || now.KVVersions != 2 || before.KVVersion != 1 {
		t.Errorf("a trigger takes the record from version %d to %d", before.KVVersion, now.KVVersion)
	}
	if now.RoleOID != before.RoleOID || now.DatabaseOID != before.DatabaseOID || now.DatabaseRow != before.DatabaseRow || now.RoleRow == before.RoleRow {
		t.Errorf("want the role to change, and nothing else: %v, then %v", before, now)
	}
	if v := delivered(t, ns); v != "2" {
		t.Errorf("External Secrets delivers version %q of the record", v)
	}
	if err := provenWith(t.Context(), u); err != nil {
		t.Error(err)
	}
	if conn, err := login(t.Context(), old); sqlState(err) != "28P01" {
		if err == nil {
			_ = conn.Close(t.Context())
		}
		t.Errorf("the old password: SQLSTATE %q, want it to be refused", sqlState(err))
	}

	// The same trigger again is nothing new.
	rotateTenant(t, u, "second")
	passes(t, credentials, 3)
	passes(t, databases, 3)
	if got := outsideOf(t, c, u); got != now {
		t.Errorf("the same trigger changed something: %v, then %v", now, got)
	}

	s.end()
	t.Logf("%d samples, in %d of which the predecessor logged in", s.samples, s.predecessor)
}

// TestRotationWithOtherChanges asks for a new password together with other things: it is still one new version.
func TestRotationWithOtherChanges(t *testing.T) {
	t.Parallel()
	u, ready := resting(t)
	ns, c := u.GetNamespace(), superuser(t, "postgres")
	before := outsideOf(t, c, u)
	change(t, types.NamespacedName{Namespace: ns, Name: "orders"}, u, func() {
		_ = unstructured.SetNestedField(u.Object, "second", "spec", "rotation", "trigger")
		_ = unstructured.SetNestedField(u.Object, int64(9), "spec", "connectionLimit")
		_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{"name": "hstore"}}, "spec", "extensions")
	})
	ready.expect(u.GetGeneration())
	u = rotated(t, u, u.GetGeneration())
	if got := outsideOf(t, c, u); got.KVVersion != 2 || got.KVVersions != 2 || got.RoleOID != before.RoleOID || got.DatabaseOID != before.DatabaseOID {
		t.Errorf("a trigger with other changes: %v, then %v", before, got)
	}
	if err := asSpecified(u); err != nil {
		t.Error(err)
	}
}

// TestRotationKilled kills the provider at each step of a rotation: when it was asked for, when the new version is there, when the role has
// it, and when the Secret has it. Each ends with one version more, and a login that is proven. Each step has a Tenant of its own.
func TestRotationKilled(t *testing.T) {
	c := superuser(t, "postgres")
	steps := []struct {
		name string
		seen func(ctx context.Context, u *unstructured.Unstructured, before outside, old map[string][]byte) bool
	}{
		{"asked-for", func(context.Context, *unstructured.Unstructured, outside, map[string][]byte) bool { return true }},
		{"version", func(ctx context.Context, u *unstructured.Unstructured, before outside, _ map[string][]byte) bool {
			v, err := versionOf(ctx, kvPath(u))
			return err == nil && v > before.KVVersion
		}},
		{"role", func(ctx context.Context, u *unstructured.Unstructured, before outside, _ map[string][]byte) bool {
			row := ""
			err := c.QueryRow(ctx, "SELECT xmin::text FROM pg_authid WHERE rolname = $1", u.GetNamespace()).Scan(&row)
			return err == nil && row != before.RoleRow
		}},
		{"Secret", func(ctx context.Context, u *unstructured.Unstructured, _ outside, old map[string][]byte) bool {
			s := &corev1.Secret{}
			err := p.Client.Get(ctx, types.NamespacedName{Namespace: u.GetNamespace(), Name: "orders-db"}, s)
			return err == nil && string(s.Data["password"]) != string(old["password"])
		}},
	}
	namespaces, ready := make([]string, len(steps)), make([]*readiness, len(steps))
	for i := range steps {
		namespaces[i], ready[i] = begun(t)
	}
	tenants := allRestFor(t, namespaces, "orders", longCalm)
	for i, step := range steps {
		u := tenants[i]
		s := sample(t, u)
		before, old := outsideOf(t, c, u), secretData(t, u.GetNamespace(), "orders-db")
		ready[i].expect(rotateTenant(t, u, "at-"+step.name))
		eventually(t, step.name+" to be new", func(ctx context.Context) error {
			if !step.seen(ctx, u, before, old) {
				return errors.New("it is not")
			}
			return nil
		})
		kill(t)
		u = rotated(t, u, u.GetGeneration())
		now := outsideOf(t, c, u)
		if now.KVVersion != before.KVVersion+1 || now.RoleOID != before.RoleOID || now.DatabaseOID != before.DatabaseOID || now.DatabaseRow != before.DatabaseRow {
			t.Errorf("killed when %s was new: %v, then %v", step.name, before, now)
		}
		if err := provenWith(t.Context(), u); err != nil {
			t.Errorf("killed when %s was new: %v", step.name, err)
		}
		s.end()
	}
}
