package openbao_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	server "github.com/ryuvia/provider-terdut/cluster/local/openbao"
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

func TestMissingCapabilities(t *testing.T) {
	limited := tokenWith(t, `
		path "kv/data/tenants/*" { capabilities = ["create", "read"] }
		path "kv/metadata/tenants/*" { capabilities = ["create", "read", "update", "delete"] }`)
	cases := map[string]struct {
		reason string
		token  string
		path   string
		check  openbao.Capabilities
		want   []string
	}{
		"Root":   {"The root token lacks nothing.", bao.RootToken, "tenants/a", openbao.WriteCapabilities(), nil},
		"Read":   {"A policy that gives all that is needed is enough.", limited, "tenants/a", openbao.ReadCapabilities(), nil},
		"Write":  {"What is missing is named with its path.", limited, "tenants/a", openbao.WriteCapabilities(), []string{`update on "kv/data/tenants/a"`}},
		"Delete": {"Deleting is asked for apart.", limited, "tenants/a", openbao.DeleteCapabilities(), nil},
		"Other": {
			"Another path has no capability at all.", limited, "other", openbao.ReadCapabilities(),
			[]string{`read on "kv/data/other"`, `read on "kv/metadata/other"`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, _ := newClient(t, openbao.Auth{Token: tc.token})
			got, err := c.MissingCapabilities(t.Context(), server.Mount, tc.path, tc.check)
			if err != nil {
				t.Fatalf("\n%s\nMissingCapabilities(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nMissingCapabilities(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
