package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestComposedDeletedByHand deletes what a Tenant composes while it lives: nothing outside goes, although the policy is Delete.
func TestComposedDeletedByHand(t *testing.T) {
	t.Parallel()
	for kind, find := range map[string]func(t *testing.T, ns string) client.Object{
		"PGDatabase": func(t *testing.T, ns string) client.Object { return database(t, ns) },
		"BaoSecret":  func(t *testing.T, ns string) client.Object { return credential(t, ns) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c, ns := superuser(t, "postgres"), namespace(t)
			watchTenants(t, ns, nil)
			create(t, newTenant(ns, "orders", map[string]any{"deletionPolicy": "Delete"}))
			u := restsFor(t, ns, "orders", longCalm)
			data := secretData(t, ns, "orders-db")
			before := outsideOf(t, c, u)

			o := find(t, ns)
			old := o.GetUID()
			remove(t, o)
			eventually(t, kind+" to come back", func(ctx context.Context) error {
				if err := p.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
					return err
				}
				if o.GetUID() == old {
					return errors.New("it is still the old one")
				}
				return nil
			})
			// A Tenant that has not noticed yet is Ready too: what counts is the new object.
			readyAgain(t, ns, kind, o)
			recorded(t, tenantReady(t, ns, "orders"))
			if diff := cmp.Diff(before, outsideOf(t, c, u)); diff != "" {
				t.Errorf("something outside has changed: -before +after:\n%s", diff)
			}
			samePassword(t, "after the deletion", data["password"], secretData(t, ns, "orders-db")["password"])
			mustLogin(t, data)
		})
	}
}

// readyAgain waits until a managed resource is Ready.
func readyAgain(t *testing.T, ns, kind string, o client.Object) {
	t.Helper()
	for _, gvk := range composedKinds {
		if gvk.Kind != kind {
			continue
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		eventually(t, kind+" to be Ready", func(ctx context.Context) error {
			if err := p.Client.Get(ctx, types.NamespacedName{Namespace: ns, Name: o.GetName()}, u); err != nil {
				return err
			}
			if condition(u, "Ready")["status"] != "True" {
				return errors.New(conditionsOf(u))
			}
			return nil
		})
	}
}

// TestDrift changes on the server what a Tenant has asked for, and waits for it to be put back.
func TestDrift(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	watchTenants(t, ns, nil)
	create(t, newTenant(ns, "orders", map[string]any{
		"deletionPolicy": "Delete", "connectionLimit": int64(9), "extensions": []any{map[string]any{"name": "pgcrypto"}},
	}))
	u := tenantReady(t, ns, "orders")
	data := secretData(t, ns, "orders-db")
	db, owner := ident(status(u, "database")), ident(status(u, "owner"))
	c, inside := superuser(t, "postgres"), superuser(t, status(u, "database"))
	before := outsideOf(t, c, u)

	exec(t, c,
		"ALTER ROLE "+owner+" CREATEDB CREATEROLE NOINHERIT NOLOGIN CONNECTION LIMIT 3 VALID UNTIL '2001-01-01' PASSWORD 'somebody else''s'",
		"ALTER DATABASE "+db+" CONNECTION LIMIT 4",
		"ALTER DATABASE "+db+" OWNER TO terdut_admin",
		"GRANT CONNECT, TEMPORARY ON DATABASE "+db+" TO PUBLIC",
	)
	exec(t, inside, "DROP EXTENSION pgcrypto")
	eventually(t, "drift to be put back", func(ctx context.Context) error {
		if err := asSpecified(u); err != nil {
			return err
		}
		l, err := login(ctx, data)
		if err != nil {
			return fmt.Errorf("the password does not log in: SQLSTATE %q", sqlState(err))
		}
		return l.Close(ctx)
	})

	tenantReady(t, ns, "orders")
	hardened(t, u)
	digest(t, mustLogin(t, data))
	after := outsideOf(t, c, u)
	after.DatabaseRow, after.RoleRow = before.DatabaseRow, before.RoleRow
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("more than the drift was changed: -before +after:\n%s", diff)
	}
}
