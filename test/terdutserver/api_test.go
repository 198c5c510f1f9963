package terdutserver_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// A world is a server with two teams, and a key of each kind.
type world struct {
	tester

	server *terdutserver.Server
	keys   map[string]string
	log    *buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	log := newBuffer()
	s := start(t, terdutserver.Options{Log: slog.New(slog.NewTextHandler(log, nil))})
	w := &world{tester: tester{t, s.URL()}, server: s, log: log, keys: map[string]string{"None": "", "Unknown": strings.Repeat("0", 64)}}
	w.keys["Admin"] = w.want(201, "POST", "/api/bootstrap", "", `{"username":"root","email":"root@terdut.example"}`).get(t, "api_key", "key")
	w.keys["Instance"] = w.want(201, "POST", "/api/service-accounts", w.keys["Admin"], `{"name":"provider","scope":"instance"}`).get(t, "key", "key")
	for i, team := range []string{"Own", "Other"} {
		w.want(201, "POST", "/api/teams", w.keys["Instance"], fmt.Sprintf(`{"name":%q}`, team))
		w.keys[team] = w.want(201, "POST", "/api/service-accounts", w.keys["Instance"], fmt.Sprintf(`{"name":%q,"scope":"team","team_id":%d}`, team, i+1)).get(t, "key", "key")
	}
	w.want(201, "POST", "/api/teams/1/deadman/switches", w.keys["Own"], `{"matcher":"b=2, a=1","timeout":"90s","severity":"critical"}`)
	w.want(201, "POST", "/api/teams/1/integrations", w.keys["Own"], `{"kind":"alertmanager","name":"prod"}`)
	return w
}

// TestScopes holds which key reaches what, for each route.
func TestScopes(t *testing.T) {
	any4 := []string{"Admin", "Instance", "Own", "Other"}
	instance, own := []string{"Admin", "Instance"}, []string{"Admin", "Own"}
	const sw = `{"matcher":"a=1","timeout":"1m","severity":"x"}`
	cases := map[string]struct {
		body    string
		reaches []string
	}{
		"GET /api/users": {"", any4},
		"GET /api/service-accounts?name=provider":  {"", any4},
		"POST /api/service-accounts":               {`{"name":"new","scope":"instance"}`, instance},
		"GET /api/service-accounts/2/keys":         {"", instance},
		"POST /api/service-accounts/2/keys":        {"", instance},
		"DELETE /api/service-accounts/2/keys/3":    {"", instance},
		"DELETE /api/service-accounts/3":           {"", instance},
		"GET /api/teams?name=Own":                  {"", instance},
		"GET /api/teams/1":                         {"", instance},
		"POST /api/teams":                          {`{"name":"new"}`, instance},
		"PUT /api/teams/1":                         {`{"name":"renamed"}`, instance},
		"DELETE /api/teams/1":                      {"", instance},
		"PUT /api/teams/1/oidc-groups":             {`{"member_group":"m"}`, own},
		"GET /api/teams/1/escalation":              {"", own},
		"PUT /api/teams/1/escalation":              {`{"levels":[]}`, own},
		"GET /api/teams/1/deadman/switches":        {"", own},
		"POST /api/teams/1/deadman/switches":       {sw, own},
		"PUT /api/teams/1/deadman/switches/1":      {sw, own},
		"DELETE /api/teams/1/deadman/switches/1":   {"", own},
		"GET /api/teams/1/integrations":            {"", own},
		"POST /api/teams/1/integrations":           {`{"kind":"alertmanager","name":"n"}`, own},
		"PATCH /api/teams/1/integrations/1":        {`{"name":"n"}`, own},
		"DELETE /api/teams/1/integrations/1":       {"", own},
		"GET /api/teams/99/escalation":             {"", []string{"Admin"}},
		"DELETE /api/teams/2/deadman/switches/1":   {"", []string{"Admin", "Other"}},
		"PATCH /api/teams/2/integrations/1":        {`{"name":"n"}`, []string{"Admin", "Other"}},
		"GET /api/nothing":                         {"", any4},
		"POST /api/teams/1/integrations/1/nothing": {"", any4},
	}
	// Rows that are there for the path, but belong elsewhere or nowhere.
	missing := map[string]bool{
		"GET /api/teams/99/escalation": true, "DELETE /api/teams/2/deadman/switches/1": true, "PATCH /api/teams/2/integrations/1": true,
		"GET /api/nothing": true, "POST /api/teams/1/integrations/1/nothing": true,
	}
	for route, tc := range cases {
		t.Run(route, func(t *testing.T) {
			method, path, _ := strings.Cut(route, " ")
			for _, name := range []string{"None", "Unknown", "Admin", "Instance", "Own", "Other"} {
				w := newWorld(t)
				got := w.send(method, path, w.keys[name], tc.body)
				want := 403
				switch {
				case name == "None" || name == "Unknown":
					want = 401
				case contains(tc.reaches, name) && missing[route]:
					want = 404
				case contains(tc.reaches, name):
					want = got.status / 100 * 100 // Any success.
					if want != 200 {
						t.Errorf("%s: got %d", name, got.status)
					}
					continue
				}
				if got.status != want {
					t.Errorf("%s: want %d, got %d", name, want, got.status)
				}
				if n := w.server.Requests(); n[len(n)-1].Committed {
					t.Errorf("%s: a refused request counts as carried out", name)
				}
			}
		})
	}
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// TestRules holds what the API says of each kind of row.
func TestRules(t *testing.T) {
	cases := map[string]struct {
		reason, key, route, body string
		want                     int
	}{
		"BootstrapTwice":     {"Once any user exists", "None", "POST /api/bootstrap", `{"username":"x","email":"y"}`, 403},
		"BootstrapByAdmin":   {"Whoever asks", "Admin", "POST /api/bootstrap", `{"username":"x","email":"y"}`, 403},
		"TeamTwice":          {"Names of teams are unique", "Instance", "POST /api/teams", `{"name":"Own"}`, 409},
		"TeamRenamedToOther": {"At a rename, too", "Instance", "PUT /api/teams/1", `{"name":"Other"}`, 409},
		"TeamRenamedToSelf":  {"Its own name is no conflict", "Instance", "PUT /api/teams/1", `{"name":"Own"}`, 200},
		"AccountTwice":       {"Names of accounts are unique", "Instance", "POST /api/service-accounts", `{"name":"provider","scope":"instance"}`, 409},
		"AccountNoTeam":      {"A team-scoped account needs a team", "Instance", "POST /api/service-accounts", `{"name":"x","scope":"team"}`, 400},
		"AccountScope":       {"Scopes are two", "Instance", "POST /api/service-accounts", `{"name":"x","scope":"all"}`, 400},
		"SwitchTwice":        {"Names of switches are not unique", "Own", "POST /api/teams/1/deadman/switches", `{"name":"a=1,b=2","matcher":"a=1","timeout":"1m"}`, 201},
		"SwitchTimeout":      {"Whole seconds", "Own", "POST /api/teams/1/deadman/switches", `{"matcher":"a=1","timeout":"1ms"}`, 400},
		"SwitchMatcher":      {"A matcher has labels", "Own", "POST /api/teams/1/deadman/switches", `{"matcher":"a","timeout":"1m"}`, 400},
		"PolicyUser":         {"Users exist", "Own", "PUT /api/teams/1/escalation", `{"levels":[{"timeout":"1m","targets":[{"kind":"user","user_id":9}]}]}`, 400},
		"PolicyKind":         {"Kinds are two", "Own", "PUT /api/teams/1/escalation", `{"levels":[{"timeout":"1m","targets":[{"kind":"team"}]}]}`, 400},
		"PolicyUsername":     {"There is no username", "Own", "PUT /api/teams/1/escalation", `{"levels":[{"timeout":"1m","targets":[{"kind":"user","username":"root"}]}]}`, 400},
		"IntegrationKind":    {"One kind", "Own", "POST /api/teams/1/integrations", `{"kind":"x","name":"n"}`, 400},
		"NotJSON":            {"Bodies are JSON", "Instance", "POST /api/teams", `name=x`, 400},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			method, path, _ := strings.Cut(tc.route, " ")
			before, _ := json.Marshal(must(w.server.Snapshot(testContext(t)))(t))
			got := w.send(method, path, w.keys[tc.key], tc.body)
			if got.status != tc.want {
				t.Errorf("%s: want %d, got %d", tc.reason, tc.want, got.status)
			}
			after, _ := json.Marshal(must(w.server.Snapshot(testContext(t)))(t))
			if tc.want >= 400 && (string(before) != string(after) || got.get(t, "error") == "") {
				t.Errorf("%s: a refusal changes something, or does not say why", tc.reason)
			}
		})
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestKeysAreShownOnce holds that no read, snapshot, count or log line holds a key or the hash of one, and that a webhook works with its own.
func TestKeysAreShownOnce(t *testing.T) {
	w := newWorld(t)
	in := w.want(201, "POST", "/api/teams/1/integrations", w.keys["Own"], `{"kind":"alertmanager","name":"hook"}`)
	path := strings.TrimPrefix(in.get(t, "url"), w.server.URL())
	w.want(202, "POST", path, "", `{"alerts":[]}`)
	w.want(404, "POST", path+"0", "", `{"alerts":[]}`)

	everything := ""
	for _, path := range []string{
		"/api/users", "/api/service-accounts", "/api/service-accounts/1/keys", "/api/teams", "/api/teams/1", "/api/teams/1/integrations", "/api/teams/1/deadman/switches",
	} {
		everything += w.want(200, "GET", path, w.keys["Admin"], "").body
	}
	st := must(w.server.Snapshot(testContext(t)))(t)
	if len(st.Integrations) != 2 || st.Integrations[1].Alerts != 1 {
		t.Errorf("the alert is not counted: %v", st.Integrations)
	}
	for _, v := range []any{st, w.server.Requests()} {
		b, _ := json.Marshal(v)
		everything += string(b)
	}
	everything += w.log.String()
	if regexp.MustCompile(`[0-9a-fA-F]{32}`).MatchString(everything) {
		t.Error("a key, or the hash of one, is shown again")
	}
	if !strings.Contains(w.log.String(), "credential=service-account/Own") {
		t.Error("the log does not name who asks")
	}
}

// TestTeamGoesWithItsRows holds what the deletion of a team takes with it, and that it can be refused.
func TestTeamGoesWithItsRows(t *testing.T) {
	w := newWorld(t)
	w.server.SetModes(terdutserver.Modes{RefuseDeletes: true})
	got := w.want(409, "DELETE", "/api/teams/1", w.keys["Instance"], "")
	if want := "team 1 still has integrations [1], service accounts [2], switches [1]"; got.get(t, "error") != want {
		t.Errorf("want %q, got %q", want, got.get(t, "error"))
	}
	w.server.SetModes(terdutserver.Modes{})
	w.want(204, "DELETE", "/api/teams/1", w.keys["Instance"], "")
	w.want(404, "DELETE", "/api/teams/1", w.keys["Instance"], "")
	w.want(401, "GET", "/api/users", w.keys["Own"], "")
	st := must(w.server.Snapshot(testContext(t)))(t)
	if len(st.Teams) != 1 || len(st.Switches) != 0 || len(st.Integrations) != 0 || len(st.ServiceAccounts) != 2 {
		t.Errorf("rows are left: %v", st)
	}
	if again := w.want(201, "POST", "/api/teams", w.keys["Instance"], `{"name":"Own"}`); again.get(t, "id") != "3" {
		t.Errorf("an id is used twice: %s", again.get(t, "id"))
	}
}
