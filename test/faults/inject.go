package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A server is one that the provider writes to.
type server string

// Servers.
const (
	serverPG  server = "PostgreSQL"
	serverKV  server = "OpenBao"
	serverAPI server = "API server"
)

// A fault is what goes wrong at a write.
type fault string

// Faults.
const (
	// Kills end the provider without notice: before the write leaves the proxy, or when the server has done it and nobody knows.
	faultKillBefore fault = "provider killed before"
	faultKillAfter  fault = "provider killed after"
	// faultRefused closes the connection instead of passing the write on, faultLost instead of passing the answer on.
	faultRefused fault = "connection closed before"
	faultLost    fault = "answer lost"
	// faultLate passes the write on when the provider has given up, faultSlow the answer.
	faultLate fault = "write late"
	faultSlow fault = "answer late"
	// faultDown also refuses everything else for a moment.
	faultDown fault = "server down"

	faultFull     fault = "no connection left"
	faultReadOnly fault = "read-only"
	faultStarting fault = "server is starting"

	faultSealed    fault = "sealed"
	faultForbidden fault = "403"
	faultError     fault = "500"
	faultConflict  fault = "409"
)

// kills and faults of each server, in the order of the table.
var (
	kills  = []fault{faultKillBefore, faultKillAfter}
	faults = map[server][]fault{
		serverPG:  {faultRefused, faultLost, faultLate, faultSlow, faultDown, faultFull, faultReadOnly, faultStarting},
		serverKV:  {faultRefused, faultLost, faultLate, faultSlow, faultDown, faultSealed, faultForbidden, faultError},
		serverAPI: {faultRefused, faultLost, faultDown, faultConflict, faultError},
	}
)

// lasting faults hold for window, for everybody who talks to the server; the others for one write.
func (f fault) lasting() bool {
	return slices.Contains([]fault{faultDown, faultFull, faultReadOnly, faultStarting, faultSealed, faultForbidden}, f)
}

const (
	// window is how long a lasting fault holds: longer than a back-off or two.
	window = 1500 * time.Millisecond
	// reconcileTimeout of the provider, and how late what is late comes: later than that.
	reconcileTimeout = 6 * time.Second
	lateness         = reconcileTimeout + time.Second
)

// A point is a write of an operation: the n-th of its kind, from 1.
type point struct {
	server server
	write  string
	n      int
}

func (p point) String() string { return fmt.Sprintf("%s: %s #%d", p.server, p.write, p.n) }

// An injection is a fault at a point.
type injection struct {
	point

	fault fault
}

// An injector counts the writes that pass the proxies by namespace, and says what goes wrong at which.
type injector struct {
	// kill the provider.
	kill func()
	// cut all connections to the API server.
	cut func()

	mu     sync.Mutex
	scopes map[string]*scope
	holds  map[server]held
}

// A scope is what is known of the operation that is under way in a namespace.
type scope struct {
	seen  []point
	last  time.Time
	armed *injection
	hit   bool
}

type held struct {
	fault fault
	until time.Time
}

func newInjector() *injector {
	return &injector{scopes: map[string]*scope{}, holds: map[server]held{}}
}

// begin an operation in a namespace, with an injection or without.
func (i *injector) begin(ns string, inj *injection) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.scopes[ns] = &scope{armed: inj, last: time.Now()}
}

// state returns the writes seen since begin, when the last was, and whether the injection took place.
func (i *injector) state(ns string) ([]point, time.Time, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := i.scopes[ns]
	return slices.Clone(s.seen), s.last, s.hit
}

// write notes a write and returns what goes wrong with it, nothing for most. Nobody's writes have no namespace.
func (i *injector) write(srv server, ns, what string) fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	s, ok := i.scopes[ns]
	if !ok {
		return i.holding(srv)
	}
	p := point{server: srv, write: what, n: 1}
	for _, o := range s.seen {
		if o.server == srv && o.write == what {
			p.n++
		}
	}
	s.seen, s.last = append(s.seen, p), time.Now()
	if s.armed == nil || s.hit || s.armed.point != p {
		return i.holding(srv)
	}
	s.hit = true
	if s.armed.fault.lasting() {
		i.holds[srv] = held{fault: s.armed.fault, until: time.Now().Add(window)}
	}
	return s.armed.fault
}

// read returns what goes wrong with everything else that a server is asked for now.
func (i *injector) read(srv server) fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	f := i.holding(srv)
	if f == faultReadOnly {
		return ""
	}
	return f
}

func (i *injector) holding(srv server) fault {
	if h := i.holds[srv]; time.Now().Before(h.until) {
		return h.fault
	}
	return ""
}
