package terdut_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// verbs are one call of each kind.
var verbs = map[string]func(context.Context, *terdut.Client) error{
	"Read":   func(ctx context.Context, c *terdut.Client) error { _, err := c.Team(ctx, 1); return err },
	"Find":   func(ctx context.Context, c *terdut.Client) error { _, err := c.FindTeam(ctx, "ops"); return err },
	"List":   func(ctx context.Context, c *terdut.Client) error { _, err := c.Integrations(ctx, 1); return err },
	"Policy": func(ctx context.Context, c *terdut.Client) error { _, err := c.EscalationPolicy(ctx, 1); return err },
	"Create": func(ctx context.Context, c *terdut.Client) error { _, err := c.CreateTeam(ctx, "ops"); return err },
	"Secret": func(ctx context.Context, c *terdut.Client) error {
		_, err := c.CreateIntegration(ctx, 1, terdut.KindAlertmanager, "prod")
		return err
	},
	"Update": func(ctx context.Context, c *terdut.Client) error { return c.RenameTeam(ctx, 1, "ops") },
	"Delete": func(ctx context.Context, c *terdut.Client) error { return c.DeleteTeam(ctx, 1) },
}

func isWrite(verb string) bool {
	return verb == "Create" || verb == "Secret" || verb == "Update" || verb == "Delete"
}

// TestAnswers holds how answers of servers, and of what stands before them, are told apart for every verb, which of them leave open
// whether a write took place, and that no error repeats a key that the server sends back.
func TestAnswers(t *testing.T) {
	const html = "text/html; charset=utf-8"
	type want struct {
		reason terdut.Reason
		// uncertain when the call is a write.
		uncertain bool
	}
	cases := map[string]struct {
		reason string
		status int
		header map[string]string
		body   string
		want   want
	}{
		"BadRequest":      {"The API refuses what is wrong", 400, nil, `{"error":"name is required"}`, want{terdut.ReasonRejected, false}},
		"Unprocessable":   {"Another status for the same", 422, nil, `{"error":"name is required"}`, want{terdut.ReasonRejected, false}},
		"BadRequestOther": {"Somebody else's 400", 400, nil, `bad request`, want{terdut.ReasonNotAPI, true}},
		"Unauthorized":    {"The key is not known", 401, nil, `{"error":"authentication required"}`, want{terdut.ReasonUnauthorized, false}},
		"NoBody":          {"An error's body may be missing", 401, nil, ``, want{terdut.ReasonUnauthorized, false}},
		"Forbidden":       {"The key does not reach this", 403, nil, `{"error":"forbidden"}`, want{terdut.ReasonForbidden, false}},
		"ForbiddenPage":   {"A firewall's page is not the API's", 403, map[string]string{"Content-Type": html}, `<html>`, want{terdut.ReasonNotAPI, true}},
		"NotFoundPage":    {"A proxy's page is not the API's", 404, map[string]string{"Content-Type": html}, `<html>`, want{terdut.ReasonNotAPI, true}},
		"NotFoundText":    {"A router's text is not the API's", 404, map[string]string{"Content-Type": "text/plain"}, "404 page not found\n", want{terdut.ReasonNotAPI, true}},
		"NotFoundNoBody":  {"A missing body proves nothing", 404, nil, ``, want{terdut.ReasonNotAPI, true}},
		"NotFoundOther":   {"JSON of another API", 404, nil, `{"message":"no Route matched with those values"}`, want{terdut.ReasonNotAPI, true}},
		"NotFoundPosing":  {"A page with the API's words", 404, map[string]string{"Content-Type": html}, `{"error":"not found"}`, want{terdut.ReasonNotAPI, true}},
		"NotFoundNoKey":   {"The API's words from one that knows no other: it does not take the key", 404, nil, `{"error":"not found"}`, want{terdut.ReasonNotAPI, true}},
		"Conflict":        {"The name is taken", 409, nil, `{"error":"team 3 has this name"}`, want{terdut.ReasonConflict, false}},
		"RateLimited":     {"Too many requests", 429, map[string]string{"Retry-After": "0"}, `slow down`, want{terdut.ReasonRateLimited, false}},
		"Internal":        {"The server may have acted before it failed", 500, nil, `{"error":"internal error"}`, want{terdut.ReasonUnavailable, true}},
		"BadGateway":      {"What is behind a proxy may have acted", 502, map[string]string{"Content-Type": html}, `<html>`, want{terdut.ReasonUnavailable, true}},
		"Unavailable":     {"Nobody knows", 503, nil, ``, want{terdut.ReasonUnavailable, true}},
		"LoginPage":       {"A login page is a success of somebody else", 200, map[string]string{"Content-Type": html}, `<html>`, want{terdut.ReasonNotAPI, true}},
		"NotJSON":         {"A success that is no JSON", 200, map[string]string{"Content-Type": "text/plain"}, `fine`, want{terdut.ReasonNotAPI, true}},
		"TooLarge":        {"An answer without an end", 200, nil, `{"id":1,"x":"` + strings.Repeat("x", 5<<20) + `"}`, want{terdut.ReasonUnavailable, true}},
	}
	for name, tc := range cases {
		for verb, call := range verbs {
			t.Run(name+"/"+verb, func(t *testing.T) {
				c := answering(t, tc.status, tc.header, tc.body)
				err := call(testContext(t), c)
				got := want{terdut.ReasonOf(err), terdut.IsUncertain(err)}
				w := tc.want
				w.uncertain = w.uncertain && isWrite(verb)
				if diff := cmp.Diff(w, got, cmp.AllowUnexported(want{})); diff != "" {
					t.Errorf("%s: -want, +got:\n%s\n%v", tc.reason, diff, err)
				}
			})
		}
	}
}

// TestSuccesses holds what is taken for a success, and that what lacks what is needed is not.
func TestSuccesses(t *testing.T) {
	cases := map[string]struct {
		reason string
		verb   string
		status int
		body   string
		want   terdut.Reason
	}{
		"CreatedWith200":  {"Any success will do", "Create", 200, `{"id":1,"name":"ops"}`, ""},
		"UnknownFields":   {"Unknown fields are ignored, optional ones may be missing", "Read", 200, `{"id":1,"schedule":{"x":[1]},"created_at":"2026-01-01T00:00:00Z"}`, ""},
		"UpdateNoContent": {"An update may be answered with nothing", "Update", 204, ``, ""},
		"UpdateWithBody":  {"Or with what became of it", "Update", 200, `{"id":1}`, ""},
		"DeleteWithBody":  {"A deletion may be answered with something", "Delete", 200, `{}`, ""},
		"ListNull":        {"Go's empty list", "List", 200, `null`, ""},
		"PolicyNull":      {"As above", "Policy", 200, `{"levels":null}`, ""},
		"NullFields":      {"A field may be null", "Read", 200, `{"id":1,"member_group":null}`, ""},
		"ReadOtherID":     {"An answer about another team", "Read", 200, `{"id":2}`, terdut.ReasonNotAPI},
		"ReadNoID":        {"An answer of somebody else", "Read", 200, `{"status":"ok"}`, terdut.ReasonNotAPI},
		"CreateNoID":      {"A create that does not say of what", "Create", 201, `{"name":"ops"}`, terdut.ReasonNotAPI},
		"SecretNoKey":     {"A key that is not shown is lost", "Secret", 201, `{"id":1,"url":"http://h"}`, terdut.ReasonNotAPI},
		"SecretNoURL":     {"As above", "Secret", 201, `{"id":1,"key":"k"}`, terdut.ReasonNotAPI},
		"ListObject":      {"A list in another form is not an empty one", "List", 200, `{"items":[]}`, terdut.ReasonNotAPI},
		"ListNoIDs":       {"Items of somebody else", "List", 200, `[{"name":"prod"}]`, terdut.ReasonNotAPI},
		"FindNoBody":      {"Nothing is not an empty list", "Find", 200, ``, terdut.ReasonNotAPI},
		"FindNoContent":   {"As above", "Find", 204, ``, terdut.ReasonNotAPI},
		"PolicyObject":    {"An object of somebody else is not the empty policy", "Policy", 200, `{}`, terdut.ReasonNotAPI},
		"WrongTypes":      {"Ids are numbers", "Read", 200, `{"id":"one"}`, terdut.ReasonNotAPI},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			wants(t, tc.reason, verbs[tc.verb](testContext(t), answering(t, tc.status, nil, tc.body)), tc.want)
		})
	}
}

// TestH34ErrorsHoldNoKey sends keys back in whatever a server controls.
func TestH34ErrorsHoldNoKey(t *testing.T) {
	key := string(sentinel)
	spaced := strings.ReplaceAll(key, "e", "e\u200b")
	for _, status := range []int{200, 301, 400, 401, 403, 404, 409, 429, 500, 503} {
		for _, text := range []string{key, "key " + key[:20], strings.ToUpper(key), spaced, "another " + strings.Repeat("0123456789abcdef", 4)} {
			for verb, call := range verbs {
				c := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Location", "https://u:"+key+"@elsewhere.example/"+key+"?token="+key)
					w.Header().Set("Retry-After", "0")
					w.WriteHeader(status)
					_, _ = w.Write([]byte(`{"error":"` + text + `"}`))
				})
				err := call(testContext(t), c)
				if err == nil {
					continue
				}
				if s := strings.ReplaceAll(err.Error(), "\u200b", ""); strings.Contains(strings.ToLower(s), key[:8]) || strings.Contains(s, "0123456789abcdef") {
					t.Errorf("%s, status %d: the error repeats a key", verb, status)
				}
			}
		}
	}
	c := answering(t, 409, nil, `{"error":"team 3 still has\n switches [7 9]`+strings.Repeat(" and more", 100)+`"}`)
	err := c.DeleteTeam(testContext(t), 3)
	if err == nil || !strings.Contains(err.Error(), "team 3 still has switches [7 9]") || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
		t.Errorf("a refusal is shown on one bounded line: %v", err)
	}
}

// TestH38NothingIsSentAgain holds that nothing is sent again, and that what may have taken place is said to.
func TestH38NothingIsSentAgain(t *testing.T) {
	for verb, call := range verbs {
		for name, f := range map[string]terdutserver.Fault{"Before": {Drop: true}, "After": {Drop: true, Commit: true}, "Truncated": {Truncate: true}} {
			t.Run(verb+"/"+name, func(t *testing.T) {
				w := newWorld(t)
				_, err := w.admin.Healthy(w.ctx)
				check(t, err) // The connection is in use already.
				if verb == "Create" {
					check(t, w.admin.DeleteTeam(w.ctx, w.id))
				}
				w.server.ResetRequests()
				w.server.Inject(f)
				err = call(w.ctx, w.admin)
				if verb == "Delete" && name == "Truncated" && err == nil {
					return // 204 has no body that could be cut off.
				}
				wants(t, "a dropped connection", err, terdut.ReasonUnavailable)
				if terdut.IsUncertain(err) != isWrite(verb) {
					t.Errorf("uncertain: %v", terdut.IsUncertain(err))
				}
				if n := len(w.server.Requests()); isWrite(verb) && n != 1 {
					t.Errorf("want one request, got %d", n)
				}
			})
		}
	}
}

// TestNotSent holds that a write that was not sent is known not to have taken place.
func TestNotSent(t *testing.T) {
	c := newClient(t, "http://127.0.0.1:1", sentinel) // Nobody listens on a port that needs privileges and has no use.
	for verb, call := range verbs {
		err := call(testContext(t), c)
		wants(t, verb, err, terdut.ReasonUnavailable)
		if terdut.IsUncertain(err) {
			t.Errorf("%s may have taken place on a server that does not listen", verb)
		}
		if again := call(testContext(t), c); err == nil || again == nil || err.Error() != again.Error() {
			t.Errorf("%s: the text differs from one time to the next: %v, %v", verb, err, again)
		}
	}
}

// TestEndlessAnswer holds that no more is read of an answer than could be one.
func TestEndlessAnswer(t *testing.T) {
	const mib, most = 1 << 20, 256
	sent := make(chan int, 1)
	c := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		n := 0
		for ; n < most; n++ {
			if _, err := w.Write(make([]byte, mib)); err != nil {
				break
			}
		}
		sent <- n
	})
	wants(t, "an endless answer", verbs["Read"](testContext(t), c), terdut.ReasonUnavailable)
	if n := <-sent; n > most/2 {
		t.Errorf("%d MiB were read", n)
	}
}
