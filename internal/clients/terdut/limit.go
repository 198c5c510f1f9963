package terdut

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// maxUnderWay is how many requests to one server are under way at once.
	maxUnderWay = 8
	// defaultPause is how long a server is left alone that says 429 and not for how long.
	defaultPause = 5 * time.Second
	// maxPause bounds what a server can ask for.
	maxPause = 5 * time.Minute
	// limitTTL is how long the limit of a server is kept that nobody asks anything.
	limitTTL = time.Hour
)

// shared holds the limits of all servers. It is one for the process, so that no client can be made that does not take part.
var shared = &limits{now: time.Now}

// limits of servers by scheme, host and port.
type limits struct {
	now func() time.Time

	mu sync.Mutex
	by map[string]*limit
}

// A limit of one server.
type limit struct {
	turns chan struct{}

	// The rest is guarded by limits.mu.
	waiters int
	used    time.Time
	paused  time.Time
}

// enter waits for a turn. It does not wait for the end of a pause, because the workers of all servers are the same: it returns how
// long to wait, with a jitter that keeps callers from coming back all at once.
func (l *limits) enter(ctx context.Context, server string) (leave func(), pause time.Duration, err error) {
	l.mu.Lock()
	m := l.get(server)
	m.waiters++
	l.mu.Unlock()

	done := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		m.waiters--
	}
	select {
	case m.turns <- struct{}{}:
	case <-ctx.Done():
		done()
		return nil, 0, ctx.Err()
	}
	leave = func() {
		<-m.turns
		done()
	}
	l.mu.Lock()
	left := m.paused.Sub(l.now())
	l.mu.Unlock()
	if left > 0 {
		leave()
		return nil, jittered(left), nil
	}
	return leave, 0, nil
}

// pause a server for a time that it asked for, and return what callers have to wait.
func (l *limits) pause(server string, d time.Duration) time.Duration {
	d = max(min(d, maxPause), 0)
	l.mu.Lock()
	defer l.mu.Unlock()
	m, until := l.get(server), l.now().Add(d)
	if until.After(m.paused) {
		m.paused = until
	}
	return jittered(d)
}

// get the limit of a server, and drop those that nobody uses.
func (l *limits) get(server string) *limit {
	now := l.now()
	for s, m := range l.by {
		if s != server && m.waiters == 0 && now.Sub(m.used) > limitTTL && now.After(m.paused) {
			delete(l.by, s)
		}
	}
	m := l.by[server]
	if m == nil {
		m = &limit{turns: make(chan struct{}, maxUnderWay)}
		if l.by == nil {
			l.by = map[string]*limit{}
		}
		l.by[server] = m
	}
	m.used = now
	return m
}

// jittered adds up to a fifth, and at least up to a tenth of a second.
func jittered(d time.Duration) time.Duration {
	return d + rand.N(max(d/5, 100*time.Millisecond))
}

// retryAfter reads the header of that name: seconds or a date, RFC 9110 section 10.2.3. It is false when there is none that can be read.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if n, err := strconv.ParseUint(v, 10, 64); err == nil {
		return time.Duration(min(n, uint64(maxPause/time.Second))) * time.Second, true
	}
	if t, err := http.ParseTime(v); err == nil {
		return min(max(t.Sub(now), 0), maxPause), true
	}
	return 0, false
}
