package terdutserver_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestFaults holds what a client sees of each fault, and whether the request was carried out.
func TestFaults(t *testing.T) {
	type want struct {
		status int
		failed bool
		body   string
		teams  int
	}
	cases := map[string]struct {
		reason string
		fault  terdutserver.Fault
		want   want
	}{
		"None":          {"A fault of another route is not met", terdutserver.Fault{Route: "/api/users", Drop: true}, want{201, false, `"id":3`, 3}},
		"OtherMethod":   {"Nor one of another method", terdutserver.Fault{Method: "GET", Drop: true}, want{201, false, `"id":3`, 3}},
		"DropBefore":    {"No answer, and nothing happened", terdutserver.Fault{Drop: true}, want{0, true, "", 2}},
		"DropAfter":     {"No answer, and it happened", terdutserver.Fault{Drop: true, Commit: true}, want{0, true, "", 3}},
		"Truncate":      {"Half an answer", terdutserver.Fault{Truncate: true}, want{201, true, `{"id":3`, 3}},
		"Delay":         {"A late answer", terdutserver.Fault{Delay: time.Millisecond}, want{201, false, `"id":3`, 3}},
		"Status":        {"An error in the API's form", terdutserver.Fault{Status: 500}, want{500, false, `"error"`, 2}},
		"StatusAfter":   {"An error although it happened", terdutserver.Fault{Status: 500, Commit: true}, want{500, false, `"error"`, 3}},
		"Page":          {"An answer of somebody else", terdutserver.Fault{Status: 404, ContentType: "text/html", Body: "<html>"}, want{404, false, "<html>", 2}},
		"RateLimited":   {"With a header", terdutserver.Fault{Status: 429, Header: map[string]string{"Retry-After": "7"}}, want{429, false, `"error"`, 2}},
		"Skipped":       {"A fault that is yet to come", terdutserver.Fault{Skip: 1, Drop: true}, want{201, false, `"id":3`, 3}},
		"TruncateError": {"Half an answer of another status", terdutserver.Fault{Status: 404, Truncate: true}, want{404, true, `{"error"`, 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.server.ResetRequests()
			cancel := w.server.Inject(tc.fault)
			got := w.send("POST", "/api/teams", w.keys["Instance"], `{"name":"new"}`)
			if got.status != tc.want.status || (got.err != nil) != tc.want.failed || !strings.Contains(got.body, tc.want.body) {
				t.Errorf("%s: want %v, got %d, %v", tc.reason, tc.want, got.status, got.err)
			}
			if name == "RateLimited" && got.header.Get("Retry-After") != "7" {
				t.Error("the header is missing")
			}
			reqs := w.server.Requests()
			if len(reqs) != 1 || reqs[0].Status != tc.want.status || reqs[0].Committed != (tc.want.teams == 3) || reqs[0].Credential != "service-account/provider" {
				t.Errorf("%s: recorded as %v", tc.reason, reqs)
			}
			if n := len(must(w.server.Snapshot(testContext(t)))(t).Teams); n != tc.want.teams {
				t.Errorf("%s: want %d teams, got %d", tc.reason, tc.want.teams, n)
			}
			cancel()
			w.want(200, "GET", "/api/teams", w.keys["Instance"], "")
		})
	}
}

// TestFaultTimes holds how often a fault is met.
func TestFaultTimes(t *testing.T) {
	w := newWorld(t)
	w.server.Inject(terdutserver.Fault{Skip: 1, Times: 2, Status: 503})
	var got []int
	for range 5 {
		got = append(got, w.send("GET", "/api/users", w.keys["Own"], "").status)
	}
	if got[0] != 200 || got[1] != 503 || got[2] != 503 || got[3] != 200 || got[4] != 200 {
		t.Errorf("got %v", got)
	}
	if w.server.Count("GET", "/api/users", "service-account/Own") != 5 || w.server.Count("GET", "/api/users", "user/root") != 0 {
		t.Error("requests are not counted by credential")
	}
}

// TestForget holds that a server that forgot everything takes no key, and can be bootstrapped again.
func TestForget(t *testing.T) {
	w := newWorld(t)
	if err := w.server.Forget(testContext(t)); err != nil {
		t.Fatal(err)
	}
	w.want(401, "GET", "/api/users", w.keys["Admin"], "")
	again := w.want(201, "POST", "/api/bootstrap", "", `{"username":"root","email":"root@terdut.example"}`)
	if got := w.want(201, "POST", "/api/teams", again.get(t, "api_key", "key"), `{"name":"Other"}`).get(t, "id"); got != "1" {
		t.Errorf("want ids to start again, got %s", got)
	}
}

// TestControl holds that another process can look at the server and make it misbehave.
func TestControl(t *testing.T) {
	w := newWorld(t)
	h := httptest.NewServer(w.server.Control())
	t.Cleanup(h.Close)
	c := tester{t, h.URL}

	c.want(204, "POST", "/faults", "", `{"route":"/api/users","status":503}`)
	c.want(400, "POST", "/faults", "", `{"rout":"/api/users","status":503}`)
	w.want(503, "GET", "/api/users", w.keys["Own"], "")
	c.want(204, "DELETE", "/faults", "", "")
	w.want(200, "GET", "/api/users", w.keys["Own"], "")

	c.want(204, "PUT", "/modes", "", `{"page_size":1}`)
	if got := w.want(200, "GET", "/api/teams", w.keys["Instance"], "").header.Get("Link"); got != `</api/teams?page=2>; rel="next"` {
		t.Errorf("the link is %q", got)
	}
	if got := c.want(200, "POST", "/users", "", `{"username":"alice","email":"a@terdut.example"}`).get(t, "id"); got != "2" {
		t.Errorf("the user has id %s", got)
	}
	key := c.want(200, "POST", "/admins", "", `{"username":"bob"}`).get(t, "key")
	w.want(200, "GET", "/api/teams/1/escalation", key, "")
	if !strings.Contains(c.want(200, "GET", "/state", "", "").body, `"alice"`) || !strings.Contains(c.want(200, "GET", "/requests", "", "").body, `"user/bob"`) {
		t.Error("state or requests are not shown")
	}
	c.want(204, "DELETE", "/requests", "", "")
	if n := len(w.server.Requests()); n != 0 {
		t.Errorf("%d requests are left", n)
	}
	c.want(204, "POST", "/forget", "", "")
	w.want(401, "GET", "/api/users", key, "")
}
