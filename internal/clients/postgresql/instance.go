package postgresql

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// idleTimeout is how long an unused connection is kept.
	idleTimeout = 5 * time.Minute
	// closeTimeout bounds how long a closed connection is waited for.
	closeTimeout = 5 * time.Second
	// interruptGrace is how long the server has to hang up on a connection that was interrupted.
	interruptGrace = time.Second

	// Concurrent work in the catalogs is retried this often, waiting between half of and the whole of a time that doubles.
	maxAttempts  = 8
	firstBackoff = 20 * time.Millisecond
)

// purpose of a session; counted apart.
type purpose int

const (
	management purpose = iota
	tenant
	login
	purposes
)

// Stats count what an Instance did since it was made.
type Stats struct {
	ManagementConnections, ManagementStatements uint64
	TenantConnections, TenantStatements         uint64
	LoginConnections, LoginStatements           uint64
	// Open connections now, idle ones included.
	Open int
}

// An Instance is one server with one set of credentials. It is safe for concurrent use.
type Instance struct {
	cfg   Config
	tls   *tls.Config
	slots chan struct{}

	mu       sync.Mutex
	idle     []*session
	open     int
	closed   bool
	reaping  bool // A timer runs.
	registry bool // The registry is known to be there.

	migrating   sync.Mutex
	connections [purposes]atomic.Uint64
	statements  [purposes]atomic.Uint64
}

// New checks a config and returns an Instance. It does not connect.
func New(c Config) (*Instance, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	t, err := c.tlsConfig()
	if err != nil {
		return nil, err
	}
	return &Instance{cfg: c, tls: t, slots: make(chan struct{}, c.MaxConnections)}, nil
}

// Close the idle connections. Operations under way finish, and their connections are closed then. New ones are refused. Close waits
// while all connections are busy.
func (i *Instance) Close() {
	i.mu.Lock()
	i.closed = true
	i.mu.Unlock()
	i.reap(0)
}

// Stats of the Instance.
func (i *Instance) Stats() Stats {
	i.mu.Lock()
	defer i.mu.Unlock()
	return Stats{
		ManagementConnections: i.connections[management].Load(), ManagementStatements: i.statements[management].Load(),
		TenantConnections: i.connections[tenant].Load(), TenantStatements: i.statements[tenant].Load(),
		LoginConnections: i.connections[login].Load(), LoginStatements: i.statements[login].Load(),
		Open: i.open,
	}
}

// acquire a session. An idle one is used for management; room for a new one is made by closing an idle one when the bound is reached.
// Whoever holds a slot holds at most one connection, so there is an idle one to close whenever the bound is reached.
func (i *Instance) acquire(ctx context.Context, p purpose, user, password, database string) (*session, error) {
	select {
	case i.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, &Error{Op: OpConnect, Subject: database, Address: i.cfg.address(), class: classBusy, cause: ctx.Err(),
			Message: fmt.Sprintf("all %d connections of this configuration are busy", i.cfg.MaxConnections)}
	}
	s, victim, err := i.take(p, database)
	if err != nil {
		<-i.slots
		return nil, err
	}
	if victim != nil {
		victim.close()
	}
	if s != nil {
		return s, nil
	}
	s, err = i.dial(ctx, p, user, password, database)
	if err != nil {
		i.mu.Lock()
		i.open--
		i.mu.Unlock()
		<-i.slots
		return nil, err
	}
	return s, nil
}

// take an idle session, or room for a new one: then the victim, if any, has to be closed first.
func (i *Instance) take(p purpose, database string) (reuse, victim *session, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil, nil, &Error{Op: OpConnect, Subject: database, Address: i.cfg.address(), class: classUnreachable, Message: "the configuration is no longer in use"}
	}
	for n := len(i.idle) - 1; p == management && n >= 0; n-- { // The one used last first, so that others can time out.
		if s := i.idle[n]; s.database == database {
			i.idle = append(i.idle[:n], i.idle[n+1:]...)
			s.reused = true
			return s, nil, nil
		}
	}
	if i.open < i.cfg.MaxConnections {
		i.open++
		return nil, nil, nil
	}
	victim = i.idle[0]
	i.idle = i.idle[1:]
	return nil, victim, nil
}

// release a session: back to the idle ones when it is one of management and sound, else it is closed.
func (i *Instance) release(s *session) {
	i.mu.Lock()
	if s.purpose == management && !s.broken && !s.conn.IsClosed() && !i.closed {
		s.since = time.Now()
		i.idle = append(i.idle, s)
		if !i.reaping {
			i.reaping = true
			time.AfterFunc(idleTimeout, i.reapIdle)
		}
		i.mu.Unlock()
		<-i.slots
		return
	}
	i.mu.Unlock()

	done := func() {
		i.discard(s)
		<-i.slots
	}
	if s.conn.IsClosed() {
		// An interrupted connection is cleaned up in the background. The caller, whose time is up, does not wait for that.
		go done()
		return
	}
	done()
}

// reapIdle closes what has timed out, and comes again as long as there is something left.
func (i *Instance) reapIdle() {
	i.reap(idleTimeout)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reaping = len(i.idle) > 0; i.reaping {
		time.AfterFunc(idleTimeout, i.reapIdle)
	}
}

// reap closes the sessions that have been idle for some time. It holds a slot for the one that it closes, like any other user of a
// connection, because acquire counts on it.
func (i *Instance) reap(age time.Duration) {
	for {
		i.slots <- struct{}{}
		i.mu.Lock()
		var old *session
		if len(i.idle) > 0 && time.Since(i.idle[0].since) >= age { // Ordered: sessions are appended when they become idle.
			old, i.idle = i.idle[0], i.idle[1:]
		}
		i.mu.Unlock()
		if old != nil {
			i.discard(old)
		}
		<-i.slots
		if old == nil {
			return
		}
	}
}

func (i *Instance) discard(s *session) {
	s.close()
	i.mu.Lock()
	i.open--
	i.mu.Unlock()
}

// dial a new session.
func (i *Instance) dial(ctx context.Context, p purpose, user, password, database string) (*session, error) {
	op := OpConnect
	if p == login {
		op = OpLogin
	}
	cc, err := i.connConfig(user, password, database)
	if err != nil {
		return nil, err
	}
	if p == login && cc.TLSConfig != nil {
		// The client certificate is that of the management role.
		cc.TLSConfig.Certificates, cc.RequireAuth = nil, "scram-sha-256"
	}
	i.connections[p].Add(1)
	conn, err := pgx.ConnectConfig(ctx, cc)
	if err != nil {
		return nil, i.wrap(op, database, err)
	}
	s := &session{i: i, conn: conn, purpose: p, database: database, version: serverVersion(conn)}
	if p == management {
		if err := s.identify(ctx); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// with runs f on a session and repeats it on another when concurrent work got in its way, or when a connection that had been idle
// turned out to be dead. So f is written to be repeated.
func (i *Instance) with(ctx context.Context, p purpose, database string, f func(*session) error) error {
	backoff := firstBackoff
	for attempt := 1; ; attempt++ {
		s, err := i.acquire(ctx, p, i.cfg.Username, i.cfg.Password, database)
		if err != nil {
			return err
		}
		err = f(s)
		stale := err != nil && s.reused && (s.conn.IsClosed() || hasCode(err, "57P01")) && IsUnreachable(err)
		i.release(s)
		if err == nil || ctx.Err() != nil || attempt == maxAttempts || !stale && !IsRetryable(err) {
			return err
		}
		if stale {
			i.reap(0) // The others are from before as well.
			continue
		}
		t := time.NewTimer(backoff/2 + rand.N(backoff/2))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
		backoff *= 2
	}
}
