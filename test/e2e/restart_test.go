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

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// TestH38RestartDuringCreation kills the provider at several moments of a creation, and Crossplane at one: the Tenant becomes Ready with the
// password that was generated first.
func TestH38RestartDuringCreation(t *testing.T) {
	ns := namespace(t)
	h := watchTenants(t, ns, nil)
	u := newTenant(ns, "orders", map[string]any{"owner": ns, "deletionPolicy": "Delete", "extensions": []any{map[string]any{"name": "pgcrypto"}}})
	create(t, u)

	eventually(t, "BaoSecret to exist", func(ctx context.Context) error {
		l := &openbaov1alpha1.BaoSecretList{}
		if err := p.Client.List(ctx, l, client.InNamespace(ns)); err != nil {
			return err
		}
		if len(l.Items) == 0 {
			return errors.New("there is none")
		}
		return nil
	})
	kill(t)
	if err := p.Plane.RestartCrossplane(t.Context()); err != nil {
		t.Fatal(err)
	}

	password := ""
	eventually(t, "password to exist", func(ctx context.Context) (err error) {
		password, err = kvPassword(ctx, kvPath(u))
		return err
	})
	kill(t)

	c := superuser(t, "postgres")
	eventually(t, "role to exist", func(ctx context.Context) error {
		n := 0
		if err := c.QueryRow(ctx, "SELECT count(*) FROM pg_roles WHERE rolname = $1", ns).Scan(&n); err != nil {
			return err
		}
		if n == 0 {
			return errors.New("there is none")
		}
		return nil
	})
	kill(t)

	u = tenantReady(t, ns, "orders")
	samePassword(t, "after restarts", []byte(password), secretData(t, ns, "orders-db")["password"])
	mustLogin(t, secretData(t, ns, "orders-db"))
	recorded(t, u)
	hardened(t, u)

	// At rest a restart changes nothing. That another Tenant becomes Ready shows that the new process has looked at everything.
	before := outsideOf(t, c, u)
	if err := p.Runtime.Restart(t.Context(), product.Provider); err != nil {
		t.Fatal(err)
	}
	create(t, newTenant(ns, "second", map[string]any{"deletionPolicy": "Delete"}))
	tenantReady(t, ns, "second")
	if diff := cmp.Diff(before, outsideOf(t, c, u)); diff != "" {
		t.Errorf("a restart at rest changed something: -before +after:\n%s", diff)
	}
	if got := stillReady(t, ns, "orders"); got != nil {
		t.Error(got)
	}
	h.end()
	phasesInOrder(t, h.phases["orders"])
	phasesInOrder(t, h.phases["second"])
}

// The provider is killed again and again while Tenants are created, one after the other: each comes out once.
func TestH38KilledAgainAndAgain(t *testing.T) {
	ns := namespace(t)
	const tenants, kills = 10, 50
	begun, written, done := 0, [tenants]int{}, [tenants]bool{}
	for k := range kills {
		if k%(kills/tenants) == 0 {
			create(t, newTenant(ns, fmt.Sprintf("orders-%d", begun), map[string]any{"deletionPolicy": "Delete", "extensions": []any{map[string]any{"name": "pgcrypto"}}}))
			begun++
		}
		// After the next external write, whichever it is, unless there are no more to come.
		eventually(t, "progress", func(ctx context.Context) error {
			progress, open := false, false
			for i := range begun {
				if done[i] {
					continue
				}
				u := newTenant(ns, fmt.Sprintf("orders-%d", i), nil)
				if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
					return err
				}
				n := len(world(t, status(u, "database"), kvPath(u)))
				progress = progress || n > written[i]
				written[i], done[i] = n, condition(u, "Ready")["status"] == "True"
				open = open || !done[i]
			}
			if open && !progress {
				return errors.New("nothing was written")
			}
			return nil
		})
		kill(t)
	}
	for i := range tenants {
		u := tenantReady(t, ns, fmt.Sprintf("orders-%d", i))
		recorded(t, u)
		mustLogin(t, secretData(t, ns, u.GetName()+"-db"))
	}
}

// kill the provider as a crash would. A process that is between two lives counts as killed.
func kill(t *testing.T) {
	t.Helper()
	eventually(t, "provider to be killed", func(context.Context) error { return p.Runtime.Kill(product.Provider) })
}

// stillReady is nil when a Tenant is Ready right now.
func stillReady(t *testing.T, ns, name string) error {
	t.Helper()
	u := &unstructured.Unstructured{Object: newTenant(ns, name, nil).Object}
	if err := p.Client.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: name}, u); err != nil {
		return err
	}
	if condition(u, "Ready")["status"] != "True" {
		return fmt.Errorf("Tenant %s is not Ready any more: %s", name, conditionsOf(u))
	}
	return nil
}
