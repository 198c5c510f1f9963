package oncall

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
)

// TestMade holds that the credential tells a team from one that was made in its place, and nothing else, and which config it is through.
func TestMade(t *testing.T) {
	w, _ := withServer(t)
	m := newTeam("platform")
	w.create(m)
	w.ready(m)
	made := func() string {
		t.Helper()
		c, err := w.store.Team(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if want := (credential.Owner{Kind: "ProviderConfig", Namespace: "ops", Name: "terdut"}); c.Config != want {
			t.Errorf("the credential says that it is through %v", c.Config)
		}
		return c.Made
	}
	was := made()
	if was == "" {
		t.Fatal("the credential does not say that the team was made")
	}
	change(w, m, func(m *v1alpha1.Team) {
		m.Spec.ForProvider.DisplayName, m.Spec.ForProvider.KeyRotation = ptr("Renamed"), &v1alpha1.KeyRotation{Trigger: "2"}
	})
	w.ready(m)
	if made() != was {
		t.Error("it changed with the team's name and key")
	}
	w.dropTeam(m.Status.AtProvider.TeamID)
	w.ready(m)
	is := made()
	if is == was || is == "" {
		t.Error("it does not tell the new team from the old one")
	}

	// An object that is made anew for the same team.
	change(w, m, func(m *v1alpha1.Team) {
		m.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	})
	w.remove(m)
	if err := w.passAll(1, m); err != nil || w.exists(m) {
		t.Fatalf("the object is still there: %v", err)
	}
	id := meta.GetExternalName(m)
	m = newTeam("platform", func(m *v1alpha1.Team) {
		meta.SetExternalName(m, id)
		m.Spec.ForProvider.DisplayName = ptr("Renamed")
	})
	w.create(m)
	w.ready(m)
	if made() != is {
		t.Error("it changed although the team is the same")
	}
}
