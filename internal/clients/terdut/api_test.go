package terdut_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestEachKind creates, reads, changes and deletes everything with the narrowest key, and compares with what the server holds.
func TestEachKind(t *testing.T) {
	w := newWorld(t)
	state := func() *terdutserver.State { return must(w.server.Snapshot(w.ctx))(t) }

	_, err := w.instance.Healthy(w.ctx)
	check(t, err)
	check(t, w.instance.RenameTeam(w.ctx, w.id, "ops-2"))
	check(t, w.team.SetTeamGroups(w.ctx, w.id, "members", "owners"))
	team := must(w.instance.FindTeam(w.ctx, "ops-2"))(t)
	if diff := cmp.Diff(&terdut.Team{ID: w.id, Name: "ops-2", MemberGroup: "members", OwnerGroup: "owners"}, team); diff != "" {
		t.Errorf("Team: -want, +got:\n%s", diff)
	}
	users := must(w.team.Users(w.ctx))(t)
	if len(users) != 1 || users[0].Username != "root" {
		t.Fatalf("want one user, got %v", users)
	}

	policy := terdut.EscalationPolicy{RepeatCount: 2, FallbackTopic: "ops", Levels: []terdut.EscalationLevel{
		{Timeout: terdut.Duration(5 * time.Minute), Targets: []terdut.EscalationTarget{{Kind: terdut.TargetOnCall}, {Kind: terdut.TargetUser, UserID: users[0].ID}}},
		{Timeout: terdut.Duration(15 * time.Minute), Targets: []terdut.EscalationTarget{{Kind: terdut.TargetOnCall}}},
	}}
	check(t, w.team.SetEscalationPolicy(w.ctx, w.id, policy))
	if got := must(w.team.EscalationPolicy(w.ctx, w.id))(t); !got.Equal(policy) {
		t.Errorf("EscalationPolicy: want %v, got %v", policy, got)
	}
	if got := state().Policies[w.id].Levels[0].Timeout; got != "5m0s" {
		t.Errorf("the server holds the timeout %q", got)
	}

	sw := terdut.DeadmanSwitchParameters{Matcher: "cluster=prod, alertname=Watchdog", Timeout: terdut.Duration(15 * time.Minute), Severity: "critical"}
	made := must(w.team.CreateDeadmanSwitch(w.ctx, w.id, sw))(t)
	if made.Name != terdut.CanonicalMatcher(sw.Matcher) || made.Name != "alertname=Watchdog,cluster=prod" {
		t.Errorf("the server derives the name %q", made.Name)
	}
	sw.Name, sw.Severity = "watchdog", "warning"
	check(t, w.team.UpdateDeadmanSwitch(w.ctx, w.id, made.ID, sw))
	if diff := cmp.Diff([]terdut.DeadmanSwitch{{ID: made.ID, DeadmanSwitchParameters: sw}}, must(w.team.DeadmanSwitches(w.ctx, w.id))(t)); diff != "" {
		t.Errorf("DeadmanSwitches: -want, +got:\n%s", diff)
	}
	check(t, w.team.DeleteDeadmanSwitch(w.ctx, w.id, made.ID))

	in := must(w.team.CreateIntegration(w.ctx, w.id, terdut.KindAlertmanager, "prod"))(t)
	resp, err := http.Post(string(in.URL), "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal("cannot reach the webhook") // The error holds its URL.
	}
	_ = resp.Body.Close()
	if resp.StatusCode/100 != 2 || !strings.Contains(string(in.URL), string(in.Key)) {
		t.Errorf("the webhook answers %d", resp.StatusCode)
	}
	check(t, w.team.RenameIntegration(w.ctx, w.id, in.ID, "prod-2"))
	if diff := cmp.Diff([]terdut.Integration{{ID: in.ID, Kind: "alertmanager", Name: "prod-2"}}, must(w.team.Integrations(w.ctx, w.id))(t)); diff != "" {
		t.Errorf("Integrations: -want, +got:\n%s", diff)
	}
	check(t, w.team.DeleteIntegration(w.ctx, w.id, in.ID))

	check(t, w.instance.DeleteTeam(w.ctx, w.id))
	if st := state(); len(st.Teams)+len(st.Policies)+len(st.Switches)+len(st.Integrations) != 0 {
		t.Errorf("rows are left: %v", st)
	}
}

// TestKeys rotates: a new key works while the old one does, until that is revoked.
func TestKeys(t *testing.T) {
	w := newWorld(t)
	k := must(w.instance.CreateServiceAccountKey(w.ctx, w.account.ID))(t)
	next := w.instance.WithToken(k.Key)
	check(t, w.instance.RenameTeam(w.ctx, w.id, "old-key"))
	keys := must(next.ServiceAccountKeys(w.ctx, w.account.ID))(t)
	if len(keys) != 2 || keys[0].Created.IsZero() {
		t.Errorf("want two keys with times, got %v", keys)
	}
	check(t, next.DeleteServiceAccountKey(w.ctx, w.account.ID, w.account.Key.ID))
	_, err := w.instance.Team(w.ctx, w.id)
	wants(t, "a revoked key", err, terdut.ReasonUnauthorized)
	check(t, next.RenameTeam(w.ctx, w.id, "new-key"))

	found := must(w.team.FindServiceAccount(w.ctx, "provider-terdut"))(t)
	if diff := cmp.Diff(&w.account.ServiceAccount, found); diff != "" {
		t.Errorf("FindServiceAccount: -want, +got:\n%s", diff)
	}
	check(t, next.DeleteServiceAccount(w.ctx, w.account.ID))
	_, err = next.Team(w.ctx, w.id)
	wants(t, "a key of a deleted account", err, terdut.ReasonUnauthorized)
}

// TestBootstrapOnce holds that the second bootstrap is told apart from every other failure.
func TestBootstrapOnce(t *testing.T) {
	w := newWorld(t)
	_, err := w.admin.Bootstrap(w.ctx, "again", "again@terdut.example")
	wants(t, "the second bootstrap", err, terdut.ReasonForbidden)
	if want := "cannot bootstrap server: the server has users already (status 403)"; err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
	if n := w.server.Count("POST", "/api/bootstrap", "anonymous"); n != 1 {
		t.Errorf("want one bootstrap without a key, got %d", n)
	}
}

// TestH37Endpoint holds that spellings of an endpoint mean the same, and which are refused.
func TestH37Endpoint(t *testing.T) {
	w := newWorld(t)
	proxy := http.NewServeMux()
	proxy.Handle("/on/call/", http.StripPrefix("/on/call", w.server))
	prefixed := scripted(t, proxy.ServeHTTP)
	for name, base := range map[string]string{"Plain": w.server.URL(), "Prefix": prefixed.Endpoint() + "/on/call"} {
		want := newClient(t, base, "").Endpoint()
		for _, suffix := range []string{"", "/", "//", "/api", "/api/"} {
			c := newClient(t, base+suffix, "").WithToken(w.account.Key.Key)
			if _, err := c.Team(w.ctx, w.id); err != nil || c.Endpoint() != want {
				t.Errorf("%s%q: endpoint %q, want %q: %v", name, suffix, c.Endpoint(), want, err)
			}
		}
	}
	for in, want := range map[string]string{
		"HTTPS://Terdut.Example:443/": "https://terdut.example", "http://terdut:80": "http://terdut", "http://[::1]:80/api": "http://[::1]", "http://h:8080": "http://h:8080",
	} {
		if got := newClient(t, in, "").Endpoint(); got != want {
			t.Errorf("%s: want %q, got %q", in, want, got)
		}
	}
	for _, bad := range []string{"", "terdut:8080", "ftp://h", "http://u:p@h", "http://h?q=1", "http://h#f", "http://"} {
		if _, err := terdut.New(terdut.Config{Endpoint: bad}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if _, err := terdut.New(terdut.Config{Endpoint: "http://h", Token: sentinel + "\n"}); err == nil || strings.Contains(err.Error(), string(sentinel)) {
		t.Errorf("a token with a line break: %v", err)
	}
	if _, err := terdut.New(terdut.Config{Endpoint: "http://h", CABundle: []byte("no certificate")}); err == nil {
		t.Error("a CA bundle without a certificate is accepted")
	}
}

// TestH34SecretsDoNotPrint holds that nothing that carries a secret shows it when it is printed.
func TestH34SecretsDoNotPrint(t *testing.T) {
	c := newClient(t, "http://h", sentinel)
	for _, v := range []any{
		sentinel, terdut.APIKey{Key: sentinel}, &terdut.NewIntegration{Key: sentinel, URL: sentinel}, terdut.Config{Token: sentinel}, c, *c,
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			if s := fmt.Sprintf(verb, v); strings.Contains(s, string(sentinel[:8])) || strings.Contains(s, fmt.Sprintf("%x", string(sentinel[:8]))) {
				t.Errorf("%T prints its secret with %s", v, verb)
			}
		}
	}
}

// TestContext holds that a caller that goes away is not waited for.
func TestContext(t *testing.T) {
	w := newWorld(t)
	defer w.server.Inject(terdutserver.Fault{Delay: time.Hour})()
	ctx, cancel := context.WithTimeout(w.ctx, 50*time.Millisecond)
	defer cancel()
	_, err := w.instance.Team(ctx, w.id)
	wants(t, "a caller that went away", err, terdut.ReasonUnavailable)
}
