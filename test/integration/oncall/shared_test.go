package oncall

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// second is a Bootstrap of another namespace for the same server and the same account, with an administrator's key.
func (w *world) second() *v1alpha1.Bootstrap {
	w.t.Helper()
	key, err := w.server.AddAdmin(w.t.Context(), "second")
	if err != nil {
		w.t.Fatal(err)
	}
	b := newBootstrap(w, func(b *v1alpha1.Bootstrap) {
		b.Namespace = "shop"
		b.Spec.ForProvider.AdminKeySecretRef = &commonv1alpha1.LocalSecretKeySelector{Name: "root", Key: "key"}
	})
	w.create(b, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "root"}, Data: map[string][]byte{"key": []byte(key)}})
	return b
}

// keysOf the provider's account, by id.
func (w *world) keysOf(account int64) (ids []int64) {
	w.t.Helper()
	for _, k := range w.state().Keys {
		if k.AccountID == account {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// TestOneAccountForTwo holds that two objects which work through one account leave each other's keys alone: at rest, when either gets another
// key, and when the one that made the account goes. The last one takes the account with it, if it made it.
func TestOneAccountForTwo(t *testing.T) {
	for name, makerFirst := range map[string]bool{"MakerGoesFirst": true, "MakerGoesLast": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			maker := newBootstrap(w, func(b *v1alpha1.Bootstrap) { b.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete })
			w.create(maker, newConfig())
			w.ready(maker)
			joined := w.second()
			w.ready(joined)
			w.rest(maker, joined)
			for i, b := range []*v1alpha1.Bootstrap{maker, joined} {
				change(w, b, func(b *v1alpha1.Bootstrap) { b.Spec.ForProvider.KeyRotation = &v1alpha1.KeyRotation{Trigger: "2"} })
				w.ready(maker, joined)
				w.rest(maker, joined)
				if ids := w.keysOf(maker.Status.AtProvider.ServiceAccountID); len(ids) != 2 {
					t.Errorf("after rotation %d the keys of the account are %v", i, ids)
				}
			}
			change(w, joined, func(b *v1alpha1.Bootstrap) { b.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete })

			goes, stays := joined, maker
			if makerFirst {
				goes, stays = maker, joined
			}
			w.remove(goes)
			if err := w.passAll(2, goes); err != nil || w.exists(goes) {
				t.Fatalf("the object is still there: %v", err)
			}
			w.ready(stays)
			w.rest(stays)
			if ids := w.keysOf(stays.Status.AtProvider.ServiceAccountID); len(ids) != 1 || ids[0] != stays.Status.AtProvider.KeyID {
				t.Errorf("the keys of the account are %v", ids)
			}
			w.remove(stays)
			if err := w.passAll(2, stays); err != nil || w.exists(stays) {
				t.Fatalf("the object is still there: %v", err)
			}
			want := 0
			if makerFirst {
				want = 1 // Nobody knows any more who made it. It has no key.
			}
			if n := len(w.state().ServiceAccounts); n != want || len(w.keysOf(stays.Status.AtProvider.ServiceAccountID)) != 0 {
				t.Errorf("there are %d accounts, want %d", n, want)
			}
		})
	}
}

// TestInterruptedKeys holds that what an attempt left behind whose answer was lost is found and revoked, of an account that is joined too, and
// that nothing else of it is; and that an account which such an attempt made is this object's.
func TestInterruptedKeys(t *testing.T) {
	for name, c := range map[string]struct {
		route  string
		exists bool
		f      terdutserver.Fault
		// joined is true when the account is not this object's in the end.
		joined bool
	}{
		"KeyLost":         {route: "/api/service-accounts/{account}/keys", exists: true, f: terdutserver.Fault{Drop: true, Commit: true}, joined: true},
		"KeyNotMade":      {route: "/api/service-accounts/{account}/keys", exists: true, f: terdutserver.Fault{Drop: true}, joined: true},
		"KeyRefused":      {route: "/api/service-accounts/{account}/keys", exists: true, f: terdutserver.Fault{Status: http.StatusForbidden}, joined: true},
		"AccountLost":     {route: "/api/service-accounts", f: terdutserver.Fault{Drop: true, Commit: true}},
		"AccountNotMade":  {route: "/api/service-accounts", f: terdutserver.Fault{Drop: true}},
		"AccountRefused":  {route: "/api/service-accounts", f: terdutserver.Fault{Status: http.StatusForbidden}, joined: true},
		"AccountConflict": {route: "/api/service-accounts", f: terdutserver.Fault{Status: http.StatusConflict}, joined: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			b := newBootstrap(w, func(b *v1alpha1.Bootstrap) { b.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete })
			w.create(b)
			w.letIn(b)
			theirs := func() {
				w.byHand(func(s *terdutserver.State) {
					s.ServiceAccounts = append(s.ServiceAccounts, terdutserver.ServiceAccount{ID: foreignAccount, Name: "provider-terdut", Scope: terdutserver.ScopeInstance})
					s.Sequences["key"]++
					s.Keys = append(s.Keys, terdutserver.Key{ID: s.Sequences["key"], AccountID: foreignAccount, Hash: "none"})
				})
			}
			if c.exists {
				theirs()
			}
			c.f.Method, c.f.Route, c.f.Times = http.MethodPost, c.route, 1
			w.server.Inject(c.f)
			if err := w.passAll(1, b); err == nil {
				t.Fatal("the pass did not fail")
			}
			if c.joined && !c.exists {
				// It was certainly not this object that made it.
				theirs()
			}
			w.ready(b)
			w.rest(b)
			want := 1
			if c.joined {
				want = 2
			}
			if ids := w.keysOf(b.Status.AtProvider.ServiceAccountID); len(ids) != want {
				t.Errorf("the keys of the account are %v, want %d", ids, want)
			}
			w.remove(b)
			if err := w.passAll(2, b); err != nil || w.exists(b) {
				t.Fatalf("the object is still there: %v", err)
			}
			if n := len(w.state().ServiceAccounts); n != want-1 {
				t.Errorf("there are %d accounts, want %d", n, want-1)
			}
		})
	}
}
