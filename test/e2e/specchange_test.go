package e2e

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// claims records the generations of which a Tenant's status has said that they are Ready, and whether that was so.
type claims struct {
	mu   sync.Mutex
	of   map[int64]bool
	lies []string
}

// look at a Tenant as somebody does who waits for a change to be done.
func (c *claims) look(u *unstructured.Unstructured) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := observedGeneration(u)
	if g != u.GetGeneration() || condition(u, "Ready")["status"] != "True" || c.of[g] {
		return
	}
	c.of[g] = true
	if err := asSpecified(u); err != nil {
		c.lies = append(c.lies, err.Error())
	}
}

// check that a generation was, or never was, claimed to be Ready, and that no claim was wrong.
func (c *claims) check(t *testing.T, generation int64, want bool) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[generation] != want {
		t.Errorf("generation %d was Ready: %t, want %t", generation, c.of[generation], want)
	}
	for _, l := range c.lies {
		t.Errorf("Ready too early: %s", l)
	}
}

func observedGeneration(u *unstructured.Unstructured) int64 {
	g, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	return g
}

// restingTenant returns a Tenant that is at rest, and what its status claims from its creation on.
func restingTenant(t *testing.T) (*unstructured.Unstructured, *claims) {
	t.Helper()
	ns := namespace(t)
	c := &claims{of: map[int64]bool{}}
	watchTenants(t, ns, c.look)
	create(t, newTenant(ns, "orders", map[string]any{"deletionPolicy": "Delete"}))
	return atRest(t, ns, "orders"), c
}

// extend a Tenant by an extension and another connection limit, and return the new generation.
func extend(t *testing.T, u *unstructured.Unstructured, extension string) int64 {
	t.Helper()
	change(t, types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}, u, func() {
		_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{"name": extension}}, "spec", "extensions")
		_ = unstructured.SetNestedField(u.Object, int64(7), "spec", "connectionLimit")
	})
	return u.GetGeneration()
}

// TestSpecChange changes a Ready Tenant: what its status says of the new generation holds outside at that moment.
func TestSpecChange(t *testing.T) {
	t.Parallel()
	u, c := restingTenant(t)
	ns, generation := u.GetNamespace(), extend(t, u, "hstore")
	u = tenantIs(t, ns, "orders", func(u *unstructured.Unstructured) error {
		if observedGeneration(u) != generation || condition(u, "Ready")["status"] != "True" {
			return fmt.Errorf("generation %d is not Ready", generation)
		}
		return nil
	})
	if err := asSpecified(u); err != nil {
		t.Error(err)
	}
	exec(t, mustLogin(t, secretData(t, ns, "orders-db")), "SELECT 'a=>1'::hstore")
	c.check(t, generation, true)
}

// TestSpecChangeThatFails asks a Ready Tenant for an extension that cannot be had: the new generation never is Ready, and what there is
// goes on.
func TestSpecChangeThatFails(t *testing.T) {
	t.Parallel()
	u, c := restingTenant(t)
	ns, generation := u.GetNamespace(), extend(t, u, "no_such_extension")
	tenantIs(t, ns, "orders", func(u *unstructured.Unstructured) error {
		if observedGeneration(u) != generation || condition(u, "Ready")["status"] != "False" || phase(u) != string(terdutv1alpha1.PhaseFailed) {
			return errors.New("it is not Failed")
		}
		if condition(u, "DatabaseReady")["reason"] != "ExtensionUnavailable" {
			return errors.New("it does not say why")
		}
		return nil
	})
	exec(t, mustLogin(t, secretData(t, ns, "orders-db")), "SELECT 1")
	c.check(t, generation, false)
}
