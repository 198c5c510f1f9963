package openbao

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Auth is how a client authenticates. Exactly one field is set.
type Auth struct {
	// Token is used as it is. It is renewed when it can be, and never replaced.
	Token string
	// AppRole logs in with a role id and a secret id.
	AppRole *AppRole
	// Kubernetes logs in with the token of a ServiceAccount.
	Kubernetes *Kubernetes
}

// AppRole authentication.
type AppRole struct {
	// Mount of the authentication method, without auth/. Default: approle.
	Mount    string
	RoleID   string
	SecretID string
}

// Kubernetes authentication.
type Kubernetes struct {
	// Mount of the authentication method, without auth/. Default: kubernetes.
	Mount string
	Role  string
	// JWT returns a token of a ServiceAccount. It is called at each login, so that a token that was replaced is picked up.
	JWT func(context.Context) (string, error)
}

// Format keeps credentials out of whatever an Auth is printed into.
func (Auth) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte("(credentials)")) }

func (a Auth) validate() error {
	switch {
	case a.Token != "" && a.AppRole == nil && a.Kubernetes == nil:
		return nil
	case a.Token == "" && a.AppRole != nil && a.Kubernetes == nil:
		if a.AppRole.RoleID == "" || a.AppRole.SecretID == "" {
			return errors.New("AppRole authentication needs a role id and a secret id")
		}
		return validateMount(mountOr(a.AppRole.Mount, "approle"))
	case a.Token == "" && a.AppRole == nil && a.Kubernetes != nil:
		if a.Kubernetes.Role == "" || a.Kubernetes.JWT == nil {
			return errors.New("Kubernetes authentication needs a role and a token") // A name is capitalised.
		}
		return validateMount(mountOr(a.Kubernetes.Mount, "kubernetes"))
	default:
		return errors.New("authentication must be exactly one of a token, AppRole and Kubernetes")
	}
}

func (a Auth) static() bool { return a.Token != "" }

func mountOr(mount, def string) string {
	if mount == "" {
		return def
	}
	return mount
}

// loginAnswer is what a login and a renewal return.
type loginAnswer struct {
	Auth struct {
		Token     string `json:"client_token"`
		Lease     int64  `json:"lease_duration"`
		Renewable bool   `json:"renewable"`
	} `json:"auth"`
}

// login returns a new token.
func (c *Client) login(ctx context.Context) (*token, error) {
	var mount string
	var body map[string]string
	switch {
	case c.auth.AppRole != nil:
		mount = mountOr(c.auth.AppRole.Mount, "approle")
		body = map[string]string{"role_id": c.auth.AppRole.RoleID, "secret_id": c.auth.AppRole.SecretID}
	default:
		jwt, err := c.auth.Kubernetes.JWT(ctx)
		if err != nil {
			return nil, fmt.Errorf("cannot get the ServiceAccount token to log in with: %w", err)
		}
		mount = mountOr(c.auth.Kubernetes.Mount, "kubernetes")
		body = map[string]string{"role": c.auth.Kubernetes.Role, "jwt": jwt}
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, errors.New("cannot encode login")
	}

	r := request{operation: opLogin, method: http.MethodPost, path: "auth/" + mount + "/login", body: b, confidential: true}
	now := c.now()
	var a loginAnswer
	if err := c.sendAs(ctx, r, "", &a); err != nil {
		return nil, err
	}
	if a.Auth.Token == "" {
		return nil, r.error(ReasonUnreachable, "the answer holds no token")
	}
	return newToken(a.Auth.Token, now, time.Duration(a.Auth.Lease)*time.Second, a.Auth.Renewable), nil
}

// renew the token, and return how long it lives from now on.
func (c *Client) renew(ctx context.Context, t *token) (time.Duration, error) {
	r := request{operation: opRenew, method: http.MethodPost, path: "auth/token/renew-self", confidential: true}
	var a loginAnswer
	if err := c.sendAs(ctx, r, t.value, &a); err != nil {
		return 0, err
	}
	return time.Duration(a.Auth.Lease) * time.Second, nil
}

// revoke the token, best effort.
func (c *Client) revoke(ctx context.Context, t *token) {
	r := request{operation: opRevoke, method: http.MethodPost, path: "auth/token/revoke-self", confidential: true}
	_ = c.sendAs(ctx, r, t.value, nil)
}
