package oncall

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestH29Refused holds that a server's refusal to delete a team is shown with what is in the way, that nothing of that is deleted, and that the
// team goes once it has gone.
func TestH29Refused(t *testing.T) {
	w, _ := withServer(t)
	m := newTeam("platform")
	w.create(m)
	w.ready(m)
	w.server.SetModes(terdutserver.Modes{RefuseDeletes: true})
	w.byHand(func(s *terdutserver.State) {
		s.Switches = append(s.Switches, terdutserver.Switch{ID: 41, TeamID: m.Status.AtProvider.TeamID, Name: "by hand"})
	})
	w.remove(m)
	for range 3 {
		if err := w.passTeam(m); err != nil {
			t.Fatal(err)
		}
		says(t, m, v1alpha1.ReasonInUse)
		if c := m.GetCondition(v1alpha1.TypeTeamReady); !strings.Contains(c.Message, "switches [41]") {
			t.Errorf("the message does not say what is in the way: %s", c.Message)
		}
	}
	if s := w.state(); len(s.Switches) != 1 || len(s.Teams) != 1 {
		t.Errorf("there are %d switches and %d teams", len(s.Switches), len(s.Teams))
	}
	w.byHand(func(s *terdutserver.State) { s.Switches = nil })
	if err := w.passAll(2, m); err != nil || w.exists(m) {
		t.Errorf("the object is still there: %v", err)
	}
	if s := w.state(); len(s.Teams) != 0 || len(s.ServiceAccounts) != 1 {
		t.Errorf("there are %d teams and %d accounts", len(s.Teams), len(s.ServiceAccounts))
	}
}

// TestH29ChildrenFirst holds that a team's own account stays for as long as there are objects that need it to go.
func TestH29ChildrenFirst(t *testing.T) {
	w, _ := withServer(t)
	m := newTeam("platform")
	child := &v1alpha1.DeadmanSwitch{}
	child.Namespace, child.Name, child.UID = "ops", "watchdog", uid()
	child.Spec.ForProvider.TeamRef = &v1alpha1.TeamReference{Name: "platform"}
	w.create(m, child)
	w.ready(m)
	w.server.SetModes(terdutserver.Modes{RefuseDeletes: true})
	w.remove(m)
	if err := w.passAll(2, m); err != nil {
		t.Fatal(err)
	}
	says(t, m, v1alpha1.ReasonInUse)
	if s := w.state(); len(s.ServiceAccounts) != 2 {
		t.Errorf("there are %d accounts", len(s.ServiceAccounts))
	}
	w.remove(child)
	if err := w.passAll(2, m); err != nil || w.exists(m) {
		t.Errorf("the object is still there: %v", err)
	}
}

// TestH31Pages holds that a team on the last page is found, that a longer name is another one, and that two of one name are an error.
func TestH31Pages(t *testing.T) {
	w, _ := withServer(t)
	w.byHand(func(s *terdutserver.State) {
		for i := range 250 {
			s.Teams = append(s.Teams, terdutserver.Team{ID: int64(1000 + i), Name: fmt.Sprintf("hello-%d", i)})
		}
	})
	w.server.SetModes(terdutserver.Modes{PageSize: 20, PrefixSearch: true, Shuffle: true})
	m := newTeam("hello")
	w.create(m)
	w.ready(m)
	w.rest(m)
	if n := len(w.state().Teams); n != 251 {
		t.Errorf("there are %d teams", n)
	}
	twice := newTeam("twice")
	w.create(twice)
	w.byHand(func(s *terdutserver.State) {
		s.Teams = append(s.Teams, terdutserver.Team{ID: 2000, Name: "twice"}, terdutserver.Team{ID: 2001, Name: "twice"})
	})
	w.server.ResetRequests()
	if err := w.passAll(3, twice); !terdut.IsAmbiguous(err) {
		t.Errorf("two of one name: %v", err)
	}
	w.untouched()
}

// TestH32Revoked holds that lost rights are not taken for a team that is gone: while it lives nothing is made, and while it goes it stays.
func TestH32Revoked(t *testing.T) {
	w, b := withServer(t)
	m := newTeam("platform")
	w.create(m)
	w.ready(m)
	key := b.Status.AtProvider.KeyID
	w.byHand(func(s *terdutserver.State) {
		for i := range s.Keys {
			if s.Keys[i].ID == key {
				s.Keys[i].Hash = "revoked"
			}
		}
	})
	w.server.ResetRequests()
	if err := w.passAll(3, m); err == nil {
		t.Error("want an error")
	}
	says(t, m, v1alpha1.ReasonUnauthorized)
	if c := m.GetCondition(xpv2.TypeReady); c.Reason == xpv2.ReasonCreating {
		t.Error("Ready says that it is being created")
	}
	w.remove(m)
	if err := w.passAll(3, m); err == nil || !w.exists(m) {
		t.Error("the object must stay")
	}
	w.untouched()

	// The account has no other way in.
	if err := w.passAll(3, b); err != nil {
		t.Log(err)
	}
	is(t, b, v1alpha1.ReasonBootstrapStateLost)
	w.letIn(b)
	w.ready(b)
	if err := w.passAll(3, m); err != nil || w.exists(m) {
		t.Errorf("the object is still there: %v", err)
	}
	if s := w.state(); len(s.Teams) != 0 || len(s.ServiceAccounts) != 1 {
		t.Errorf("there are %d teams and %d accounts", len(s.Teams), len(s.ServiceAccounts))
	}
}

// TestH33Recreated holds that a team which was deleted on the server is made once more, and that its new id and key take the place of the old.
func TestH33Recreated(t *testing.T) {
	w, _ := withServer(t)
	m := newTeam("platform")
	w.create(m)
	w.ready(m)
	was, wasKey := m.Status.AtProvider.TeamID, m.Status.AtProvider.KeyID
	w.dropTeam(was)
	w.server.ResetRequests()
	w.ready(m)
	w.rest(m)
	s := w.state()
	if len(s.Teams) != 1 || s.Teams[0].ID == was || m.Status.AtProvider.TeamID != s.Teams[0].ID {
		t.Errorf("the teams are %+v, the status says %d", s.Teams, m.Status.AtProvider.TeamID)
	}
	c, err := w.store.Team(t.Context(), m)
	if err != nil || c.TeamID != s.Teams[0].ID || c.KeyID == wasKey || !c.Complete() {
		t.Errorf("the credential is not of the new team: %v", err)
	}
	if got := meta.GetExternalName(m); got != fmt.Sprint(s.Teams[0].ID) {
		t.Errorf("the external name is %s", got)
	}
	if !w.events.has("TeamGone") {
		t.Error("no event says that it was gone")
	}
}

// TestH33ResetServer holds that a server which was made anew is bootstrapped again, and that what has an old id there by now is left alone.
func TestH33ResetServer(t *testing.T) {
	w, b := withServer(t)
	m := newTeam("platform")
	w.create(m)
	w.ready(m)
	if err := w.server.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = w.passAll(2, m) // Nothing is known of the server.
	w.ready(b)
	w.byHand(func(s *terdutserver.State) {
		s.Sequences["team"] = m.Status.AtProvider.TeamID
		s.Teams = append(s.Teams, terdutserver.Team{ID: m.Status.AtProvider.TeamID, Name: "theirs"})
	})
	w.ready(b, m)
	w.rest(b, m)
	s := w.state()
	if len(s.Users) != 1 || len(s.ServiceAccounts) != 2 || len(s.Teams) != 2 || s.Teams[0].Name != "theirs" || s.Teams[1].Name != "platform" {
		t.Errorf("the server has %d users, %d accounts, teams %+v", len(s.Users), len(s.ServiceAccounts), s.Teams)
	}
}

// TestH36Clearing holds that what is unset stays as it is, that what is empty is cleared, and that what a server makes of a name is not put
// right for ever.
func TestH36Clearing(t *testing.T) {
	w, _ := withServer(t)
	w.server.SetModes(terdutserver.Modes{FoldNames: true})
	m := newTeam("platform", func(m *v1alpha1.Team) { m.Spec.ForProvider.DisplayName = ptr("  The Platform ") })
	w.create(m)
	w.ready(m)
	w.rest(m)
	w.byHand(func(s *terdutserver.State) { s.Teams[0].MemberGroup, s.Teams[0].OwnerGroup = "by hand", "by hand" })
	w.rest(m)
	for _, step := range []struct {
		set  v1alpha1.OIDCGroups
		want [2]string
	}{
		{set: v1alpha1.OIDCGroups{OwnerGroup: ptr("owners")}, want: [2]string{"by hand", "owners"}},
		{set: v1alpha1.OIDCGroups{MemberGroup: ptr(""), OwnerGroup: ptr("owners")}, want: [2]string{"", "owners"}},
		{set: v1alpha1.OIDCGroups{OwnerGroup: ptr("")}, want: [2]string{"", ""}},
	} {
		change(w, m, func(m *v1alpha1.Team) { m.Spec.ForProvider.OIDC = &step.set })
		w.ready(m)
		w.rest(m)
		if g := w.state().Teams[0]; g.MemberGroup != step.want[0] || g.OwnerGroup != step.want[1] {
			t.Errorf("the groups are %q and %q, want %q", g.MemberGroup, g.OwnerGroup, step.want)
		}
	}
	change(w, m, func(m *v1alpha1.Team) { m.Spec.ForProvider.DisplayName = ptr("Another") })
	w.ready(m)
	w.rest(m)
	if n := w.state().Teams[0].Name; n != "another" {
		t.Errorf("the name is %q", n)
	}
}

// TestH37LeftAlone holds that a server which asks to be left alone is, by all objects, and that a redirect is named and not followed.
func TestH37LeftAlone(t *testing.T) {
	w, b := withServer(t)
	m := newTeam("platform")
	w.create(m)
	w.ready(m)
	w.server.Inject(terdutserver.Fault{Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "1"}, Times: 1})
	start := time.Now()
	w.server.ResetRequests()
	for time.Since(start) < 900*time.Millisecond {
		if err := w.passAll(1, m); err == nil {
			t.Fatal("want an error")
		}
		says(t, m, v1alpha1.ReasonRateLimited)
	}
	if n := len(w.server.Requests()); n != 1 {
		t.Errorf("%d requests to a server that asked to be left alone", n)
	}
	w.settle(t, stage{}, b, m)

	w.server.Inject(terdutserver.Fault{Method: http.MethodPut, Status: http.StatusMovedPermanently, Header: map[string]string{"Location": "https://elsewhere.example/x?key=1"}})
	change(w, m, func(m *v1alpha1.Team) { m.Spec.ForProvider.DisplayName = ptr("Renamed") })
	if err := w.passAll(1, m); err == nil || !strings.Contains(err.Error(), "https://elsewhere.example/x") || strings.Contains(err.Error(), "key=1") {
		t.Errorf("a redirect: %v", err)
	}
	says(t, m, v1alpha1.ReasonUnreachable)
}
