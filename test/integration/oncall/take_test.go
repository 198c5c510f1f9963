package oncall

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestH28TakenAtOnce holds that of two objects that say the id of one team, and have both seen that it is nobody's, one takes it over.
func TestH28TakenAtOnce(t *testing.T) {
	w, _ := withServer(t)
	w.byHand(func(s *terdutserver.State) { s.Teams = append(s.Teams, terdutserver.Team{ID: 70, Name: "theirs"}) })
	var clients []managed.TypedExternalClient[*v1alpha1.Team]
	teams := []*v1alpha1.Team{newTeam("first"), newTeam("second")}
	for _, m := range teams {
		meta.SetExternalName(m, "70")
		m.Spec.ForProvider.DisplayName = ptr("theirs")
		w.create(m)
		e, err := w.teams.Connect(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := e.Observe(t.Context(), m); err != nil || !o.ResourceExists || o.ResourceUpToDate {
			t.Fatalf("it is not to be taken over: %v, %v", o, err)
		}
		clients = append(clients, e)
	}
	if _, err := clients[0].Update(t.Context(), teams[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := clients[1].Update(t.Context(), teams[1]); connect.ReasonOf(err, "") != v1alpha1.ReasonConflict {
		t.Errorf("the second one: %v", err)
	}
	if n := len(w.credentials()); n != 2 {
		t.Errorf("there are %d credentials, want the Bootstrap's and one Team's", n)
	}
	if err := w.passAll(2, teams[1]); err != nil {
		t.Fatal(err)
	}
	is(t, teams[1], v1alpha1.ReasonConflict)
	w.ready(teams[0])
}
