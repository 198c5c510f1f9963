// Package terdutserver is a stand-in for terdut-server: the part of its REST API that the provider uses, with its scopes, its keys that are
// shown once, and its bootstrap that works once. It runs in tests, which can look at its state, count its requests and make it
// misbehave, and as a process (cmd/terdut-server). It keeps its state in memory or in PostgreSQL.
//
// It is strict where the real server may be lenient: a credential reaches what the API grants it, and nothing else.
package terdutserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options of a server.
type Options struct {
	// Addr to listen on. Default: a free port of the loopback interface.
	Addr string
	// BaseURL is what URLs of integrations start with. Default: where the server listens.
	BaseURL string
	// DatabaseDSN of a PostgreSQL database, as a URL or as keywords and values. What it leaves open is taken from PGPASSWORD and the other
	// variables of libpq. Default: the state is kept in memory.
	DatabaseDSN string
	// Log receives a line for each request. It never holds a key. Default: no log.
	Log *slog.Logger
}

// A Server is the stand-in. It is an http.Handler, so that it can also be served behind a prefix, a proxy or TLS.
type Server struct {
	store store
	log   *slog.Logger
	mux   *http.ServeMux

	http     *http.Server
	listener net.Listener

	mu       sync.Mutex
	baseURL  string
	faults   []*Fault
	modes    Modes
	requests []Request
}

// New returns a server that does not listen.
func New(o Options) *Server {
	s := &Server{log: o.Log, baseURL: strings.TrimRight(o.BaseURL, "/"), store: &memory{state: newState()}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.DatabaseDSN != "" {
		s.store = &database{dsn: o.DatabaseDSN}
	}
	s.mux = s.routes()
	return s
}

// Start a server that listens. It is stopped with Close. It does not wait for its database: until that is reachable, /healthz says 503.
func Start(o Options) (*Server, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	s := New(o)
	l, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %q: %w", o.Addr, err)
	}
	s.listener = l
	if s.baseURL == "" {
		s.baseURL = s.URL()
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("Stopped listening", "error", err)
		}
	}()
	return s, nil
}

// URL that the server listens on.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Close ends all connections and stops listening. A database keeps the state.
func (s *Server) Close() {
	if s.http != nil {
		_ = s.http.Close() // Nothing is to be done about it.
	}
	s.store.close()
}

// Snapshot returns a copy of the state, without hashes of keys.
func (s *Server) Snapshot(ctx context.Context) (*State, error) {
	var c *State
	err := s.store.view(ctx, func(st *State) error {
		c = st.clone()
		for i := range c.Keys {
			c.Keys[i].Hash = ""
		}
		for i := range c.Integrations {
			c.Integrations[i].Hash = ""
		}
		return nil
	})
	return c, err
}

// Edit changes the state behind the API's back.
func (s *Server) Edit(ctx context.Context, f func(*State)) error {
	return s.store.update(ctx, func(st *State) error {
		f(st)
		return nil
	})
}

// Forget everything, as a server does whose database was made anew: keys end, and identifiers start again.
func (s *Server) Forget(ctx context.Context) error {
	return s.Edit(ctx, func(st *State) { *st = *newState() })
}

// AddUser adds a user, who then no longer lets anybody bootstrap the server, and returns the user's identifier.
func (s *Server) AddUser(ctx context.Context, username, email string) (int64, error) {
	var id int64
	err := s.Edit(ctx, func(st *State) {
		id = st.next("user")
		st.Users = append(st.Users, User{ID: id, Username: username, Email: email})
	})
	return id, err
}

// AddAdmin adds a user and returns an administrator's key, with which a test acts as a person would.
func (s *Server) AddAdmin(ctx context.Context, username string) (string, error) {
	id, err := s.AddUser(ctx, username, username+"@terdut.example")
	if err != nil {
		return "", err
	}
	var key string
	err = s.Edit(ctx, func(st *State) { _, key = st.mint(Key{UserID: id}) })
	return key, err
}
