package openbao_test

import (
	"testing"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

func TestHealth(t *testing.T) {
	c, n := newClient(t, openbao.Auth{Token: "not a token of this server"})
	h, err := c.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if h.Version == "" || !h.Initialized || h.Sealed || h.Standby || h.TLS != "" {
		t.Errorf("Health(...): got %+v", h)
	}
	if got := n.of("look up token"); got != 0 {
		t.Error("asking for health needs no token")
	}
}

func TestLookupToken(t *testing.T) {
	c, _ := newClient(t, openbao.Auth{AppRole: appRole(t, map[string]any{"token_ttl": "1h"})})
	info, err := c.LookupToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.TTL <= 0 || !info.Renewable || len(info.Policies) != 2 {
		t.Errorf("LookupToken(...): got %+v", info)
	}
	c, _ = newClient(t, openbao.Auth{Token: "not a token of this server"})
	if _, err := c.LookupToken(t.Context()); !openbao.IsPermissionDenied(err) {
		t.Errorf("LookupToken(...): want a denial, got: %v", err)
	}
}
