package oncall

import (
	"fmt"
	"testing"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// A stage of an object's life in which the provider is killed.
type stage struct {
	// do starts the stage. Before it, the objects are Ready, or were just made when first is true.
	first bool
	do    func(w *world, b *v1alpha1.Bootstrap, m *v1alpha1.Team)
	// users of the server, accounts, keys and teams there are at the end. An administrator's key is one of the keys.
	accounts, keys, teams int
	// gone is true when the objects are to be gone at the end, retained when the account's credential is kept then.
	gone, retained bool
}

var stages = map[string]stage{
	"Create": {first: true, do: func(*world, *v1alpha1.Bootstrap, *v1alpha1.Team) {}, accounts: 2, keys: 3, teams: 1},
	"Update": {do: func(w *world, _ *v1alpha1.Bootstrap, m *v1alpha1.Team) {
		change(w, m, func(m *v1alpha1.Team) {
			m.Spec.ForProvider.DisplayName = ptr("Renamed")
			m.Spec.ForProvider.OIDC = &v1alpha1.OIDCGroups{MemberGroup: ptr("members"), OwnerGroup: ptr("owners")}
		})
	}, accounts: 2, keys: 3, teams: 1},
	"Rotate": {do: func(w *world, b *v1alpha1.Bootstrap, m *v1alpha1.Team) {
		change(w, b, func(b *v1alpha1.Bootstrap) { b.Spec.ForProvider.KeyRotation = &v1alpha1.KeyRotation{Trigger: "2"} })
		change(w, m, func(m *v1alpha1.Team) { m.Spec.ForProvider.KeyRotation = &v1alpha1.KeyRotation{Trigger: "2"} })
	}, accounts: 2, keys: 3, teams: 1},
	"Recreate": {do: func(w *world, _ *v1alpha1.Bootstrap, _ *v1alpha1.Team) {
		w.dropTeam(w.state().Teams[0].ID)
	}, accounts: 2, keys: 3, teams: 1},
	"Delete": {do: func(w *world, b *v1alpha1.Bootstrap, m *v1alpha1.Team) {
		change(w, b, func(b *v1alpha1.Bootstrap) { b.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete })
		w.remove(m, b)
	}, keys: 1, gone: true},
	"Retain": {do: func(w *world, b *v1alpha1.Bootstrap, m *v1alpha1.Team) { w.remove(m, b) }, accounts: 1, keys: 2, gone: true, retained: true},
}

// TestH38Killed holds that a provider which dies at any write, before it or after it, to the server or to the cluster, is followed by one
// that ends in the same place: nothing is there twice, and nothing is left.
func TestH38Killed(t *testing.T) {
	for name, s := range stages {
		t.Run(name, func(t *testing.T) {
			w, b, m := s.start(t)
			w.mu.Lock()
			w.writes = 0
			w.mu.Unlock()
			s.do(w, b, m)
			_ = w.passAll(5, b, m)
			n := w.writes
			s.check(t, w, b, m)
			t.Logf("%s: killed at %d writes, before and after each", name, n)
			for at := 1; at <= n; at++ {
				for _, after := range []bool{false, true} {
					t.Run(fmt.Sprintf("%d/%t", at, after), func(t *testing.T) { s.kill(t, at, after) })
				}
			}
		})
	}
}

func (s stage) start(t *testing.T) (*world, *v1alpha1.Bootstrap, *v1alpha1.Team) {
	w := newWorld(t)
	b, m := newBootstrap(w), newTeam("platform")
	w.create(b, newConfig(), m)
	if !s.first {
		w.ready(b, m)
	}
	return w, b, m
}

func (s stage) kill(t *testing.T, at int, after bool) {
	w, b, m := s.start(t)
	w.mu.Lock()
	w.writes, w.dieAt, w.after = 0, at, after
	w.mu.Unlock()
	s.do(w, b, m)
	for range 5 {
		_ = w.passAll(1, b, m)
		if w.isDead() {
			break
		}
	}
	if !w.isDead() {
		t.Fatal("the provider lives")
	}
	w.restart()
	_ = w.passAll(5, b, m)
	if st := w.state(); s.first && len(st.Users) == 1 && len(st.ServiceAccounts) == 0 {
		// The one key that nobody can make again was on its way. A person lets the provider in.
		says(t, b, v1alpha1.ReasonBootstrapStateLost)
		w.rest(b)
		w.letIn(b)
		w.ready(b, m)
		s.keys++
	}
	s.check(t, w, b, m)
}

func (s stage) check(t *testing.T, w *world, b *v1alpha1.Bootstrap, m *v1alpha1.Team) {
	t.Helper()
	if s.gone {
		if w.exists(b) || w.exists(m) {
			t.Errorf("an object is still there")
		}
	} else {
		w.ready(b, m)
		w.rest(b, m)
	}
	st := w.state()
	if len(st.ServiceAccounts) != s.accounts || len(st.Keys) != s.keys || len(st.Teams) != s.teams {
		t.Errorf("the server has %d accounts, %d keys and %d teams, want %d, %d and %d",
			len(st.ServiceAccounts), len(st.Keys), len(st.Teams), s.accounts, s.keys, s.teams)
	}
	want := 2
	if s.gone {
		want = 0
	}
	if s.retained {
		want = 1
	}
	if n := len(w.credentials()); n != want {
		t.Errorf("there are %d credentials, want %d", n, want)
	}
}
