package e2e

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A whole namespace is deleted, with everything in it at once and in whatever order.
func TestNamespaceDeletion(t *testing.T) {
	cases := map[string]struct {
		policy      string
		ready       bool
		propagation metav1.DeletionPropagation
	}{
		"RetainReadyBackground":      {policy: "Retain", ready: true, propagation: metav1.DeletePropagationBackground},
		"RetainReadyForeground":      {policy: "Retain", ready: true, propagation: metav1.DeletePropagationForeground},
		"RetainUnfinishedBackground": {policy: "Retain", propagation: metav1.DeletePropagationBackground},
		"RetainUnfinishedForeground": {policy: "Retain", propagation: metav1.DeletePropagationForeground},
		"DeleteReadyBackground":      {policy: "Delete", ready: true, propagation: metav1.DeletePropagationBackground},
		"DeleteReadyForeground":      {policy: "Delete", ready: true, propagation: metav1.DeletePropagationForeground},
		"DeleteUnfinishedBackground": {policy: "Delete", propagation: metav1.DeletePropagationBackground},
		"DeleteUnfinishedForeground": {policy: "Delete", propagation: metav1.DeletePropagationForeground},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			db, path := named(ns), "tenants/"+ns+"/orders"
			u := newTenant(ns, "orders", map[string]any{"database": db, "deletionPolicy": tc.policy})
			create(t, u)

			var before facts
			password := ""
			if tc.ready {
				tenantReady(t, ns, "orders")
				password = string(secretData(t, ns, "orders-db")["password"])
				before = world(t, db, path)
			} else {
				eventually(t, "creation to be under way", func(context.Context) error {
					if before = world(t, db, path); len(before) == 0 {
						return errors.New("nothing was written yet")
					}
					return nil
				})
			}

			deletion := &client.DeleteOptions{PropagationPolicy: &tc.propagation}
			if tc.propagation == metav1.DeletePropagationForeground {
				// How a namespace is deleted does not say how what is in it goes, so the Tenant is told a moment earlier. Without that the
				// composed resources may go before their Tenant.
				remove(t, u, deletion)
			}
			n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
			remove(t, n, deletion)
			eventually(t, "namespace "+ns+" to be gone", func(ctx context.Context) error {
				return gone(ctx, &corev1.Namespace{}, types.NamespacedName{Name: ns})
			})

			after := world(t, db, path)
			switch {
			case tc.policy == "Delete":
				if left := (facts{}).changes(after); len(left) > 0 {
					t.Errorf("policy Delete left %q", left)
				}
			case tc.ready:
				retained(t, db, password, before, after)
			default:
				unfinished(t, after)
			}
		})
	}
}

// retained checks that a database was left behind as it was.
func retained(t *testing.T, db, password string, before, after facts) {
	t.Helper()
	for _, place := range []string{
		"database/oid", "database/datdba", "database/datacl", "role/oid", "role/rolcanlogin", "role/rolpassword", "record/data/data",
		"record/metadata/versions", "registry/database.oid", "registry/role.owner_uid", "registry/database.owner_uid",
	} {
		if before[place] == "" || before[place] != after[place] {
			t.Errorf("policy Retain changed %s", place)
		}
	}
	for _, place := range []string{"registry/database.state", "registry/role.state"} {
		if after[place] != `"retained"` {
			t.Errorf("%s is %s, not retained", place, after[place])
		}
	}
	if after["record/metadata/current_version"] != "1" {
		t.Errorf("the record has version %s, not 1", after["record/metadata/current_version"])
	}
	if !logsIn(t, db, db, password) {
		t.Error("the retained password does not log in")
	}
}

// unfinished checks that what was left behind in the middle of creation is accounted for: nothing exists that no record speaks of, and
// there is one password at most.
func unfinished(t *testing.T, after facts) {
	t.Helper()
	for _, kind := range []string{"role", "database"} {
		if after.has(kind+"/") && !after.has("registry/"+kind+".") {
			t.Errorf("a %s was left behind without a record of whose it is", kind)
		}
	}
	if v := after["record/metadata/current_version"]; v != "" && v != "0" && v != "1" {
		t.Errorf("the record has version %s", v)
	}
}
