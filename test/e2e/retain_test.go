package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// TestH22RetainedTenant deletes a Tenant that keeps its data, and lets another of the same name have it once an admin agrees.
func TestH22RetainedTenant(t *testing.T) {
	ns := namespace(t)
	watchTenants(t, ns, nil)
	c := superuser(t, "postgres")
	create(t, newTenant(ns, "orders", nil))
	old := tenantReady(t, ns, "orders")
	data := secretData(t, ns, "orders-db")
	exec(t, mustLogin(t, data), "CREATE TABLE kept AS SELECT 42 AS n")
	before := outsideOf(t, c, old)

	remove(t, old)
	allGone(t, ns, "orders")
	if diff := cmp.Diff(before, outsideOf(t, c, old)); diff != "" {
		t.Errorf("deleting the Tenant changed what is retained: -before +after:\n%s", diff)
	}
	rows := registryRows(t, old)
	if len(rows) != 2 {
		t.Errorf("registry: %+v, want a database and a role", rows)
	}
	for _, r := range rows {
		if r.State != "retained" || r.OwnerUID != string(old.GetUID()) {
			t.Errorf("registry: %s %s is %s of %s", r.Kind, r.Name, r.State, r.Owner)
		}
	}
	custom, _ := kvMetadata(t, kvPath(old))["custom_metadata"].(map[string]any)
	if custom["terdut-retained"] != "true" {
		t.Errorf("the record is not marked as retained: %v", custom)
	}
	kept := mustLogin(t, data)
	if n := count(t, kept, "SELECT n FROM kept"); n != 42 {
		t.Errorf("the table holds %d", n)
	}

	// Another Tenant of the same name is another.
	create(t, newTenant(ns, "orders", nil))
	u := tenantIs(t, ns, "orders", func(u *unstructured.Unstructured) error {
		if phase(u) != string(terdutv1alpha1.PhaseConflict) {
			return errors.New("it is not a Conflict")
		}
		// Crossplane writes conditions after the rest of the status.
		if m := fmt.Sprint(condition(u, "DatabaseReady")["message"]); !strings.Contains(m, string(old.GetUID())) {
			return errors.New("it does not say which owner is recorded")
		}
		return nil
	})
	if diff := cmp.Diff(before, outsideOf(t, c, u)); diff != "" {
		t.Errorf("the conflict changed what is retained: -before +after:\n%s", diff)
	}
	if diff := cmp.Diff(rows, registryRows(t, u)); diff != "" {
		t.Errorf("the conflict changed the registry: -before +after:\n%s", diff)
	}
	after, _ := kvMetadata(t, kvPath(old))["custom_metadata"].(map[string]any)
	if diff := cmp.Diff(custom, after); diff != "" {
		t.Errorf("the conflict changed the record's metadata: -before +after:\n%s", diff)
	}

	adopt(t, u, old.GetUID())
	u = tenantReady(t, ns, "orders")
	recorded(t, u)
	now := outsideOf(t, c, u)
	if now.DatabaseOID != before.DatabaseOID || now.RoleOID != before.RoleOID || now.RoleRow != before.RoleRow {
		t.Errorf("the adopted database or role is not the one that was retained: %+v, was %+v", now, before)
	}
	samePassword(t, "after adoption", data["password"], secretData(t, ns, "orders-db")["password"])
	if n := count(t, mustLogin(t, secretData(t, ns, "orders-db")), "SELECT n FROM kept"); n != 42 {
		t.Errorf("the table holds %d", n)
	}
	custom, _ = kvMetadata(t, kvPath(old))["custom_metadata"].(map[string]any)
	if _, ok := custom["terdut-retained"]; ok {
		t.Errorf("the adopted record is still marked as retained: %v", custom)
	}
}

// TestDeletePolicyDelete deletes a Tenant with everything that it had, although somebody works in the database.
func TestDeletePolicyDelete(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	watchTenants(t, ns, nil)
	c := superuser(t, "postgres")
	create(t, newTenant(ns, "orders", map[string]any{"deletionPolicy": "Delete", "extensions": []any{map[string]any{"name": "pgcrypto"}}}))
	u := tenantReady(t, ns, "orders")
	session := mustLogin(t, secretData(t, ns, "orders-db"))
	exec(t, session, "CREATE TABLE lost AS SELECT 42 AS n", "BEGIN", "LOCK TABLE lost")
	if o := outsideOf(t, c, u); o.DatabaseOID == 0 || o.RoleOID == 0 || o.KVVersion != 1 {
		t.Fatalf("before the deletion: %+v", o)
	}

	remove(t, u)
	allGone(t, ns, "orders")
	if diff := cmp.Diff(outside{}, outsideOf(t, c, u)); diff != "" {
		t.Errorf("something is left: -want +got:\n%s", diff)
	}
	if kvMetadata(t, kvPath(u)) != nil {
		t.Error("the record's metadata is left")
	}
	if rows := registryRows(t, u); len(rows) != 0 {
		t.Errorf("the registry still has %+v", rows)
	}
	if err := session.Ping(context.Background()); err == nil {
		t.Error("the session goes on")
	}
}
