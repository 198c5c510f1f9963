package openbao_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/openbao/openbao/api/v2"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// enable an authentication method, and take it away when the test ends.
func enable(t *testing.T, mount, kind string) {
	t.Helper()
	if err := bao.Root().Sys().EnableAuthWithOptionsWithContext(t.Context(), mount, &api.EnableAuthOptions{Type: kind}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bao.Root().Sys().DisableAuthWithContext(context.WithoutCancel(t.Context()), mount); err != nil {
			t.Error(err)
		}
	})
}

// kubernetesRole is one with a value in every setting.
func kubernetesRole() openbao.KubernetesAuthRole {
	return openbao.KubernetesAuthRole{
		BoundServiceAccountNames:      []string{"app", "job-*"},
		BoundServiceAccountNamespaces: []string{"team-a"},
		Audience:                      "openbao",
		AliasNameSource:               openbao.AliasNameSourceName,
		TokenSettings:                 tokenSettings(),
	}
}

func appRoleRole() openbao.AppRoleRole {
	return openbao.AppRoleRole{
		RoleID: "chosen", SecretIDBoundCIDRs: []string{"192.0.2.0/24"}, SecretIDNumUses: 3, SecretIDTTL: 60, TokenSettings: tokenSettings(),
	}
}

func tokenSettings() openbao.TokenSettings {
	return openbao.TokenSettings{
		TokenTTL: 60, TokenMaxTTL: 120, TokenExplicitMaxTTL: 240, TokenPeriod: 30, TokenPolicies: []string{"a", "b"},
		TokenBoundCIDRs: []string{"192.0.2.1", "2001:db8::/32"}, TokenNoDefaultPolicy: true, TokenNumUses: 7, TokenType: openbao.TokenTypeService,
	}
}

// TestPolicy holds that a policy is kept as it was written, and that one that is not there is said to be so.
func TestPolicy(t *testing.T) {
	ctx := t.Context()
	c := rootClient(t)
	const name = "a policy%2f#?é" // Nothing in it is taken for something else.
	if _, err := c.ReadPolicy(ctx, name); !openbao.IsNotFound(err) {
		t.Errorf("ReadPolicy(...): want not found, got: %v", err)
	}
	for _, text := range []string{"\n# <&>\r\n path \"x\" { capabilities = [\"read\"] }\n\n", `{"path":{"y":{"capabilities":["list"]}}}`} {
		if err := c.WritePolicy(ctx, name, text); err != nil {
			t.Fatal(err)
		}
		got, err := c.ReadPolicy(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, got); diff != "" {
			t.Errorf("ReadPolicy(...): -want, +got:\n%s", diff)
		}
	}
	all, err := bao.Root().Sys().ListPoliciesWithContext(ctx)
	if err != nil || !slices.Contains(all, name) {
		t.Errorf("the policy has another name on the server: %v, %v", all, err)
	}
	for range 2 {
		if err := c.DeletePolicy(ctx, name); err != nil {
			t.Errorf("DeletePolicy(...): %v", err)
		}
	}
	if _, err := c.ReadPolicy(ctx, name); !openbao.IsNotFound(err) {
		t.Errorf("ReadPolicy(...): want not found, got: %v", err)
	}
}

// TestRoles holds that every setting is written and read, that a write sets all of them again, and that a role that is not there is said to be so.
func TestRoles(t *testing.T) {
	ctx := t.Context()
	enable(t, "k8s/west", "kubernetes")
	enable(t, "roles", "approle")
	c := rootClient(t)
	unordered := cmp.Options{cmpopts.SortSlices(strings.Compare), cmpopts.EquateEmpty()}

	if _, err := c.ReadKubernetesAuthRole(ctx, "k8s/west", "app.1"); !openbao.IsNotFound(err) {
		t.Errorf("ReadKubernetesAuthRole(...): want not found, got: %v", err)
	}
	if _, err := c.ReadAppRoleRole(ctx, "roles", "app.1"); !openbao.IsNotFound(err) {
		t.Errorf("ReadAppRoleRole(...): want not found, got: %v", err)
	}

	plain := openbao.TokenSettings{TokenType: openbao.TokenTypeDefault}
	for _, want := range []openbao.KubernetesAuthRole{kubernetesRole(), {
		BoundServiceAccountNames: []string{"*"}, BoundServiceAccountNamespaces: []string{"*"}, AliasNameSource: openbao.AliasNameSourceUID, TokenSettings: plain,
	}} {
		if err := c.WriteKubernetesAuthRole(ctx, "k8s/west", "app.1", want); err != nil {
			t.Fatal(err)
		}
		got, err := c.ReadKubernetesAuthRole(ctx, "k8s/west", "app.1")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got, unordered); diff != "" {
			t.Errorf("ReadKubernetesAuthRole(...): -want, +got:\n%s", diff)
		}
	}
	for _, want := range []openbao.AppRoleRole{appRoleRole(), {RoleID: "another", BindSecretID: true, TokenSettings: plain}} {
		if err := c.WriteAppRoleRole(ctx, "roles", "app.1", want); err != nil {
			t.Fatal(err)
		}
		got, err := c.ReadAppRoleRole(ctx, "roles", "app.1")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got, unordered); diff != "" {
			t.Errorf("ReadAppRoleRole(...): -want, +got:\n%s", diff)
		}
	}
	// A role keeps its role id when none is given, and a new one gets one.
	for name, same := range map[string]bool{"app.1": true, "app.2": false} {
		if err := c.WriteAppRoleRole(ctx, "roles", name, openbao.AppRoleRole{BindSecretID: true, TokenSettings: plain}); err != nil {
			t.Fatal(err)
		}
		got, err := c.ReadAppRoleRole(ctx, "roles", name)
		if err != nil || got.RoleID == "" || (got.RoleID == "another") != same {
			t.Errorf("ReadAppRoleRole(%q): role id %+v, %v", name, got, err)
		}
	}

	// The server would make something else of blocks of addresses in some spellings.
	spelled := openbao.AppRoleRole{SecretIDBoundCIDRs: []string{"2001:DB8:0::/48", "192.0.2.7/24"}}
	if err := c.WriteAppRoleRole(ctx, "roles", "app.1", spelled); err != nil {
		t.Fatal(err)
	}
	got, err := c.ReadAppRoleRole(ctx, "roles", "app.1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"192.0.2.7/24", "2001:db8::/48"}, got.SecretIDBoundCIDRs, unordered); diff != "" {
		t.Errorf("blocks of addresses: -want, +got:\n%s", diff)
	}

	for range 2 {
		if err := c.DeleteKubernetesAuthRole(ctx, "k8s/west", "app.1"); err != nil {
			t.Errorf("DeleteKubernetesAuthRole(...): %v", err)
		}
		if err := c.DeleteAppRoleRole(ctx, "roles", "app.1"); err != nil {
			t.Errorf("DeleteAppRoleRole(...): %v", err)
		}
	}
	if _, err := c.ReadKubernetesAuthRole(ctx, "k8s/west", "app.1"); !openbao.IsNotFound(err) {
		t.Errorf("ReadKubernetesAuthRole(...): want not found, got: %v", err)
	}
	if _, err := c.ReadAppRoleRole(ctx, "roles", "app.1"); !openbao.IsNotFound(err) {
		t.Errorf("ReadAppRoleRole(...): want not found, got: %v", err)
	}
}
