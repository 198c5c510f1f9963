package e2e

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// outage is how long a part is stopped in the middle of a deletion.
const outage = 10 * time.Second

// A goingNamespace is deleted with a Tenant in it.
type goingNamespace struct {
	ns, db, path string
	policy       string
	ready        bool
	propagation  metav1.DeletionPropagation
	password     string
	before       facts
}

func (n *goingNamespace) String() string {
	state := map[bool]string{true: "Ready", false: "Unfinished"}[n.ready]
	return n.policy + state + string(n.propagation)
}

func (n *goingNamespace) create(t *testing.T) {
	t.Helper()
	n.ns = namespace(t)
	n.db, n.path = named(n.ns), "tenants/"+n.ns+"/orders"
	create(t, newTenant(n.ns, "orders", map[string]any{"database": n.db, "deletionPolicy": n.policy}))
}

// wait until the Tenant is as far as it is to be.
func (n *goingNamespace) wait(t *testing.T) {
	t.Helper()
	if n.ready {
		tenantReady(t, n.ns, "orders")
		n.password = string(secretData(t, n.ns, "orders-db")["password"])
		n.before = world(t, n.db, n.path)
		return
	}
	eventually(t, "creation to be under way", func(context.Context) error {
		if n.before = world(t, n.db, n.path); len(n.before) == 0 {
			return errors.New("nothing was written yet")
		}
		return nil
	})
}

func (n *goingNamespace) delete(t *testing.T) {
	t.Helper()
	deletion := &client.DeleteOptions{PropagationPolicy: &n.propagation}
	if n.propagation == metav1.DeletePropagationForeground {
		// How a namespace is deleted does not say how what is in it goes, so the Tenant is told a moment earlier. Without that the
		// composed resources may go before their Tenant.
		remove(t, newTenant(n.ns, "orders", nil), deletion)
	}
	remove(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.ns}}, deletion)
}

// check what the deletion left outside.
func (n *goingNamespace) check(t *testing.T) {
	t.Helper()
	eventually(t, "namespace "+n.ns+" to be gone", func(ctx context.Context) error {
		return gone(ctx, &corev1.Namespace{}, types.NamespacedName{Name: n.ns})
	})
	after := world(t, n.db, n.path)
	switch {
	case n.policy == "Delete":
		if left := (facts{}).changes(after); len(left) > 0 {
			t.Errorf("policy Delete left %q", left)
		}
	case n.ready:
		retained(t, n.db, n.password, n.before, after)
	default:
		unfinished(t, after)
	}
}

// A whole namespace is deleted, with everything in it at once and in whatever order, also while the provider or Crossplane is stopped.
func TestH39NamespaceDeletion(t *testing.T) {
	stops := map[string]func(t *testing.T) (resume func()){
		"Undisturbed":       nil,
		"ProviderStopped":   freezeProvider,
		"CrossplaneStopped": func(t *testing.T) func() { return freeze(t, crossplaneWords...) },
	}
	for name, stop := range stops {
		t.Run(name, func(t *testing.T) {
			var all []*goingNamespace
			for _, ready := range []bool{true, false} {
				for _, policy := range []string{"Retain", "Delete"} {
					for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
						all = append(all, &goingNamespace{policy: policy, ready: ready, propagation: how})
					}
				}
			}
			for _, n := range all[:4] {
				n.create(t)
			}
			for _, n := range all[:4] {
				n.wait(t)
			}
			// Those that are to be in the middle of their creation begin last.
			for _, n := range all[4:] {
				n.create(t)
			}
			for _, n := range all[4:] {
				n.wait(t)
			}
			for _, n := range all {
				n.delete(t)
			}
			if stop != nil {
				resume := stop(t)
				<-time.After(outage)
				resume()
			}
			for _, n := range all {
				t.Run(n.String(), n.check)
			}
		})
	}
}

// freezeProvider stops the provider's process until the function that is returned is called, or the test ends.
func freezeProvider(t *testing.T) func() {
	t.Helper()
	for _, i := range p.Runtime.Instances() {
		if i.Package != product.Provider {
			continue
		}
		if err := syscall.Kill(i.PID, syscall.SIGSTOP); err != nil {
			t.Fatalf("cannot stop the provider: %v", err)
		}
		resume := func() { _ = syscall.Kill(i.PID, syscall.SIGCONT) }
		t.Cleanup(resume)
		return resume
	}
	t.Fatal("the provider does not run")
	return nil
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
