package oncall

import (
	"net/http"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	oncallsetup "github.com/ryuvia/provider-terdut/internal/controller/oncall"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
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

// TestSweptLate holds that a Bootstrap which is made anew finds the credential of the one before it that was let go without contact: before that is
// swept up, and also when it is only after the new one found no way in. A deletion of the one before that was under way is forgotten.
func TestSweptLate(t *testing.T) {
	for name, late := range map[string]bool{"NotSwept": false, "SweptAfterwards": true} {
		t.Run(name, func(t *testing.T) {
			w, b := withServer(t)
			id, key := b.Status.AtProvider.ServiceAccountID, b.Status.AtProvider.KeyID
			change(w, b, func(b *v1alpha1.Bootstrap) { b.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete })
			answer := w.server.Inject(terdutserver.Fault{Method: http.MethodDelete, Status: http.StatusInternalServerError})
			w.remove(b)
			if w.passAll(1, b) == nil {
				t.Fatal("the deletion did not fail")
			}
			answer()
			change(w, b, func(b *v1alpha1.Bootstrap) {
				b.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
			})
			if err := w.passAll(1, b); err != nil || w.exists(b) {
				t.Fatalf("the object is still there: %v", err)
			}
			next := newBootstrap(w)
			w.create(next)
			if late {
				// As one of a version that did not look there.
				c := credential.New(credential.OwnerOf(v1alpha1.BootstrapKind, next))
				c.Endpoint, c.Lost = w.server.URL(), "without an administrator's key"
				if err := w.store.Save(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				if err := w.passAll(1, next); err != nil {
					t.Fatal(err)
				}
				is(t, next, v1alpha1.ReasonBootstrapStateLost)
				s := &oncallsetup.Sweeper{Live: w.kube, Store: w.store, Log: logging.NewNopLogger()}
				if err := s.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			w.ready(next)
			w.rest(next)
			if next.Status.AtProvider.ServiceAccountID != id || next.Status.AtProvider.KeyID != key {
				t.Error("it is not the account and the key of the one before")
			}
			c, err := w.store.Bootstrap(t.Context(), next)
			if err != nil || c.Pending != "" {
				t.Errorf("something is under way: %v", err)
			}
			if n := len(w.credentials()); n != 1 {
				t.Errorf("there are %d credentials", n)
			}
		})
	}
}
