package oncall

import (
	"testing"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// TestLife holds the life of a server's account and a team from the first user to the last row.
func TestLife(t *testing.T) {
	w := newWorld(t)
	b := newBootstrap(w, func(b *v1alpha1.Bootstrap) { b.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete })
	c := newConfig()
	tm := newTeam("platform", func(m *v1alpha1.Team) {
		m.Spec.ForProvider.DisplayName = ptr("Platform")
		m.Spec.ForProvider.OIDC = &v1alpha1.OIDCGroups{MemberGroup: ptr("members")}
	})
	w.create(b, c, tm)
	w.ready(b, tm)
	s := w.state()
	if len(s.Users) != 1 || len(s.ServiceAccounts) != 2 || len(s.Keys) != 3 || len(s.Teams) != 1 {
		t.Fatalf("the server has %d users, %d accounts, %d keys and %d teams", len(s.Users), len(s.ServiceAccounts), len(s.Keys), len(s.Teams))
	}
	if got := s.Teams[0]; got.Name != "Platform" || got.MemberGroup != "members" || got.OwnerGroup != "" {
		t.Errorf("the team is %+v", got)
	}
	w.rest(b, tm)

	w.remove(tm, b)
	if err := w.passBootstrap(b); err != nil {
		t.Fatal(err)
	}
	says(t, b, v1alpha1.ReasonInUse)
	if err := w.passAll(3, tm, b); err != nil {
		t.Fatal(err)
	}
	if w.exists(tm) || w.exists(b) {
		t.Error("an object is still there")
	}
	s = w.state()
	if len(s.ServiceAccounts) != 0 || len(s.Keys) != 1 || len(s.Teams) != 0 || len(w.credentials()) != 0 {
		t.Errorf("left: %d accounts, %d keys, %d teams, %d Secrets", len(s.ServiceAccounts), len(s.Keys), len(s.Teams), len(w.credentials()))
	}
}
