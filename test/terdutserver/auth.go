package terdutserver

import (
	"net/http"
	"strings"
)

// A caller is whom a key belongs to.
type caller struct {
	// name is fit for logs.
	name  string
	key   int64
	admin bool
	scope string
	team  int64
}

// Callers without a valid key.
const (
	callerAnonymous = "anonymous"
	callerInvalid   = "invalid"
)

// identify the caller of a request; nil when it has no valid key.
func (s *State) identify(r *http.Request) *caller {
	secret, ok := bearer(r)
	if !ok {
		return nil
	}
	h := hash(secret)
	k := find(s.Keys, func(k *Key) bool { return k.Hash == h })
	if k == nil {
		return nil
	}
	if u := s.user(k.UserID); u != nil {
		return &caller{name: "user/" + u.Username, key: k.ID, admin: true}
	}
	if a := s.account(k.AccountID); a != nil {
		return &caller{name: "service-account/" + a.Name, key: k.ID, scope: a.Scope, team: a.TeamID}
	}
	return nil
}

func bearer(r *http.Request) (string, bool) {
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return secret, ok && secret != ""
}

// A grant says which keys reach a route, besides those of administrators.
type grant int

const (
	// public routes need no key.
	public grant = iota
	// anyKey routes need a valid key.
	anyKey
	// instanceKey routes need a key of an instance-scoped service account.
	instanceKey
	// teamKey routes need a key of the team that the path names.
	teamKey
)

func (g grant) allows(c *caller, team int64) bool {
	switch {
	case g == public:
		return true
	case c == nil:
		return false
	case c.admin, g == anyKey:
		return true
	case g == instanceKey:
		return c.scope == ScopeInstance
	case g == teamKey:
		return c.scope == ScopeTeam && c.team == team
	}
	return false
}
