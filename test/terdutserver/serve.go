package terdutserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
)

// maxBody bounds the body of a request in bytes.
const maxBody = 1 << 20

// A call is one request to the API, and the state that it sees.
type call struct {
	*State

	r     *http.Request
	modes Modes
	base  string
}

// An answer of the API.
type answer struct {
	status int
	body   any
	next   string
}

// A refusal is an answer that changes nothing.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status: status, text: fmt.Sprintf(format, args...)}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, pattern := s.mux.Handler(r)
	_, route, _ := strings.Cut(pattern, " ")
	api := strings.HasPrefix(r.URL.Path, "/api/")
	rec := Request{Method: r.Method, Route: route, Credential: callerAnonymous, Account: accountIn(r.URL.Path)}
	if route == "" {
		rec.Route = r.URL.Path
	}

	a := httptest.NewRecorder()
	who, err := s.identify(r)
	if who != nil {
		rec.Credential, rec.KeyID = who.name, who.key
	} else if _, ok := bearer(r); ok {
		rec.Credential = callerInvalid
	}
	f := s.fault(r.Method, route)
	if f == nil || f.carriesOut() {
		switch {
		case err != nil:
			s.fail(a, err)
		case api && who == nil && !s.isPublic(pattern):
			s.fail(a, refuse(http.StatusUnauthorized, "authentication required"))
		default:
			s.mux.ServeHTTP(a, r.WithContext(withCaller(r.Context(), who)))
		}
		rec.Status, rec.Committed = a.Code, rec.IsWrite() && a.Code < 300
	}
	switch {
	case f == nil:
	case f.Drop:
		rec.Status = 0
	case f.Status != 0:
		rec.Status = f.Status
	}
	s.record(rec)
	s.log.Info("Request", "method", rec.Method, "route", rec.Route, "credential", rec.Credential, "status", rec.Status)
	if f != nil {
		f.answer(w, r, a)
		return
	}
	relay(w, a, false)
}

func (s *Server) identify(r *http.Request) (who *caller, err error) {
	if _, ok := bearer(r); !ok {
		return nil, nil
	}
	err = s.store.view(r.Context(), func(st *State) error {
		who = st.identify(r)
		return nil
	})
	return who, err
}

// endpoint makes a handler of what a route does.
func (s *Server) endpoint(g grant, f func(*call) (answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !g.allows(callerOf(r.Context()), id(r, "team")) {
			s.fail(w, refuse(http.StatusForbidden, "this credential does not reach %s %s", r.Method, r.URL.Path))
			return
		}
		run := s.store.update
		if r.Method == http.MethodGet {
			run = s.store.view
		}
		var a answer
		if err := run(r.Context(), func(st *State) (err error) {
			s.mu.Lock()
			c := &call{State: st, r: r, modes: s.modes, base: s.baseURL}
			s.mu.Unlock()
			a, err = f(c)
			return err
		}); err != nil {
			s.fail(w, err)
			return
		}
		if a.next != "" {
			w.Header().Set("Link", fmt.Sprintf("<%s>; rel=%q", a.next, "next"))
		}
		reply(w, a.status, a.body)
	}
}

func (s *Server) fail(w http.ResponseWriter, err error) {
	status, text := http.StatusInternalServerError, "internal error"
	var no *refusal
	switch {
	case errors.As(err, &no):
		status, text = no.status, no.text
	case errors.Is(err, errUnavailable):
		status, text = http.StatusServiceUnavailable, errUnavailable.Error()
		s.log.Error("Database", "error", err)
	default:
		s.log.Error("Request failed", "error", err)
	}
	reply(w, status, map[string]string{"error": text})
}

func reply(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // It writes to memory, what can be encoded.
}

// decode the body of a request. Fields that are not known are ignored.
func decode[T any](c *call) (T, error) {
	var v T
	b, err := io.ReadAll(io.LimitReader(c.r.Body, maxBody))
	if err != nil || json.Unmarshal(b, &v) != nil {
		return v, refuse(http.StatusBadRequest, "the body is not what is expected")
	}
	return v, nil
}

// id in the path of a request. 0, which nothing has, when it is not a number.
func id(r *http.Request, name string) int64 {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// fold a name as the modes want it.
func (c *call) fold(name string) string {
	if c.modes.FoldNames {
		return strings.ToLower(strings.TrimSpace(name))
	}
	return name
}

// named filters a list by the name in the query, when there is one.
func named[T any](c *call, list []T, name func(T) string) []T {
	want, found := c.r.URL.Query().Get("name"), []T{}
	for _, v := range list {
		if n := name(v); want == "" || n == want || (c.modes.PrefixSearch && strings.HasPrefix(n, want)) {
			found = append(found, v)
		}
	}
	return found
}
