package openbao

import (
	"context"
	"time"
)

const (
	// loginPause is how long a refused login is remembered before the next is tried, so that the users of one client together do
	// not hammer a server that does not want them.
	loginPause = 10 * time.Second
	// deniedLogin is the age from which a token is replaced when a call is denied although the token lives, or when that cannot be
	// known: the policies that a role gives may have changed, and a token has those of its login.
	deniedLogin = 5 * time.Minute
	// aliveFor is how long a token that was looked up counts as alive.
	aliveFor = 5 * time.Second
)

// lookups says whether tokens of this client's role may look themselves up.
type lookups int

const (
	lookupsUnknown lookups = iota
	lookupsAllowed
	lookupsDenied
)

// tokens is the state of the client's one token. It is used by one goroutine at a time, the one that has put something into turn.
type tokens struct {
	turn chan struct{}

	current *token
	lookups lookups

	refused      error
	refusedUntil time.Time
}

// A token and its life. A token without a lease does not end.
type token struct {
	value     string
	acquired  time.Time
	lease     time.Duration
	expires   time.Time
	renewAt   time.Time
	renewable bool
	aliveTill time.Time
}

func newToken(value string, now time.Time, lease time.Duration, renewable bool) *token {
	t := &token{value: value, acquired: now, lease: lease, renewable: renewable}
	t.extend(now, lease)
	return t
}

// extend the token's life. A token that cannot be renewed is used for longer, because using it up costs nothing.
func (t *token) extend(now time.Time, lease time.Duration) {
	if lease <= 0 {
		t.expires, t.renewAt = time.Time{}, time.Time{}
		return
	}
	t.expires = now.Add(lease)
	t.renewAt = now.Add(lease / 10 * 9)
	if t.renewable {
		t.renewAt = now.Add(lease / 3 * 2)
	}
}

func (t *token) due(now time.Time) bool     { return !t.renewAt.IsZero() && !now.Before(t.renewAt) }
func (t *token) expired(now time.Time) bool { return !t.expires.IsZero() && !now.Before(t.expires) }

func (c *Client) takeTurn(ctx context.Context) error {
	select {
	case c.tokens.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return &Error{Reason: ReasonUnreachable, Operation: opLogin, cause: ctx.Err(), detail: "gave up waiting for a login"}
	}
}

func (c *Client) endTurn() { <-c.tokens.turn }

// token returns a token that lives, as far as the clock can tell.
func (c *Client) token(ctx context.Context) (*token, error) {
	if err := c.takeTurn(ctx); err != nil {
		return nil, err
	}
	defer c.endTurn()

	t := c.tokens.current
	switch {
	case t == nil:
		return c.acquire(ctx)
	case !t.due(c.now()):
		return t, nil
	}

	if t.renewable && !t.expired(c.now()) {
		now := c.now()
		lease, err := c.renew(ctx, t)
		// A lease that gets shorter and shorter nears the longest life that the server allows: time for a new login.
		if err == nil && (lease >= t.lease/2 || c.auth.static()) {
			t.extend(now, lease)
			return t, nil
		}
	}
	if c.auth.static() {
		// Nothing more can be done for it. When it ends, the server says so to whoever uses it.
		t.renewAt = c.now().Add(loginPause)
		return t, nil
	}
	fresh, err := c.acquire(ctx)
	if err != nil && !t.expired(c.now()) {
		t.renewAt = c.now().Add(loginPause)
		return t, nil
	}
	return fresh, err
}

// acquire a token. The caller has the turn.
func (c *Client) acquire(ctx context.Context) (*token, error) {
	if c.auth.static() {
		return c.acquireStatic(ctx)
	}
	if c.now().Before(c.tokens.refusedUntil) {
		return nil, c.tokens.refused
	}
	t, err := c.login(ctx)
	if IsPermissionDenied(err) || IsMountNotFound(err) {
		c.tokens.refused, c.tokens.refusedUntil = err, c.now().Add(loginPause)
	}
	if err != nil {
		return nil, err
	}
	c.tokens.current = t
	return t, nil
}

// acquireStatic looks at the token that was given to the client, to know when to renew it. A token that may not look itself up is
// used as it is.
func (c *Client) acquireStatic(ctx context.Context) (*token, error) {
	now := c.now()
	t := newToken(c.auth.Token, now, 0, false)
	info, err := c.lookup(ctx, t)
	switch {
	case err == nil && info.Renewable:
		t = newToken(c.auth.Token, now, info.TTL, true)
	case err != nil && !IsPermissionDenied(err):
		return nil, err
	}
	c.tokens.current = t
	return t, nil
}

// replace decides what a denied call means: with a dead token the call is worth repeating with another, which is returned. A denial of
// a live token stands. The server answers both alike, so the token is asked about itself; of all calls that were denied with the same
// token only the first does so and logs in.
func (c *Client) replace(ctx context.Context, used *token) (*token, bool) {
	if c.auth.static() {
		return nil, false
	}
	if err := c.takeTurn(ctx); err != nil {
		return nil, false
	}
	defer c.endTurn()

	s := &c.tokens
	if s.current != used {
		return s.current, s.current != nil
	}
	now := c.now()
	old := now.Sub(used.acquired) >= deniedLogin
	alive := now.Before(used.aliveTill)
	if !alive && !used.expired(now) && s.lookups != lookupsDenied {
		_, err := c.lookup(ctx, used)
		switch {
		case err == nil:
			s.lookups, alive = lookupsAllowed, true
			used.aliveTill = now.Add(aliveFor)
		case !IsPermissionDenied(err):
			return nil, false
		}
	}
	unknown := s.lookups == lookupsDenied && !used.expired(now)
	if (alive || unknown) && !old {
		return nil, false
	}

	fresh, err := c.acquire(ctx)
	if err != nil {
		return nil, false
	}
	if alive {
		c.revoke(ctx, used)
	}
	if s.lookups == lookupsUnknown {
		// The old token could have been dead, or not allowed to look itself up. A fresh one tells which, once and for all.
		switch _, err := c.lookup(ctx, fresh); {
		case err == nil:
			s.lookups = lookupsAllowed
		case IsPermissionDenied(err):
			s.lookups = lookupsDenied
		}
	}
	return fresh, true
}

// forget the token, and revoke it when the client had logged in for it.
func (c *Client) forget(ctx context.Context) {
	if err := c.takeTurn(ctx); err != nil {
		return
	}
	defer c.endTurn()
	if t := c.tokens.current; t != nil && !c.auth.static() {
		c.revoke(ctx, t)
	}
	c.tokens.current = nil
}
