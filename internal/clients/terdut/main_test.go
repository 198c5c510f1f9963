package terdut_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// sentinel is a key of the form that the server hands out, where a test makes one up.
const sentinel terdut.Secret = "5e4714e15e4714e15e4714e15e4714e15e4714e15e4714e15e4714e15e4714e1"

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
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

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants fails the test unless the error has the reason.
func wants(t *testing.T, what string, err error, want terdut.Reason) {
	t.Helper()
	if got := terdut.ReasonOf(err); got != want {
		t.Errorf("%s: want reason %q, got %q: %v", what, want, got, err)
	}
}

// newClient of an endpoint.
func newClient(t *testing.T, endpoint string, token terdut.Secret, mods ...func(*terdut.Config)) *terdut.Client {
	t.Helper()
	cfg := terdut.Config{Endpoint: endpoint, Token: token, Timeout: 30 * time.Second}
	for _, m := range mods {
		m(&cfg)
	}
	c, err := terdut.New(cfg)
	if err != nil {
		t.Fatalf("New(...): %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// A world is the stand-in with a team, and a client with each kind of key.
type world struct {
	server *terdutserver.Server
	ctx    context.Context

	admin, instance, team *terdut.Client
	account               *terdut.NewServiceAccount
	id                    int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := newKeptWorld(t)
	t.Cleanup(w.server.Close)
	return w
}

// newKeptWorld is made through the client alone. Its server runs until the process ends: a pause that a test makes outlives the test, and must
// not meet another server that is given the same port.
func newKeptWorld(t *testing.T) *world {
	t.Helper()
	s := must(terdutserver.Start(terdutserver.Options{}))(t)
	w := &world{server: s, ctx: testContext(t)}
	anonymous := newClient(t, s.URL(), "")
	b := must(anonymous.Bootstrap(w.ctx, "root", "root@terdut.example"))(t)
	w.admin = anonymous.WithToken(b.Key.Key)
	w.account = must(w.admin.CreateServiceAccount(w.ctx, "provider-terdut", terdut.ScopeInstance, 0))(t)
	w.instance = anonymous.WithToken(w.account.Key.Key)
	w.id = must(w.instance.CreateTeam(w.ctx, "ops"))(t).ID
	w.team = anonymous.WithToken(must(w.instance.CreateServiceAccount(w.ctx, "ops", terdut.ScopeTeam, w.id))(t).Key.Key)
	s.ResetRequests()
	return w
}

// scripted returns a client of a server that answers with h.
func scripted(t *testing.T, h http.HandlerFunc, mods ...func(*terdut.Config)) *terdut.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return newClient(t, s.URL, sentinel, mods...)
}

// answering returns a client of a server that answers everything alike.
func answering(t *testing.T, status int, header map[string]string, body string) *terdut.Client {
	t.Helper()
	return scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

// seen keeps what hostile servers got.
type seen struct {
	mu   sync.Mutex
	reqs []*http.Request
}

func (s *seen) add(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reqs = append(s.reqs, r)
}

func (s *seen) all() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reqs
}
