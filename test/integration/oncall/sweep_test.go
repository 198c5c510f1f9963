package oncall

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	oncallsetup "github.com/ryuvia/provider-terdut/internal/controller/oncall"
)

// TestSweep holds that what an object left behind which was let go without contact is swept up, that a Bootstrap's credential is kept for the next
// one, and that nothing of a living object is touched.
func TestSweep(t *testing.T) {
	w, b := withServer(t)
	stays, goes := newTeam("stays"), newTeam("goes")
	w.create(stays, goes)
	w.ready(stays, goes)
	keeps := xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	change(w, goes, func(m *v1alpha1.Team) { m.Spec.ManagementPolicies = keeps })
	w.remove(goes)
	if err := w.passAll(1, goes); err != nil || w.exists(goes) {
		t.Fatalf("the object is still there: %v", err)
	}
	s := &oncallsetup.Sweeper{Live: w.kube, Store: w.store, Log: logging.NewNopLogger()}
	if n := len(w.credentials()); n != 3 {
		t.Fatalf("there are %d credentials", n)
	}
	for range 2 {
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(w.credentials()); n != 2 {
			t.Errorf("there are %d credentials, want 2", n)
		}
	}
	w.rest(b, stays)

	change(w, b, func(b *v1alpha1.Bootstrap) { b.Spec.ManagementPolicies = keeps })
	w.remove(b)
	if err := w.passAll(1, b); err != nil || w.exists(b) {
		t.Fatalf("the object is still there: %v", err)
	}
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := newBootstrap(w)
	w.create(next)
	w.server.ResetRequests()
	w.ready(next, stays)
	w.untouched()
}
