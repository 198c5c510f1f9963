package terdutserver

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Scopes of service accounts.
const (
	ScopeInstance = "instance"
	ScopeTeam     = "team"
)

// State is everything that the server knows. Identifiers are never used twice, until the server forgets everything.
type State struct {
	// Sequences holds the last identifier of each kind of row.
	Sequences       map[string]int64 `json:"sequences"`
	Users           []User           `json:"users"`
	ServiceAccounts []ServiceAccount `json:"service_accounts"`
	Keys            []Key            `json:"keys"`
	Teams           []Team           `json:"teams"`
	// Policies by the identifier of their team. A team without one has the empty policy.
	Policies     map[int64]Policy `json:"policies"`
	Switches     []Switch         `json:"switches"`
	Integrations []Integration    `json:"integrations"`
}

// A User of the server.
type User struct {
	ID        int64  `json:"id"`
	Username  string `json:"username"`
	Email     string `json:"email"`
	NtfyTopic string `json:"ntfy_topic,omitempty"`
}

// A ServiceAccount is what machines log in as.
type ServiceAccount struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Scope  string `json:"scope"`
	TeamID int64  `json:"team_id,omitempty"`
}

// A Key of a user, who then is an administrator, or of a service account. The key itself is not kept.
type Key struct {
	ID        int64     `json:"id"`
	UserID    int64     `json:"user_id,omitempty"`
	AccountID int64     `json:"account_id,omitempty"`
	Created   time.Time `json:"created_at"`
	// Hash of the key. It is empty in what Snapshot returns.
	Hash string `json:"hash"`
}

// A Team and the OIDC groups that it takes members from.
type Team struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	MemberGroup string `json:"member_group"`
	OwnerGroup  string `json:"owner_group"`
}

// A Policy says whom a team's alerts reach.
type Policy struct {
	RepeatCount   int     `json:"repeat_count"`
	FallbackTopic string  `json:"fallback_topic"`
	Levels        []Level `json:"levels"`
}

// A Level of a policy.
type Level struct {
	// Position counts from 1. What a client sends here is replaced.
	Position int      `json:"position"`
	Timeout  string   `json:"timeout"`
	Targets  []Target `json:"targets"`
}

// A Target of a level: who is on call, or a user.
type Target struct {
	Kind   string `json:"kind"`
	UserID int64  `json:"user_id,omitempty"`
}

// A Switch raises an alert when the alert that it waits for stays away.
type Switch struct {
	ID       int64  `json:"id"`
	TeamID   int64  `json:"team_id"`
	Name     string `json:"name"`
	Matcher  string `json:"matcher"`
	Timeout  string `json:"timeout"`
	Severity string `json:"severity"`
}

// An Integration takes alerts for a team. Its key itself is not kept.
type Integration struct {
	ID     int64  `json:"id"`
	TeamID int64  `json:"team_id"`
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	// Hash of the key. It is empty in what Snapshot returns.
	Hash string `json:"hash"`
	// Alerts that came in.
	Alerts int `json:"alerts"`
}

func newState() *State {
	return &State{Sequences: map[string]int64{}, Policies: map[int64]Policy{}}
}

func (s *State) clone() *State {
	b, err := json.Marshal(s)
	if err != nil {
		panic("cannot encode state") // It has no type that could fail.
	}
	c := newState()
	if err := json.Unmarshal(b, c); err != nil {
		panic("cannot decode state") // As above.
	}
	return c
}

// next identifier of a kind of row.
func (s *State) next(kind string) int64 {
	s.Sequences[kind]++
	return s.Sequences[kind]
}

func (s *State) team(id int64) *Team {
	return find(s.Teams, func(t *Team) bool { return t.ID == id })
}

func (s *State) account(id int64) *ServiceAccount {
	return find(s.ServiceAccounts, func(a *ServiceAccount) bool { return a.ID == id })
}

func (s *State) user(id int64) *User {
	return find(s.Users, func(u *User) bool { return u.ID == id })
}

// mint makes a key and keeps its hash.
func (s *State) mint(k Key) (Key, string) {
	secret := newKey()
	k.ID, k.Hash, k.Created = s.next("key"), hash(secret), time.Now().UTC().Truncate(time.Second)
	s.Keys = append(s.Keys, k)
	return k, secret
}

func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// newKey returns 64 random hexadecimal characters.
func newKey() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // It never fails.
	return hex.EncodeToString(b)
}

func hash(key string) string {
	h := sha256.Sum256([]byte(key))
	return hex.EncodeToString(h[:])
}
