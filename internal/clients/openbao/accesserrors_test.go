package openbao_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// policyCalls makes each call about a policy, and returns its error by the call's name.
func policyCalls(ctx context.Context, c *openbao.Client, name string) map[string]error {
	errs := map[string]error{}
	_, errs["ReadPolicy"] = c.ReadPolicy(ctx, name)
	errs["WritePolicy"] = c.WritePolicy(ctx, name, "# nothing")
	errs["DeletePolicy"] = c.DeletePolicy(ctx, name)
	return errs
}

// kubernetesCalls makes each call about a role of the Kubernetes method, and appRoleCalls of the AppRole method.
func kubernetesCalls(ctx context.Context, c *openbao.Client, mount, name string) map[string]error {
	errs := map[string]error{}
	_, errs["ReadKubernetesAuthRole"] = c.ReadKubernetesAuthRole(ctx, mount, name)
	errs["WriteKubernetesAuthRole"] = c.WriteKubernetesAuthRole(ctx, mount, name, kubernetesRole())
	errs["DeleteKubernetesAuthRole"] = c.DeleteKubernetesAuthRole(ctx, mount, name)
	return errs
}

func appRoleCalls(ctx context.Context, c *openbao.Client, mount, name string) map[string]error {
	errs := map[string]error{}
	_, errs["ReadAppRoleRole"] = c.ReadAppRoleRole(ctx, mount, name)
	errs["WriteAppRoleRole"] = c.WriteAppRoleRole(ctx, mount, name, appRoleRole())
	errs["DeleteAppRoleRole"] = c.DeleteAppRoleRole(ctx, mount, name)
	return errs
}

func roleCalls(ctx context.Context, c *openbao.Client, mount, name string) map[string]error {
	errs := kubernetesCalls(ctx, c, mount, name)
	for call, err := range appRoleCalls(ctx, c, mount, name) {
		errs[call] = err
	}
	return errs
}

func wantReason(t *testing.T, errs map[string]error, want openbao.Reason, about string) {
	t.Helper()
	for call, err := range errs {
		if got := openbao.ReasonOf(err); got != want {
			t.Errorf("%s: %s(...): want %s, got %s: %v", about, call, want, got, err)
		}
	}
}

// wantRole makes a role, so that the client has seen the mount.
func wantRole(t *testing.T, c *openbao.Client, mount string) {
	t.Helper()
	if err := c.WriteAppRoleRole(t.Context(), mount, "x", openbao.AppRoleRole{BindSecretID: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadAppRoleRole(t.Context(), mount, "x"); err != nil {
		t.Fatal(err)
	}
}

// TestRolesWrongMount holds that an authentication method that is not mounted, and another that is, have no roles that could be absent, and
// that nothing is written to the other.
func TestRolesWrongMount(t *testing.T) {
	ctx := t.Context()
	enable(t, "isapprole", "approle")
	enable(t, "iskubernetes", "kubernetes")
	for name, tc := range map[string]struct {
		reason string
		rules  string
		want   openbao.Reason
	}{
		"All": {
			reason: "A token that may do everything is told that there is no such mount.",
			rules:  `path "*" { capabilities = ["create", "read", "update", "delete", "sudo"] }`, want: openbao.ReasonMountNotFound,
		},
		"Below": {
			reason: "So is one that may use roles of the mount and nothing else.",
			rules:  `path "auth/nowhere/role/*" { capabilities = ["create", "read", "update", "delete"] }`, want: openbao.ReasonMountNotFound,
		},
		"Limited": {
			reason: "A token that has nothing to do with the mount is not told.",
			rules:  `path "auth/isapprole/role/*" { capabilities = ["read"] }`, want: openbao.ReasonPermissionDenied,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := newClient(t, openbao.Auth{Token: tokenWith(t, tc.rules)})
			wantReason(t, roleCalls(ctx, c, "nowhere", "x"), tc.want, tc.reason)
		})
	}

	c := rootClient(t)
	wantReason(t, kubernetesCalls(ctx, c, "isapprole", "x"), openbao.ReasonMountNotFound, "another method")
	wantReason(t, appRoleCalls(ctx, c, "iskubernetes", "x"), openbao.ReasonMountNotFound, "another method")
	for _, mount := range []string{"isapprole", "iskubernetes"} {
		if s, err := bao.Root().Logical().ListWithContext(ctx, "auth/"+mount+"/role"); err != nil || s != nil {
			t.Errorf("there must be no role at %q: %v", mount, err)
		}
	}
	// A part of the API's path is no mount.
	wantReason(t, appRoleCalls(ctx, c, "isapprole/role", "x"), openbao.ReasonMountNotFound, "a mount that goes on into the API's path")
}

// TestRolesMountGone holds that an authentication method that is not mounted any more is not taken for one without roles, although it was
// seen before.
func TestRolesMountGone(t *testing.T) {
	ctx := t.Context()
	c := rootClient(t)
	t.Run("Before", func(t *testing.T) {
		enable(t, "fleeting", "approle")
		wantRole(t, c, "fleeting")
	})
	wantReason(t, appRoleCalls(ctx, c, "fleeting", "x"), openbao.ReasonMountNotFound, "a mount that is gone")

	// Another method in its place, which says of each role that it is not there, is not taken for it by a client that knew the first.
	t.Run("Between", func(t *testing.T) {
		enable(t, "fleeting", "approle")
		wantRole(t, c, "fleeting")
	})
	enable(t, "fleeting", "kubernetes")
	wantReason(t, appRoleCalls(ctx, c, "fleeting", "x"), openbao.ReasonMountNotFound, "another method in its place")
}

// TestAccessDenied holds that a denial is told apart from what is not there, and names the capability and the path that a policy needs.
func TestAccessDenied(t *testing.T) {
	ctx := t.Context()
	enable(t, "denied", "approle")
	c, _ := newClient(t, openbao.Auth{Token: tokenWith(t, `path "auth/denied/role/other" { capabilities = ["read"] }`)})
	want := map[string]string{
		"ReadPolicy":        `cannot read policy "x": permission denied: needs read on "sys/policies/acl/x"`,
		"WritePolicy":       `cannot write policy "x": permission denied: needs create and update on "sys/policies/acl/x"`,
		"DeletePolicy":      `cannot delete policy "x": permission denied: needs delete on "sys/policies/acl/x"`,
		"ReadAppRoleRole":   `cannot read AppRole role "denied/x": permission denied: needs read on "auth/denied/role/x"`,
		"WriteAppRoleRole":  `cannot write AppRole role "denied/x": permission denied: needs create and update on "auth/denied/role/x"`,
		"DeleteAppRoleRole": `cannot delete AppRole role "denied/x": permission denied: needs delete on "auth/denied/role/x"`,
	}
	errs := policyCalls(ctx, c, "x")
	for call, err := range appRoleCalls(ctx, c, "denied", "x") {
		errs[call] = err
	}
	wantReason(t, errs, openbao.ReasonPermissionDenied, "denied")
	for call, err := range errs {
		if err == nil || !strings.HasPrefix(err.Error(), want[call]) {
			t.Errorf("%s(...): want an error that starts with %q, got: %v", call, want[call], err)
		}
	}
}

// TestAccessNotAnswered holds that nothing is absent on a server that is sealed, and behind what does not answer as OpenBao does.
func TestAccessNotAnswered(t *testing.T) {
	ctx := t.Context()
	for body, want := range map[string]openbao.Reason{
		"<html>not found</html>": openbao.ReasonUnreachable,
		`{"message":"no"}`:       openbao.ReasonUnreachable,
		`{"errors":["no handler for route \"sys/policies/acl/x\""]}`: openbao.ReasonMountNotFound, // So for a namespace that is not there.
	} {
		c, _ := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(body))
		})
		wantReason(t, policyCalls(ctx, c, "x"), want, body)
	}
	for _, body := range []string{"{}", "null", `{"data":null}`, `{"data":{}}`, "[]"} {
		c, _ := scripted(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
		if _, err := c.ReadPolicy(ctx, "x"); !openbao.IsUnreachable(err) {
			t.Errorf("ReadPolicy(...): want unreachable for %s, got: %v", body, err)
		}
	}

	enable(t, "sealed", "approle")
	known := rootClient(t)
	wantRole(t, known, "sealed")
	if err := bao.Seal(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := bao.Unseal(context.WithoutCancel(ctx)); err != nil {
			t.Fatal(err)
		}
	}()
	for about, c := range map[string]*openbao.Client{"known mount": known, "new client": rootClient(t)} {
		wantReason(t, policyCalls(ctx, c, "x"), openbao.ReasonSealed, about)
		wantReason(t, roleCalls(ctx, c, "sealed", "x"), openbao.ReasonSealed, about)
	}
}

// TestAccessNames holds that names are refused, before anything is sent, of which the server makes others or nothing.
func TestAccessNames(t *testing.T) {
	ctx := t.Context()
	c, n := newClient(t, openbao.Auth{Token: bao.RootToken})
	bad := []string{"", " ", ".", "..", "a..b", "/x", "x/", "x/y", "../x", "X", "É", "x\n", "x\x00", " x", "x ", "x,y"}
	for _, name := range append(bad, "root", "default", "response-wrapping", "control-group") {
		wantReason(t, policyCalls(ctx, c, name), openbao.ReasonRejected, name)
	}
	for _, name := range append(bad, "x y", "x%2fy", ".x", "x-", "é", "x*", strings.Repeat("x", 4097)) {
		wantReason(t, roleCalls(ctx, c, "approle", name), openbao.ReasonRejected, name)
	}
	for _, mount := range []string{"", "/x", "x/", "x//y", "..", "../sys", "x\n"} {
		wantReason(t, roleCalls(ctx, c, mount, "x"), openbao.ReasonRejected, mount)
	}
	for operation, sent := range n.n {
		t.Errorf("%s was sent %d times", operation, sent)
	}
}

// TestAccessRejected holds that what the server does not take is refused and not retried for ever, and that its reason is told.
func TestAccessRejected(t *testing.T) {
	ctx := t.Context()
	enable(t, "rejected-k", "kubernetes")
	enable(t, "rejected-a", "approle")
	c := rootClient(t)
	if err := c.WriteAppRoleRole(ctx, "rejected-a", "first", openbao.AppRoleRole{RoleID: "taken", BindSecretID: true}); err != nil {
		t.Fatal(err)
	}
	kubernetes := func(change func(*openbao.KubernetesAuthRole)) error {
		r := kubernetesRole()
		change(&r)
		return c.WriteKubernetesAuthRole(ctx, "rejected-k", "x", r)
	}
	appRole := func(change func(*openbao.AppRoleRole)) error {
		r := appRoleRole()
		change(&r)
		return c.WriteAppRoleRole(ctx, "rejected-a", "x", r)
	}
	for about, tc := range map[string]struct {
		err  error
		want string
	}{
		"Policy":     {c.WritePolicy(ctx, "rejected", "path nope"), "failed to parse policy"},
		"Capability": {c.WritePolicy(ctx, "rejected", `path "x" { capabilities = ["fly"] }`), `invalid capability "fly"`},
		"Empty":      {c.WritePolicy(ctx, "rejected", " \n"), "must not be empty"},
		"Base64":     {c.WritePolicy(ctx, "rejected", "IyBub3RoaW5n"), "base64"},
		"Nobody":     {kubernetes(func(r *openbao.KubernetesAuthRole) { r.BoundServiceAccountNames = nil }), "can not be empty"},
		"Type":       {kubernetes(func(r *openbao.KubernetesAuthRole) { r.TokenType = "golden" }), "token_type"},
		"Batch":      {kubernetes(func(r *openbao.KubernetesAuthRole) { r.TokenType = "batch" }), "periodic"},
		"TTL":        {kubernetes(func(r *openbao.KubernetesAuthRole) { r.TokenTTL = 121 }), "token_max_ttl"},
		"Overflow":   {kubernetes(func(r *openbao.KubernetesAuthRole) { r.TokenExplicitMaxTTL = openbao.MaxSeconds + 1 }), "token_explicit_max_ttl"},
		"Negative":   {appRole(func(r *openbao.AppRoleRole) { r.SecretIDTTL = -1 }), "secret_id_ttl"},
		"CIDR":       {appRole(func(r *openbao.AppRoleRole) { r.SecretIDBoundCIDRs = []string{"192.0.2.1"} }), "invalid CIDR address"},
		"RoleID":     {appRole(func(r *openbao.AppRoleRole) { r.RoleID = "taken" }), "role_id already in use"},
		"Anybody": {appRole(func(r *openbao.AppRoleRole) {
			r.SecretIDBoundCIDRs, r.TokenBoundCIDRs = nil, nil
		}), "at least one constraint"},
	} {
		if openbao.ReasonOf(tc.err) != openbao.ReasonRejected || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("%s: want a rejection that says %q, got: %v", about, tc.want, tc.err)
		}
	}
	// Longer durations than the server can hold would come out as others.
	const wraps = 1 << 62
	if err := kubernetes(func(r *openbao.KubernetesAuthRole) { r.TokenPeriod = wraps }); openbao.ReasonOf(err) != openbao.ReasonRejected {
		t.Errorf("WriteKubernetesAuthRole(...): want a rejection, got: %v", err)
	}
}
