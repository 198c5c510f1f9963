package openbao_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openbao/openbao/api/v2"

	server "github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

const readKV = `path "kv/*" { capabilities = ["create", "read", "update", "delete"] }`

var enableAppRole = sync.OnceValue(func() error {
	return bao.Root().Sys().EnableAuthWithOptions("approle", &api.EnableAuthOptions{Type: "approle"})
})

// appRole makes a role named after the test, and returns how to log in as it.
func appRole(t *testing.T, settings map[string]any) *openbao.AppRole {
	t.Helper()
	if err := enableAppRole(); err != nil {
		t.Fatal(err)
	}
	path := "auth/approle/role/" + policy(t, readKV)
	settings["token_policies"] = policy(t, readKV)
	admin(t, http.MethodPost, path, settings)
	return &openbao.AppRole{
		RoleID:   admin(t, http.MethodGet, path+"/role-id", nil).Data["role_id"].(string),
		SecretID: admin(t, http.MethodPost, path+"/secret-id", map[string]any{}).Data["secret_id"].(string),
	}
}

// revokeAll ends every token of a role that the test made, as an administrator would by hand.
func revokeAll(t *testing.T) {
	t.Helper()
	for _, a := range admin(t, "LIST", "auth/token/accessors", nil).Data["keys"].([]any) {
		r := bao.Root().NewRequest(http.MethodPost, "/v1/auth/token/lookup-accessor")
		_ = r.SetJSONBody(map[string]any{"accessor": a})
		resp, err := bao.Root().RawRequestWithContext(t.Context(), r) // As admin.
		if err != nil {
			continue // It has ended by itself.
		}
		s, err := api.ParseSecret(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		ps, _ := s.Data["policies"].([]any)
		for _, p := range ps {
			if p == policy(t, readKV) {
				admin(t, http.MethodPost, "auth/token/revoke-accessor", map[string]any{"accessor": a})
			}
		}
	}
}

// together makes the same call from several users of a client at once, and fails the test when one fails.
func together(t *testing.T, c *openbao.Client) {
	t.Helper()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := c.ReadData(t.Context(), server.Mount, "shared", 0); err != nil {
				t.Errorf("ReadData(...): %v", err)
			}
		})
	}
	wg.Wait()
}

// TestH25TokenLife holds that tokens that end are renewed or replaced before they do, without a call that fails, and with few logins.
func TestH25TokenLife(t *testing.T) {
	put(t, server.Mount, "shared", "v")
	cases := map[string]struct {
		reason   string
		settings map[string]any
	}{
		"Renewed":      {"A token is renewed until the server does not let it live longer, then replaced.", map[string]any{"token_ttl": "2s", "token_max_ttl": "5s"}},
		"NotRenewable": {"A token that cannot live longer is replaced.", map[string]any{"token_ttl": "2s", "token_max_ttl": "2s"}},
		"Batch":        {"A batch token is replaced.", map[string]any{"token_ttl": "2s", "token_type": "batch"}},
		"NoDefault":    {"A token that may not renew itself is replaced.", map[string]any{"token_ttl": "2s", "token_max_ttl": "60s", "token_no_default_policy": true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, n := newClient(t, openbao.Auth{AppRole: appRole(t, tc.settings)})
			start := time.Now()
			until(t, func() bool {
				together(t, c)
				return n.of("log in") >= 3
			})
			// The shortest life of a token here is 2 s, of which at least two thirds are used.
			if logins := n.of("log in"); time.Since(start) < 2*time.Second {
				t.Errorf("\n%s\n%d logins in %s", tc.reason, logins, time.Since(start))
			}
			if name == "Renewed" && n.of("renew token") < 3 {
				t.Errorf("\n%s\nonly %d renewals", tc.reason, n.of("renew token"))
			}
			c.Close(t.Context())
		})
	}
}

// TestH25Revoked holds that one login follows the end of a token that nobody saw coming, however many users the client has.
func TestH25Revoked(t *testing.T) {
	put(t, server.Mount, "shared", "v")
	for name, settings := range map[string]map[string]any{
		"Default":   {"token_ttl": "1h"},
		"NoDefault": {"token_ttl": "1h", "token_no_default_policy": true},
	} {
		t.Run(name, func(t *testing.T) {
			c, n := newClient(t, openbao.Auth{AppRole: appRole(t, settings)})
			together(t, c)
			if got := n.of("log in"); got != 1 {
				t.Fatalf("want one login for all users, got %d", got)
			}
			revokeAll(t)
			together(t, c)
			if got := n.of("log in"); got != 2 {
				t.Errorf("want one more login, got %d", got-1)
			}
		})
	}
}

// TestH25DenialIsNoLoop holds that a denial of a live token stays one, whether or not the token may look itself up.
func TestH25DenialIsNoLoop(t *testing.T) {
	for name, settings := range map[string]map[string]any{
		"Default":   {"token_ttl": "1h"},
		"NoDefault": {"token_ttl": "1h", "token_no_default_policy": true},
	} {
		t.Run(name, func(t *testing.T) {
			c, n := newClient(t, openbao.Auth{AppRole: appRole(t, settings)})
			for range 30 {
				if _, err := c.ReadData(t.Context(), "forbidden", "x", 0); !openbao.IsPermissionDenied(err) {
					t.Fatalf("ReadData(...): want a denial, got: %v", err)
				}
			}
			if got := n.of("log in"); got > 2 {
				t.Errorf("30 denials made %d logins", got)
			}
			if got := n.of("look up token"); got > 3 {
				t.Errorf("30 denials made %d look-ups", got)
			}
		})
	}
}

// TestH25RefusedLogin holds that a refused login is a denial without the credential, and that the client's users do not repeat it together.
func TestH25RefusedLogin(t *testing.T) {
	role := appRole(t, map[string]any{})
	role.SecretID = "S3ntinel-SecretID"
	c, n := newClient(t, openbao.Auth{AppRole: role})
	for range 10 {
		_, err := c.ReadData(t.Context(), server.Mount, "shared", 0)
		if !openbao.IsPermissionDenied(err) {
			t.Fatalf("ReadData(...): want a denial, got: %v", err)
		}
		if strings.Contains(err.Error(), role.SecretID) {
			t.Fatal("the error holds the secret id")
		}
	}
	if got := n.of("log in"); got != 1 {
		t.Errorf("want one login, got %d", got)
	}

	nowhere, _ := newClient(t, openbao.Auth{AppRole: &openbao.AppRole{Mount: "no/where", RoleID: "r", SecretID: "s"}})
	if _, err := nowhere.ReadData(t.Context(), server.Mount, "shared", 0); !openbao.IsPermissionDenied(err) && !openbao.IsMountNotFound(err) {
		t.Errorf("ReadData(...): login at a mount that does not exist: %v", err)
	}
}

// TestH25StaticToken holds that a token that was given is renewed as long as it can be, is never replaced, and says so when it has ended.
func TestH25StaticToken(t *testing.T) {
	put(t, server.Mount, "shared", "v")
	s, err := bao.Root().Auth().Token().CreateWithContext(t.Context(), &api.TokenCreateRequest{Policies: []string{policy(t, readKV)}, Period: "2s"})
	if err != nil {
		t.Fatal(err)
	}
	c, n := newClient(t, openbao.Auth{Token: s.Auth.ClientToken})
	start := time.Now()
	until(t, func() bool {
		together(t, c)
		return n.of("renew token") >= 3
	})
	if time.Since(start) < 3*time.Second {
		t.Error("the token was renewed more often than needed")
	}

	if err := bao.Root().Auth().Token().RevokeTreeWithContext(t.Context(), s.Auth.ClientToken); err != nil {
		t.Fatal(err)
	}
	_, err = c.ReadData(t.Context(), server.Mount, "shared", 0)
	if !openbao.IsPermissionDenied(err) || n.of("log in") != 0 {
		t.Errorf("ReadData(...): want a denial and no login, got %d and: %v", n.of("log in"), err)
	}
}

// TestClose holds that a token that the client logged in for is given back, and that a closed client can still be used.
func TestClose(t *testing.T) {
	put(t, server.Mount, "shared", "v")
	c, n := newClient(t, openbao.Auth{AppRole: appRole(t, map[string]any{"token_ttl": "1h"})})
	together(t, c)
	c.Close(t.Context())
	if got := n.of("revoke token"); got != 1 {
		t.Errorf("want one revocation, got %d", got)
	}
	together(t, c)
	if got := n.of("log in"); got != 2 {
		t.Errorf("want a second login, got %d", got)
	}

	given, n := newClient(t, openbao.Auth{Token: tokenWith(t, readKV)})
	together(t, given)
	given.Close(t.Context())
	together(t, given)
	if got := n.of("revoke token"); got != 0 {
		t.Error("a token that was given to the client was revoked")
	}
}
