package oncall

import (
	"net/http"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// silent makes a server answer nobody, until the returned function is called.
func (w *world) silent() func() { return w.server.Inject(terdutserver.Fault{Drop: true}) }

// TestH39Unreachable holds that a server which is only unreachable keeps an object that is being deleted, and that it is deleted as soon as the
// server answers.
func TestH39Unreachable(t *testing.T) {
	w, b := withServer(t)
	m := newTeam("platform")
	w.create(m)
	w.ready(m)
	w.patience = time.Nanosecond
	w.restart()
	answer := w.silent()
	w.remove(m)
	for range 3 {
		if err := w.passTeam(m); err == nil {
			t.Fatal("want an error")
		}
		says(t, m, v1alpha1.ReasonDegraded)
	}
	answer()
	if err := w.passAll(2, m); err != nil || w.exists(m) {
		t.Errorf("the object is still there: %v", err)
	}
	if s := w.state(); len(s.Teams) != 0 || len(s.ServiceAccounts) != 1 {
		t.Errorf("there are %d teams and %d accounts", len(s.Teams), len(s.ServiceAccounts))
	}
	w.ready(b)
}

// TestH39Released holds that objects go without their server when the way to it goes as well: the config or the Bootstrap is being deleted, or is
// not there any more. A server that misses a call is given some time first.
func TestH39Released(t *testing.T) {
	for name, goes := range map[string]func(*world, *v1alpha1.Bootstrap, *v1alpha1.ProviderConfig){
		"BootstrapGoes": func(w *world, b *v1alpha1.Bootstrap, _ *v1alpha1.ProviderConfig) { w.remove(b) },
		"ConfigGoes": func(w *world, _ *v1alpha1.Bootstrap, c *v1alpha1.ProviderConfig) {
			change(w, c, func(c *v1alpha1.ProviderConfig) { c.Finalizers = []string{"in-use.terdut.ryuvia.com"} })
			w.remove(c)
		},
		"ConfigGone": func(w *world, _ *v1alpha1.Bootstrap, c *v1alpha1.ProviderConfig) { w.remove(c) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			b, c, m := newBootstrap(w), newConfig(), newTeam("platform")
			w.create(b, c, m)
			w.ready(b, m)
			w.silent()
			w.remove(m)
			goes(w, b, c)
			if err := w.passTeam(m); err == nil || !w.exists(m) {
				t.Error("the object went at the first failure")
			}
			w.patience = time.Nanosecond
			w.restart()
			if err := w.passAll(4, m); err != nil || w.exists(m) {
				t.Errorf("the object is still there: %v", err)
			}
			if !w.events.has("Released") {
				t.Error("no event says so")
			}
			if len(w.credentials()) != 1 {
				t.Error("its credential is still there")
			}
		})
	}
}

// TestH39KeptCredential holds that a Team whose config and Bootstrap are gone still deletes its team, with the credential that was retained.
func TestH39KeptCredential(t *testing.T) {
	w := newWorld(t)
	b, c, m := newBootstrap(w), newConfig(allow(v1alpha1.NamespacesAll, nil)), newTeam("there", elsewhere)
	w.create(b, c, m)
	w.ready(b, m)
	w.remove(c)
	w.remove(b)
	if err := w.passAll(2, b); err != nil || w.exists(b) {
		t.Fatalf("the Bootstrap is still there: %v", err)
	}
	if err := w.passAll(1, m); err != nil {
		t.Fatal(err)
	}
	is(t, m, v1alpha1.ReasonServerNotFound)
	w.remove(m)
	if err := w.passAll(2, m); err != nil || w.exists(m) {
		t.Errorf("the object is still there: %v", err)
	}
	if n := len(w.state().Teams); n != 0 {
		t.Errorf("there are %d teams", n)
	}
}

// TestRetained holds that a credential which was retained is the next Bootstrap's of the same name and server, and nobody else's.
func TestRetained(t *testing.T) {
	w, b := withServer(t)
	account, key := meta.GetExternalName(b), b.Status.AtProvider.KeyID
	w.remove(b)
	if err := w.passAll(2, b); err != nil || w.exists(b) {
		t.Fatalf("the object is still there: %v", err)
	}
	other := newBootstrap(w, func(b *v1alpha1.Bootstrap) { b.Namespace = "shop" })
	slash := newBootstrap(w, func(b *v1alpha1.Bootstrap) { b.Spec.ForProvider.Endpoint += "/api/" })
	w.create(other, slash)
	if err := w.passAll(1, other); err == nil {
		t.Error("a Bootstrap of another namespace must not get in")
	}
	if err := w.passAll(2, other); err != nil {
		t.Fatal(err)
	}
	is(t, other, v1alpha1.ReasonBootstrapStateLost)

	w.server.ResetRequests()
	w.ready(slash)
	w.untouched()
	if got := meta.GetExternalName(slash); got != account || slash.Status.AtProvider.KeyID != key {
		t.Errorf("it is account %s with key %d, want %s with %d", got, slash.Status.AtProvider.KeyID, account, key)
	}
	if n := len(w.credentials()); n != 2 {
		t.Errorf("there are %d credentials, want one for each Bootstrap", n)
	}
}

// TestH40Policies holds that only what the policies allow is done, also outside: observing writes nothing, and what may not be deleted stays.
func TestH40Policies(t *testing.T) {
	observe := xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	keeps := xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	t.Run("Observe", func(t *testing.T) {
		w, _ := withServer(t)
		w.byHand(func(s *terdutserver.State) { s.Teams = append(s.Teams, terdutserver.Team{ID: 70, Name: "theirs"}) })
		m := newTeam("looking", func(m *v1alpha1.Team) {
			m.Spec.ManagementPolicies = observe
			m.Spec.ForProvider.DisplayName = ptr("Renamed")
			m.Spec.ForProvider.KeyRotation = &v1alpha1.KeyRotation{Trigger: "2"}
			meta.SetExternalName(m, "70")
		})
		nobody := newTeam("nobody", func(m *v1alpha1.Team) { m.Spec.ManagementPolicies = observe })
		w.create(m, nobody)
		w.server.ResetRequests()
		w.ready(m)
		w.rest(m, nobody)
		if m.Status.AtProvider.TeamID != 70 {
			t.Errorf("the status says team %d", m.Status.AtProvider.TeamID)
		}
		w.remove(m)
		if err := w.passAll(1, m); err != nil {
			t.Fatal(err)
		}
		w.untouched()
		if len(w.credentials()) != 1 {
			t.Error("looking made a credential")
		}
	})
	for name, c := range map[string]struct {
		policies xpv2.ManagementPolicies
		deletion commonv1alpha1.DeletionPolicy
		accounts int
	}{
		"RetainAndAll":     {policies: xpv2.ManagementPolicies{"*"}, deletion: commonv1alpha1.DeletionRetain, accounts: 1},
		"DeleteAndAll":     {policies: xpv2.ManagementPolicies{"*"}, deletion: commonv1alpha1.DeletionDelete},
		"RetainAndKeeping": {policies: keeps, deletion: commonv1alpha1.DeletionRetain, accounts: 1},
		"DeleteAndKeeping": {policies: keeps, deletion: commonv1alpha1.DeletionDelete, accounts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			b := newBootstrap(w, func(b *v1alpha1.Bootstrap) {
				b.Spec.ManagementPolicies, b.Spec.ForProvider.DeletionPolicy = c.policies, c.deletion
			})
			w.create(b)
			w.ready(b)
			w.remove(b)
			if err := w.passAll(2, b); err != nil || w.exists(b) {
				t.Errorf("the object is still there: %v", err)
			}
			if n := len(w.state().ServiceAccounts); n != c.accounts {
				t.Errorf("there are %d accounts, want %d", n, c.accounts)
			}
		})
	}
}

// TestH43Rest holds that nothing is written over 20 polls, whatever order the server lists in, and nothing either while a person is waited for.
func TestH43Rest(t *testing.T) {
	w, b := withServer(t)
	w.server.SetModes(terdutserver.Modes{Shuffle: true, PageSize: 1})
	m, lost := newTeam("platform"), newBootstrap(w, func(b *v1alpha1.Bootstrap) { b.Name = "second" })
	w.create(m, lost)
	w.ready(m)
	_ = w.passAll(2, lost)
	for range 4 {
		w.rest(b, m, lost)
	}
	is(t, lost, v1alpha1.ReasonBootstrapStateLost)
	w.server.ResetRequests()
	if err := w.passAll(1, m); err != nil {
		t.Fatal(err)
	}
	if n := len(w.server.Requests()); n > 4 {
		t.Errorf("a poll of a Team makes %d requests: %v", n, w.server.Requests())
	}
}

// TestInstanceKeyRevoked holds that a team's own key, which its children work with, does without the key that reaches the whole server.
func TestInstanceKeyRevoked(t *testing.T) {
	w, b := withServer(t)
	m := newTeam("platform")
	w.create(m)
	w.ready(m)
	w.byHand(func(s *terdutserver.State) {
		for i := range s.Keys {
			if s.Keys[i].ID == b.Status.AtProvider.KeyID {
				s.Keys[i].Hash = "revoked"
			}
		}
	})
	_ = w.passAll(2, m)
	c, err := w.store.Team(t.Context(), m)
	if err != nil || !c.Complete() || c.Suspended != "" {
		t.Fatalf("the credential is not complete: %v", err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.Endpoint+"/api/teams/"+meta.GetExternalName(m)+"/integrations", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+string(c.Token))
	rsp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal("the server does not answer")
	}
	_ = rsp.Body.Close()
	if rsp.StatusCode != http.StatusOK {
		t.Errorf("the team's key gets %d", rsp.StatusCode)
	}
}

// TestServerNotReady holds that a server which is not there yet is waited for without an error, and that its account is made when it is.
func TestServerNotReady(t *testing.T) {
	w := newWorld(t)
	b := newBootstrap(w)
	w.create(b)
	answer := w.silent()
	if err := w.passAll(2, b); err != nil {
		t.Fatal(err)
	}
	is(t, b, v1alpha1.ReasonServerNotReady)
	if len(w.credentials()) != 0 {
		t.Error("something was made already")
	}
	answer()
	w.ready(b)
}
