package oncall

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// withServer is a world with a Bootstrap that is Ready and a config that names it.
func withServer(t *testing.T) (*world, *v1alpha1.Bootstrap) {
	t.Helper()
	w := newWorld(t)
	b := newBootstrap(w)
	w.create(b, newConfig())
	w.ready(b)
	return w, b
}

// byHand edits the server's state as a person would.
func (w *world) byHand(f func(*terdutserver.State)) {
	w.t.Helper()
	if err := w.server.Edit(context.Background(), f); err != nil {
		w.t.Fatal(err)
	}
}

// untouched fails when something was written to the server since the requests were reset.
func (w *world) untouched() {
	w.t.Helper()
	if n := w.server.Writes(); n > 0 {
		w.t.Errorf("%d writes to the server: %v", n, w.server.Requests())
	}
}

// TestH28ForeignTeam holds that a team which only has the name is neither taken over nor changed nor deleted, and is taken over when a person
// says which one it is.
func TestH28ForeignTeam(t *testing.T) {
	w, _ := withServer(t)
	w.byHand(func(s *terdutserver.State) {
		s.Teams = append(s.Teams, terdutserver.Team{ID: 70, Name: "ops", OwnerGroup: "theirs"})
	})
	m := newTeam("ops")
	w.create(m)
	w.server.ResetRequests()
	if err := w.passAll(3, m); err != nil {
		t.Fatal(err)
	}
	is(t, m, v1alpha1.ReasonConflict)
	says(t, m, v1alpha1.ReasonConflict)
	if c := m.GetCondition(v1alpha1.TypeTeamReady); !strings.Contains(c.Message, "team 70") {
		t.Errorf("the message does not say which: %s", c.Message)
	}
	w.rest(m)
	w.remove(m)
	if err := w.passAll(2, m); err != nil || w.exists(m) {
		t.Errorf("the object is still there: %v", err)
	}
	w.untouched()

	adopting := newTeam("ops", func(m *v1alpha1.Team) { meta.SetExternalName(m, "70") })
	w.create(adopting)
	w.ready(adopting)
	if s := w.state(); len(s.Teams) != 1 || s.Teams[0].ID != 70 || s.Teams[0].OwnerGroup != "theirs" {
		t.Errorf("the teams are %+v", s.Teams)
	}
	if !w.events.has("TookOverTeam") {
		t.Error("no event says that it was taken over")
	}

	// A second object for the same team is told whose it is, and makes nothing.
	second := newTeam("second", func(m *v1alpha1.Team) { meta.SetExternalName(m, "70") })
	w.create(second)
	w.server.ResetRequests()
	if err := w.passAll(2, second); err != nil {
		t.Fatal(err)
	}
	is(t, second, v1alpha1.ReasonConflict)
	w.remove(second)
	if err := w.passAll(2, second); err != nil || w.exists(second) {
		t.Errorf("the second object is still there: %v", err)
	}
	w.untouched()

	// An object that leaves its team lets another one have it, by the explicit name.
	change(w, adopting, func(m *v1alpha1.Team) {
		m.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	})
	w.remove(adopting)
	if err := w.passAll(1, adopting); err != nil || w.exists(adopting) {
		t.Fatalf("the object is still there: %v", err)
	}
	again := newTeam("ops", func(m *v1alpha1.Team) { meta.SetExternalName(m, "70") })
	w.create(again)
	w.ready(again)
	if s := w.state(); len(s.Teams) != 1 || s.Teams[0].ID != 70 {
		t.Errorf("the teams are %+v", s.Teams)
	}
}

// TestH28ExternalName holds that an external name which is no id is said to be none, and that one which is changed afterwards is put back.
func TestH28ExternalName(t *testing.T) {
	w, _ := withServer(t)
	bad := newTeam("bad", func(m *v1alpha1.Team) { meta.SetExternalName(m, "seven") })
	m := newTeam("good")
	w.create(bad, m)
	if err := w.passAll(2, bad); err != nil {
		t.Fatal(err)
	}
	is(t, bad, v1alpha1.ReasonExternalNameInvalid)

	w.ready(m)
	was := meta.GetExternalName(m)
	w.byHand(func(s *terdutserver.State) { s.Teams = append(s.Teams, terdutserver.Team{ID: 70, Name: "theirs"}) })
	change(w, m, func(m *v1alpha1.Team) { meta.SetExternalName(m, "70") })
	w.server.ResetRequests()
	w.ready(m)
	w.untouched()
	if got := meta.GetExternalName(m); got != was {
		t.Errorf("the external name is %s, it was %s", got, was)
	}
	change(w, m, func(m *v1alpha1.Team) { meta.SetExternalName(m, "70") })
	w.remove(m)
	if err := w.passAll(2, m); err != nil || w.exists(m) {
		t.Errorf("the object is still there: %v", err)
	}
	if s := w.state(); len(s.Teams) != 1 || s.Teams[0].ID != 70 {
		t.Errorf("the teams are %+v", s.Teams)
	}
}

// TestH28OneName holds that of two objects with one name the one that was first keeps it, and that the other takes nothing with it.
func TestH28OneName(t *testing.T) {
	w, _ := withServer(t)
	called := func(m *v1alpha1.Team) { m.Spec.ForProvider.DisplayName = ptr("Platform") }
	first, second := newTeam("first", called), newTeam("second", called)
	w.create(first, second)
	w.ready(first)
	if err := w.passAll(3, second); err != nil {
		t.Fatal(err)
	}
	is(t, second, v1alpha1.ReasonConflict)
	w.rest(first, second)
	w.remove(second)
	if err := w.passAll(2, second); err != nil || w.exists(second) {
		t.Errorf("the second object is still there: %v", err)
	}
	w.ready(first)
	if s := w.state(); len(s.Teams) != 1 {
		t.Errorf("the teams are %+v", s.Teams)
	}

	// A rename to a name that is taken changes nothing.
	w.byHand(func(s *terdutserver.State) { s.Teams = append(s.Teams, terdutserver.Team{ID: 70, Name: "Taken"}) })
	change(w, first, func(m *v1alpha1.Team) { m.Spec.ForProvider.DisplayName = ptr("Taken") })
	w.server.ResetRequests()
	if err := w.passAll(2, first); err != nil {
		t.Fatal(err)
	}
	is(t, first, v1alpha1.ReasonConflict)
	w.untouched()
}

// TestH28ForeignAccount holds that an account which somebody else made is joined when a person gives an administrator's key, that keys which
// others have of it stay, and that it stays when the object goes.
func TestH28ForeignAccount(t *testing.T) {
	w := newWorld(t)
	b := newBootstrap(w, func(b *v1alpha1.Bootstrap) { b.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete })
	w.create(b, newConfig())
	w.letIn(b)
	w.byHand(func(s *terdutserver.State) {
		s.ServiceAccounts = append(s.ServiceAccounts, terdutserver.ServiceAccount{ID: foreignAccount, Name: "provider-terdut", Scope: terdutserver.ScopeInstance})
		s.Keys = append(s.Keys, terdutserver.Key{ID: foreignAccount, AccountID: foreignAccount, Hash: "none"})
	})
	w.ready(b)
	if got := meta.GetExternalName(b); got != strconv.Itoa(foreignAccount) {
		t.Errorf("the external name is %s", got)
	}
	change(w, b, func(b *v1alpha1.Bootstrap) { b.Spec.ForProvider.KeyRotation = &v1alpha1.KeyRotation{Trigger: "2"} })
	w.ready(b)
	w.rest(b)
	keys := func() string {
		var ids []string
		for _, k := range w.state().Keys {
			if k.AccountID == foreignAccount {
				ids = append(ids, fmt.Sprint(k.ID))
			}
		}
		return strings.Join(ids, " ")
	}
	if got, want := keys(), fmt.Sprintf("%d %d", foreignAccount, b.Status.AtProvider.KeyID); got != want {
		t.Errorf("the account's keys are %s, want %s", got, want)
	}
	w.remove(b)
	if err := w.passAll(2, b); err != nil || w.exists(b) {
		t.Errorf("the object is still there: %v", err)
	}
	if got, want := keys(), strconv.Itoa(foreignAccount); got != want {
		t.Errorf("the account's keys are %s, want %s", got, want)
	}
}

// TestH28RestoredServer holds that an id which a restored server has given to somebody else's team is not believed, neither to change nor to
// delete it.
func TestH28RestoredServer(t *testing.T) {
	w, _ := withServer(t)
	m := newTeam("platform")
	w.create(m)
	w.ready(m)
	id := m.Status.AtProvider.TeamID
	w.byHand(func(s *terdutserver.State) {
		s.Teams = []terdutserver.Team{{ID: id, Name: "theirs"}}
		s.ServiceAccounts = s.ServiceAccounts[:1]
	})
	w.server.ResetRequests()
	if err := w.passAll(3, m); err != nil {
		t.Fatal(err)
	}
	is(t, m, v1alpha1.ReasonConflict)
	w.remove(m)
	if err := w.passAll(2, m); err != nil || w.exists(m) {
		t.Errorf("the object is still there: %v", err)
	}
	w.untouched()
	if s := w.state(); len(s.Teams) != 1 || s.Teams[0].Name != "theirs" {
		t.Errorf("the teams are %+v", s.Teams)
	}
}
