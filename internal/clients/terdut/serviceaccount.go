package terdut

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// A Scope of a service account.
type Scope string

// Scopes.
const (
	// ScopeInstance reaches teams and service accounts.
	ScopeInstance Scope = "instance"
	// ScopeTeam reaches one team's OIDC groups, escalation policy, switches and integrations.
	ScopeTeam Scope = "team"
)

// A ServiceAccount is what machines have keys of.
type ServiceAccount struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Scope Scope  `json:"scope"`
	// TeamID of ScopeTeam.
	TeamID int64 `json:"team_id"`
}

func (a ServiceAccount) id() int64 { return a.ID }

// A NewServiceAccount and its first key, which is shown this once.
type NewServiceAccount struct {
	ServiceAccount

	Key APIKey `json:"key"`
}

// A KeyInfo is what the server shows of a key afterwards.
type KeyInfo struct {
	ID int64 `json:"id"`
	// Created is zero when the server does not say.
	Created time.Time `json:"created_at"`
}

func (k KeyInfo) id() int64 { return k.ID }

func accountPath(id int64) string { return fmt.Sprintf("/api/service-accounts/%d", id) }

// CreateServiceAccount creates an account with a key. The team is sent for ScopeTeam alone. It needs an administrator's or an
// instance-scoped key. IsConflict when the name is taken.
func (c *Client) CreateServiceAccount(ctx context.Context, name string, scope Scope, team int64) (*NewServiceAccount, error) {
	body := map[string]any{"name": name, "scope": scope}
	if scope == ScopeTeam {
		body["team_id"] = team
	}
	r := request{operation: fmt.Sprintf("create service account %q", name), method: http.MethodPost, path: "/api/service-accounts", body: body, confidential: true}
	a, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	n := &NewServiceAccount{}
	if err := r.decode(a, n); err != nil {
		return nil, err
	}
	if n.ID <= 0 || !n.Key.complete() {
		return nil, r.foreign(a, "the answer has no id or no key")
	}
	return n, nil
}

// FindServiceAccount returns the account of that name, or nil. Any key reaches it. IsAmbiguous when there are two.
func (c *Client) FindServiceAccount(ctx context.Context, name string) (*ServiceAccount, error) {
	r := request{operation: fmt.Sprintf("find service account %q", name), path: "/api/service-accounts"}
	return named(ctx, c, r, name, func(a ServiceAccount) string { return a.Name })
}

// DeleteServiceAccount deletes an account with all its keys.
func (c *Client) DeleteServiceAccount(ctx context.Context, id int64) error {
	return c.do(ctx, request{operation: fmt.Sprintf("delete service account %d", id), method: http.MethodDelete, path: accountPath(id)}, nil)
}

// CreateServiceAccountKey adds a key to an account. Its other keys stay valid.
func (c *Client) CreateServiceAccountKey(ctx context.Context, account int64) (*APIKey, error) {
	r := request{operation: fmt.Sprintf("create key of service account %d", account), method: http.MethodPost, path: accountPath(account) + "/keys", confidential: true}
	a, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	k := &APIKey{}
	if err := r.decode(a, k); err != nil {
		return nil, err
	}
	if !k.complete() {
		return nil, r.foreign(a, "the answer has no id or no key")
	}
	return k, nil
}

// ServiceAccountKeys lists the keys of an account (s).
func (c *Client) ServiceAccountKeys(ctx context.Context, account int64) ([]KeyInfo, error) {
	return list[KeyInfo](ctx, c, request{operation: fmt.Sprintf("list keys of service account %d", account), method: http.MethodGet, path: accountPath(account) + "/keys"})
}

// DeleteServiceAccountKey revokes a key.
func (c *Client) DeleteServiceAccountKey(ctx context.Context, account, key int64) error {
	return c.do(ctx, request{
		operation: fmt.Sprintf("delete key %d of service account %d", key, account), method: http.MethodDelete,
		path: fmt.Sprintf("%s/keys/%d", accountPath(account), key),
	}, nil)
}
