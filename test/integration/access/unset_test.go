package access

import (
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/utils/ptr"

	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
)

// nothing is what the server has for a setting that is not there, but for the mark of who owns a role.
func nothing(v any) bool {
	l, ok := v.([]any)
	return v == nil || v == "" || ok && !slices.ContainsFunc(l, func(e any) bool { s, _ := e.(string); return !strings.HasPrefix(s, "terdut-owner:") })
}

// TestUnset takes settings out of a role, one after another: what is not asked for any more, and what somebody else adds, is not there.
func TestUnset(t *testing.T) {
	const name, path = "tenants.shop.unset", "auth/kubernetes/role/tenants.shop.unset"
	p := newProvider(t, &accessv1alpha1.KubernetesAuthRole{})
	mg := newRole(name)
	f := &mg.Spec.ForProvider
	f.Audience, f.TokenBoundCidrs = ptr.To("openbao"), []*string{ptr.To("10.1.0.0/16")}
	p.rest(t, mg)
	mark := "terdut-owner:here/uid-of-" + name + "/uid-of-" + name + "/shop/orders"
	for _, c := range []struct {
		field string
		unset func()
		add   any
	}{
		{"audience", func() { f.Audience = nil }, "another"},
		{"token_bound_cidrs", func() { f.TokenBoundCidrs = nil }, "10.2.0.0/16"},
		{"token_policies", func() { f.TokenPolicies = nil }, []any{"more", mark}},
	} {
		c.unset()
		p.rest(t, mg)
		is(t, mg, xpv2.ReasonAvailable)
		if got := found(t, path)[c.field]; !nothing(got) {
			t.Errorf("%s is %v, and was taken out", c.field, got)
		}
		put(t, path, map[string]any{c.field: c.add})
		p.rest(t, mg)
		if got := found(t, path)[c.field]; !nothing(got) {
			t.Errorf("%s is %v, and nobody asks for it", c.field, got)
		}
	}
}

// TestUnsetAppRole does the same with an AppRole, in a method that is mounted elsewhere than usual.
func TestUnsetAppRole(t *testing.T) {
	const name, path = "terdut.shop.machine", "auth/ma/chines/role/terdut.shop.machine"
	p := newProvider(t, &accessv1alpha1.AppRole{})
	mg := newAppRole("ma/chines", name)
	f := &mg.Spec.ForProvider
	f.SecretIDBoundCidrs, f.TokenPolicies = []*string{ptr.To("10.1.0.0/16")}, []*string{ptr.To("a"), ptr.To("default")}
	p.rest(t, mg)
	is(t, mg, xpv2.ReasonAvailable)
	id := ptr.Deref(mg.Status.AtProvider.RoleID, "")
	for _, c := range []struct {
		field string
		unset func()
	}{
		{"secret_id_bound_cidrs", func() { f.SecretIDBoundCidrs = nil }},
		{"token_policies", func() { f.TokenPolicies = nil }},
	} {
		c.unset()
		p.rest(t, mg)
		is(t, mg, xpv2.ReasonAvailable)
		if got := found(t, path)[c.field]; !nothing(got) {
			t.Errorf("%s is %v, and was taken out", c.field, got)
		}
	}
	if got := ptr.Deref(mg.Status.AtProvider.RoleID, ""); got == "" || got != id {
		t.Errorf("the role id was %q and is %q", id, got)
	}
	gone := going(mg)
	if _, err := p.pass(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if found(t, path) != nil {
		t.Error("the role is still there")
	}
}
