package terdut_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestH28NameConflicts holds that a taken name is told apart from every other failure, is named with the id that has it, and changes
// nothing; and that the id is found by the name.
func TestH28NameConflicts(t *testing.T) {
	w := newWorld(t)
	before := must(w.server.Snapshot(w.ctx))(t)
	other := must(w.instance.CreateTeam(w.ctx, "other"))(t)
	w.server.ResetRequests()

	_, err := w.instance.CreateTeam(w.ctx, "ops")
	wants(t, "a taken name of a team", err, terdut.ReasonConflict)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("team %d", w.id)) {
		t.Errorf("the id is not named: %v", err)
	}
	err = w.instance.RenameTeam(w.ctx, other.ID, "ops")
	wants(t, "a taken name at a rename", err, terdut.ReasonConflict)
	_, err = w.instance.CreateServiceAccount(w.ctx, "provider-terdut", terdut.ScopeInstance, 0)
	wants(t, "a taken name of a service account", err, terdut.ReasonConflict)
	if n := w.server.Writes(); n != 3 {
		t.Errorf("want one request each, got %d", n)
	}
	if found := must(w.instance.FindTeam(w.ctx, "ops"))(t); found == nil || found.ID != w.id {
		t.Errorf("want team %d, got %v", w.id, found)
	}
	check(t, w.instance.DeleteTeam(w.ctx, other.ID))
	after := must(w.server.Snapshot(w.ctx))(t)
	before.Sequences, after.Sequences = nil, nil
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the server's state changed: -want, +got:\n%s", diff)
	}
}

// TestH29RefusedDelete holds that a refusal is shown with what is in the way, and that nothing else is deleted to get there.
func TestH29RefusedDelete(t *testing.T) {
	w := newWorld(t)
	w.server.SetModes(terdutserver.Modes{RefuseDeletes: true})
	sw := must(w.team.CreateDeadmanSwitch(w.ctx, w.id, terdut.DeadmanSwitchParameters{Matcher: "a=b", Timeout: terdut.Duration(time.Minute)}))(t)
	w.server.ResetRequests()
	err := w.instance.DeleteTeam(w.ctx, w.id)
	wants(t, "a team that is in use", err, terdut.ReasonConflict)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("switches [%d]", sw.ID)) {
		t.Errorf("the switch is not named: %v", err)
	}
	if n := w.server.Writes(); n != 1 {
		t.Errorf("want one write, got %d", n)
	}
	check(t, w.team.DeleteDeadmanSwitch(w.ctx, w.id, sw.ID))
	account := must(w.instance.FindServiceAccount(w.ctx, "ops"))(t)
	check(t, w.instance.DeleteServiceAccount(w.ctx, account.ID))
	check(t, w.instance.DeleteTeam(w.ctx, w.id))
}

// TestH30PolicyOrder holds that levels are read by position, that targets are a set, and that a change of order is one write.
func TestH30PolicyOrder(t *testing.T) {
	w := newWorld(t)
	var users []terdut.EscalationTarget
	for i := range 5 {
		id := must(w.server.AddUser(w.ctx, fmt.Sprintf("user-%d", i), ""))(t)
		users = append(users, terdut.EscalationTarget{Kind: terdut.TargetUser, UserID: id})
	}
	policy := terdut.EscalationPolicy{}
	for i := range 6 {
		targets := append(slices.Clone(users[:i%5]), terdut.EscalationTarget{Kind: terdut.TargetOnCall})
		policy.Levels = append(policy.Levels, terdut.EscalationLevel{Timeout: terdut.Duration(time.Duration(i+1) * time.Minute), Targets: targets})
	}
	check(t, w.team.SetEscalationPolicy(w.ctx, w.id, policy))
	w.server.SetModes(terdutserver.Modes{Shuffle: true})
	for range 20 {
		if got := must(w.team.EscalationPolicy(w.ctx, w.id))(t); !got.Equal(policy) {
			t.Fatalf("want %v, got %v", policy, got)
		}
	}
	swapped := terdut.EscalationPolicy{Levels: slices.Clone(policy.Levels)}
	swapped.Levels[1], swapped.Levels[2] = swapped.Levels[2], swapped.Levels[1]
	if swapped.Equal(policy) {
		t.Error("levels in another order are equal")
	}
	w.server.ResetRequests()
	check(t, w.team.SetEscalationPolicy(w.ctx, w.id, swapped))
	if got := must(w.team.EscalationPolicy(w.ctx, w.id))(t); !got.Equal(swapped) || w.server.Writes() != 1 {
		t.Errorf("after %d writes: want %v, got %v", w.server.Writes(), swapped, got)
	}
	twice := terdut.EscalationPolicy{Levels: []terdut.EscalationLevel{{Timeout: 1, Targets: []terdut.EscalationTarget{users[0], users[0], users[1]}}}}
	once := terdut.EscalationPolicy{Levels: []terdut.EscalationLevel{{Timeout: 1, Targets: []terdut.EscalationTarget{users[1], users[0]}}}}
	if !twice.Equal(once) || !once.Equal(twice) || once.Equal(terdut.EscalationPolicy{}) {
		t.Error("targets are not compared as a set")
	}
}

// TestH31Pagination holds that all pages are read, that only the exact name is found, and that two of that name are an error.
func TestH31Pagination(t *testing.T) {
	w := newWorld(t)
	check(t, w.server.Edit(w.ctx, func(s *terdutserver.State) {
		for i := range 250 {
			s.Teams = append(s.Teams, terdutserver.Team{ID: int64(100 + i), Name: fmt.Sprintf("hello-%d", i)})
		}
		s.Teams = append(s.Teams, terdutserver.Team{ID: 1000, Name: "hello"})
		for i := range 250 {
			s.Integrations = append(s.Integrations, terdutserver.Integration{ID: int64(1 + i), TeamID: w.id, Kind: "alertmanager", Name: "prod"})
		}
	}))
	for name, m := range map[string]terdutserver.Modes{
		"Plain":            {},
		"Prefix":           {PrefixSearch: true},
		"Pages":            {PrefixSearch: true, PageSize: 20},
		"PagesOfOne":       {PrefixSearch: true, PageSize: 1},
		"PagesEven":        {PrefixSearch: true, PageSize: 125},
		"ShuffledInPages":  {PrefixSearch: true, PageSize: 7, Shuffle: true},
		"ShuffledAsAWhole": {PrefixSearch: true, Shuffle: true},
	} {
		t.Run(name, func(t *testing.T) {
			w.server.SetModes(m)
			if got := must(w.instance.FindTeam(w.ctx, "hello"))(t); got == nil || got.ID != 1000 {
				t.Errorf("want team 1000, got %v", got)
			}
			if got := must(w.instance.FindTeam(w.ctx, "hell"))(t); got != nil {
				t.Errorf("want none, got %v", got)
			}
			if got := must(w.team.Integrations(w.ctx, w.id))(t); len(got) != 250 {
				t.Errorf("want 250 integrations, got %d", len(got))
			}
		})
	}
	t.Run("Ambiguous", func(t *testing.T) {
		check(t, w.server.Edit(w.ctx, func(s *terdutserver.State) { s.Teams = append(s.Teams, terdutserver.Team{ID: 2000, Name: "hello"}) }))
		_, err := w.instance.FindTeam(w.ctx, "hello")
		wants(t, "two teams of one name", err, terdut.ReasonAmbiguous)
		if want := `cannot find team "hello": 1000 and 2000 are both called "hello"`; err == nil || err.Error() != want {
			t.Errorf("want %q, got %v", want, err)
		}
	})
	t.Run("FailsOnTheWay", func(t *testing.T) {
		w.server.SetModes(terdutserver.Modes{PrefixSearch: true, PageSize: 20})
		defer w.server.Inject(terdutserver.Fault{Method: "GET", Skip: 3, Status: 502})()
		_, err := w.instance.FindTeam(w.ctx, "hello-1")
		wants(t, "a page that cannot be read", err, terdut.ReasonUnavailable)
	})
}

// TestH32OnlyARealNotFound holds what is believed of a 404: the API's own, from a server that takes the key.
func TestH32OnlyARealNotFound(t *testing.T) {
	cases := map[string]struct {
		reason string
		do     func(*testing.T, *world)
		want   terdut.Reason
	}{
		"Gone":            {"A team that is not there", func(*testing.T, *world) {}, terdut.ReasonNotFound},
		"Page":            {"A proxy's page", fault(terdutserver.Fault{Status: 404, ContentType: "text/html", Body: "<html>"}), terdut.ReasonNotAPI},
		"Text":            {"A router's text", fault(terdutserver.Fault{Status: 404, ContentType: "text/plain", Body: "404 page not found"}), terdut.ReasonNotAPI},
		"Other":           {"Another API's", fault(terdutserver.Fault{Status: 404, Body: `{"message":"not found"}`}), terdut.ReasonNotAPI},
		"TextOfOneRoute":  {"A router's text from a server that takes the key", fault(terdutserver.Fault{Route: "/api/teams/{team}", Status: 404, ContentType: "text/plain", Body: "404 page not found"}), terdut.ReasonNotAPI},
		"OtherOfOneRoute": {"Another API's from a server that takes the key", fault(terdutserver.Fault{Route: "/api/teams/{team}", Status: 404, Body: `{"message":"not found"}`}), terdut.ReasonNotAPI},
		"Gateway":         {"A gateway that says the same of everything", fault(terdutserver.Fault{Status: 404, Body: `{"error":"not found"}`}), terdut.ReasonNotAPI},
		"Revoked": {"A server that hides from strangers what there is", func(t *testing.T, w *world) {
			fault(terdutserver.Fault{Route: "/api/teams/{team}", Status: 404, Body: `{"error":"not found"}`})(t, w)
			check(t, w.admin.DeleteServiceAccountKey(w.ctx, w.account.ID, w.account.Key.ID))
		}, terdut.ReasonUnauthorized},
		"Reset":     {"A server that forgot everything", func(t *testing.T, w *world) { check(t, w.server.Forget(w.ctx)) }, terdut.ReasonUnauthorized},
		"Forbidden": {"Lost rights", fault(terdutserver.Fault{Status: 403}), terdut.ReasonForbidden},
		"Internal":  {"A failure", fault(terdutserver.Fault{Status: 500}), terdut.ReasonUnavailable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			check(t, w.admin.DeleteTeam(w.ctx, w.id))
			tc.do(t, w)
			_, err := w.instance.Team(w.ctx, w.id)
			wants(t, tc.reason+", read", err, tc.want)
			wants(t, tc.reason+", deleted", w.instance.DeleteTeam(w.ctx, w.id), tc.want)
			wants(t, tc.reason+", renamed", w.instance.RenameTeam(w.ctx, w.id, "x"), tc.want)
		})
	}
}

func fault(f terdutserver.Fault) func(*testing.T, *world) {
	return func(_ *testing.T, w *world) { w.server.Inject(f) }
}

// TestH36ZeroValues holds that what is empty is sent and clears, that what is not said stays, that durations compare by length, and
// that those that the server cannot hold are not sent.
func TestH36ZeroValues(t *testing.T) {
	w := newWorld(t)
	check(t, w.team.SetTeamGroups(w.ctx, w.id, "members", "owners"))
	check(t, w.instance.RenameTeam(w.ctx, w.id, "renamed"))
	if got := must(w.instance.Team(w.ctx, w.id))(t); got.MemberGroup != "members" || got.OwnerGroup != "owners" {
		t.Errorf("a rename changes the groups: %v", got)
	}
	check(t, w.team.SetTeamGroups(w.ctx, w.id, "", "owners"))
	if got := must(w.instance.Team(w.ctx, w.id))(t); got.MemberGroup != "" || got.OwnerGroup != "owners" {
		t.Errorf("one group is cleared: %v", got)
	}

	minute := terdut.Duration(time.Minute)
	full := terdut.EscalationPolicy{RepeatCount: 3, FallbackTopic: "ops", Levels: []terdut.EscalationLevel{{Timeout: minute, Targets: []terdut.EscalationTarget{{Kind: terdut.TargetOnCall}}}}}
	for _, p := range []terdut.EscalationPolicy{full, {Levels: []terdut.EscalationLevel{{Timeout: minute}}}, full, {}} {
		check(t, w.team.SetEscalationPolicy(w.ctx, w.id, p))
		if got := must(w.team.EscalationPolicy(w.ctx, w.id))(t); !got.Equal(p) {
			t.Errorf("want %v, got %v", p, got)
		}
	}
	sw := must(w.team.CreateDeadmanSwitch(w.ctx, w.id, terdut.DeadmanSwitchParameters{Name: "n", Matcher: "a=b", Timeout: minute, Severity: "critical"}))(t)
	check(t, w.team.UpdateDeadmanSwitch(w.ctx, w.id, sw.ID, terdut.DeadmanSwitchParameters{Matcher: "a=b", Timeout: minute}))
	want := []terdut.DeadmanSwitch{{ID: sw.ID, DeadmanSwitchParameters: terdut.DeadmanSwitchParameters{Name: "a=b", Matcher: "a=b", Timeout: minute}}}
	if diff := cmp.Diff(want, must(w.team.DeadmanSwitches(w.ctx, w.id))(t)); diff != "" {
		t.Errorf("name and severity are cleared: -want, +got:\n%s", diff)
	}

	w.server.ResetRequests()
	for _, d := range []time.Duration{0, -time.Minute, time.Millisecond, time.Minute + 1, math.MinInt64} {
		p := terdut.DeadmanSwitchParameters{Matcher: "a=b", Timeout: terdut.Duration(d)}
		_, err := w.team.CreateDeadmanSwitch(w.ctx, w.id, p)
		wants(t, fmt.Sprintf("create with %v", d), err, terdut.ReasonRejected)
		wants(t, fmt.Sprintf("update with %v", d), w.team.UpdateDeadmanSwitch(w.ctx, w.id, sw.ID, p), terdut.ReasonRejected)
		policy := terdut.EscalationPolicy{Levels: []terdut.EscalationLevel{{Timeout: terdut.Duration(d)}}}
		wants(t, fmt.Sprintf("level with %v", d), w.team.SetEscalationPolicy(w.ctx, w.id, policy), terdut.ReasonRejected)
	}
	for _, target := range []terdut.EscalationTarget{{Kind: terdut.TargetUser}, {Kind: terdut.TargetOnCall, UserID: 1}} {
		policy := terdut.EscalationPolicy{Levels: []terdut.EscalationLevel{{Timeout: minute, Targets: []terdut.EscalationTarget{target}}}}
		wants(t, fmt.Sprint(target), w.team.SetEscalationPolicy(w.ctx, w.id, policy), terdut.ReasonRejected)
	}
	if n := len(w.server.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestH36Durations holds what is read as which length.
func TestH36Durations(t *testing.T) {
	for in, want := range map[string]time.Duration{
		`"90s"`: 90 * time.Second, `"1m30s"`: 90 * time.Second, `90`: 90 * time.Second, `"1.5m"`: 90 * time.Second, `0.5`: time.Second / 2, `null`: 0, `"0s"`: 0, `0`: 0,
		`"-1s"`: -time.Second,
	} {
		c := answering(t, 200, nil, `[{"id":1,"timeout":`+in+`}]`)
		got, err := c.DeadmanSwitches(testContext(t), 1)
		if err != nil || len(got) != 1 || got[0].Timeout != terdut.Duration(want) {
			t.Errorf("%s: want %v, got %v: %v", in, want, got, err)
		}
	}
	for _, in := range []string{`"ninety"`, `""`, `1e300`, `-1e300`, `true`, `{}`, `"999999999999h"`} {
		_, err := answering(t, 200, nil, `[{"id":1,"timeout":`+in+`}]`).DeadmanSwitches(testContext(t), 1)
		wants(t, in, err, terdut.ReasonNotAPI)
	}
}

// TestH36FoldedNames holds that the client reports what a server made of a name, for the caller to compare with.
func TestH36FoldedNames(t *testing.T) {
	w := newWorld(t)
	w.server.SetModes(terdutserver.Modes{FoldNames: true})
	if got := must(w.instance.CreateTeam(w.ctx, " Mixed "))(t); got.Name != "mixed" {
		t.Errorf("want the server's name, got %q", got.Name)
	}
	if got := must(w.team.CreateIntegration(w.ctx, w.id, terdut.KindAlertmanager, "PROD"))(t); got.Name != "prod" {
		t.Errorf("want the server's name, got %q", got.Name)
	}
}

// TestCanonicalMatcher holds which matchers mean the same.
func TestCanonicalMatcher(t *testing.T) {
	for in, want := range map[string]string{
		"alertname=Watchdog,cluster=prod": "alertname=Watchdog,cluster=prod", " cluster = prod ,alertname=Watchdog": "alertname=Watchdog,cluster=prod",
		`b=~"x, y",a="1 \" 2"`: `a="1 \" 2",b=~"x, y"`, "a=b,": "a=b", "": "", "b!=1,a!~2": "a!~2,b!=1",
	} {
		if got := terdut.CanonicalMatcher(in); got != want || terdut.CanonicalMatcher(got) != want {
			t.Errorf("%q: want %q, got %q", in, want, got)
		}
	}
}
