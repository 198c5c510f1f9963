package main

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestKindOf holds that each call to a server counts for the kind whose controller makes it, which the server's own routes do not always say.
func TestKindOf(t *testing.T) {
	s, err := terdutserver.Start(terdutserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	ctx, calls := t.Context(), map[string]int{}
	anonymous, err := terdut.New(terdut.Config{Endpoint: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	teams := map[int64]bool{}
	did := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range s.Requests() {
			calls[kindOf(r, teams).Kind+" "+r.Method+" "+r.Route]++
		}
		s.ResetRequests()
	}

	first, err := anonymous.Bootstrap(ctx, "admin", "admin@example.org")
	did(err)
	admin := anonymous.WithToken(first.Key.Key)
	account, err := admin.CreateServiceAccount(ctx, "provider", terdut.ScopeInstance, 0)
	did(err)
	instance := anonymous.WithToken(account.Key.Key)
	_, err = instance.ServiceAccountKeys(ctx, account.ID)
	did(err)

	made, err := instance.CreateTeam(ctx, "ops")
	did(err)
	of, err := instance.CreateServiceAccount(ctx, "ops", terdut.ScopeTeam, made.ID)
	did(err)
	teams[of.ID] = true
	_, err = instance.ServiceAccountKeys(ctx, of.ID)
	did(err)
	team := anonymous.WithToken(of.Key.Key)
	_, err = team.FindServiceAccount(ctx, "ops")
	did(err)
	_, err = team.EscalationPolicy(ctx, made.ID)
	did(err)

	want := map[string]int{
		"Bootstrap " + http.MethodPost + " /api/bootstrap":                      1,
		"Bootstrap " + http.MethodPost + " /api/service-accounts":               1,
		"Bootstrap " + http.MethodGet + " /api/service-accounts/{account}/keys": 1,
		"Team " + http.MethodPost + " /api/teams":                               1,
		"Team " + http.MethodPost + " /api/service-accounts":                    1,
		"Team " + http.MethodGet + " /api/service-accounts/{account}/keys":      1,
		"Team " + http.MethodGet + " /api/service-accounts":                     1,
		"EscalationPolicy " + http.MethodGet + " /api/teams/{team}/escalation":  1,
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
