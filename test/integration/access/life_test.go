package access

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

const rules = `path "kv/data/tenants/shop/orders" { capabilities = ["read"] }`

// TestPolicyLife creates, changes, repairs and deletes a policy, and writes nothing while it is at rest.
func TestPolicyLife(t *testing.T) {
	const name, path = "tenants.shop.life", "sys/policies/acl/tenants.shop.life"
	p := newProvider(t, &accessv1alpha1.Policy{})
	mg := newPolicy(name, rules)
	p.rest(t, mg)
	is(t, mg, xpv2.ReasonAvailable)
	text := found(t, path)["policy"].(string) //nolint:forcetypeassert // The server's own form.
	mark, rest, _ := strings.Cut(text, "\n")
	if want := "# terdut-owner:here/uid-of-" + name + "/uid-of-" + name + "/shop/orders"; mark != want || rest != rules {
		t.Errorf("the policy is %q", text)
	}
	if got := ptr.Deref(mg.Status.AtProvider.Policy, ""); got != rules {
		t.Errorf("status says %q", got)
	}

	mg.Spec.ForProvider.Policy = ptr.To(rules + "\n# more\n")
	p.rest(t, mg)
	is(t, mg, xpv2.ReasonAvailable)
	if got := found(t, path)["policy"]; got != mark+"\n"+rules+"\n# more\n" {
		t.Errorf("after a change the policy is %q", got)
	}

	// What somebody else changes is put right, but for the mark.
	put(t, path, map[string]any{"policy": mark + "\npath \"*\" { capabilities = [\"read\"] }"})
	p.rest(t, mg)
	if got := found(t, path)["policy"]; got != mark+"\n"+rules+"\n# more\n" {
		t.Errorf("after a repair the policy is %q", got)
	}

	gone := going(mg)
	if _, err := p.pass(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if found(t, path) != nil {
		t.Error("the policy is still there")
	}
	if ok, err := p.pass(t.Context(), gone); err != nil || !ok {
		t.Errorf("it may not go: %v", err)
	}
}

// TestPolicyInJSON holds that a policy without room for its owner is refused in words that help.
func TestPolicyInJSON(t *testing.T) {
	p := newProvider(t, &accessv1alpha1.Policy{})
	mg := newPolicy("tenants.shop.json", "\n "+`{"path": {"kv/data/x": {"capabilities": ["read"]}}}`)
	if _, err := p.pass(t.Context(), mg); err == nil || !strings.Contains(err.Error(), "HCL") {
		t.Errorf("the error is %v", err)
	}
	if w := p.wire.writes(); len(w) > 0 {
		t.Errorf("something was written: %v", w)
	}
}

// TestRoleLife does the same with a role, whose lists have no order.
func TestRoleLife(t *testing.T) {
	const name, path = "tenants.shop.role", "auth/kubernetes/role/tenants.shop.role"
	p := newProvider(t, &accessv1alpha1.KubernetesAuthRole{})
	mg := newRole(name)
	p.rest(t, mg)
	is(t, mg, xpv2.ReasonAvailable)
	got := found(t, path)
	want := []any{"tenants.shop.role", "terdut-owner:here/uid-of-" + name + "/uid-of-" + name + "/shop/orders"}
	if diff := cmp.Diff(want, got["token_policies"]); diff != "" {
		t.Errorf("token policies: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]*string{ptr.To(name)}, mg.Status.AtProvider.TokenPolicies); diff != "" {
		t.Errorf("token policies in the status: -want, +got:\n%s", diff)
	}

	mg.Spec.ForProvider.TokenTTL, mg.Spec.ForProvider.TokenBoundCidrs = ptr.To[int64](60), []*string{ptr.To("10.0.0.1/32"), ptr.To("10.1.0.0/16")}
	p.rest(t, mg)
	is(t, mg, xpv2.ReasonAvailable)

	put(t, path, map[string]any{"bound_service_account_namespaces": []string{"*"}})
	p.rest(t, mg)
	if diff := cmp.Diff([]any{"shop"}, found(t, path)["bound_service_account_namespaces"]); diff != "" {
		t.Errorf("namespaces after a repair: -want, +got:\n%s", diff)
	}

	gone := going(mg)
	if _, err := p.pass(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if found(t, path) != nil {
		t.Error("the role is still there")
	}
}

// TestForeign holds for an object that was not made here that it is not touched, until an admin hands it over.
func TestForeign(t *testing.T) {
	const name, path = "tenants.shop.foreign", "sys/policies/acl/tenants.shop.foreign"
	put(t, path, map[string]any{"policy": "# by hand"})
	p := newProvider(t, &accessv1alpha1.Policy{})
	mg := newPolicy(name, rules)
	p.rest(t, mg)
	is(t, mg, v1alpha1.ReasonConflict)
	if ok, err := p.pass(t.Context(), going(mg)); err != nil || !ok {
		t.Errorf("what is foreign is waited for: %v", err)
	}
	if got := found(t, path)["policy"]; got != "# by hand" {
		t.Errorf("the policy is %q", got)
	}
	if mg.Status.AtProvider.Policy != nil {
		t.Error("the status shows what is foreign")
	}

	p = newProvider(t, &accessv1alpha1.Policy{}, func(pc *v1alpha1.ClusterProviderConfig) {
		pc.Spec.Adoptions = []v1alpha1.Adoption{{Path: path, AdoptionTarget: commonv1alpha1.AdoptionTarget{From: commonv1alpha1.AdoptionFromUnregistered, To: "shop/orders"}}}
	})
	p.rest(t, mg)
	is(t, mg, xpv2.ReasonAvailable)
}

// TestSomebodyElses holds the same for what another object made.
func TestSomebodyElses(t *testing.T) {
	const name = "tenants.shop.else"
	p := newProvider(t, &accessv1alpha1.KubernetesAuthRole{})
	mine := newRole(name)
	p.rest(t, mine)
	other := newRole(name)
	other.SetUID("another")
	p.rest(t, other)
	is(t, other, v1alpha1.ReasonConflict)
	if c := other.GetCondition(xpv2.TypeReady); !strings.Contains(c.Message, "shop/orders (uid-of-"+name+")") {
		t.Errorf("the message does not say whose it is: %s", c.Message)
	}
	if ok, err := p.pass(t.Context(), going(other)); err != nil || !ok {
		t.Errorf("it may not go: %v", err)
	}
	if found(t, "auth/kubernetes/role/"+name) == nil {
		t.Error("the role has gone")
	}
}

// TestObserveOnly looks at what is foreign and changes nothing.
func TestObserveOnly(t *testing.T) {
	const name, path = "tenants.shop.observed", "sys/policies/acl/tenants.shop.observed"
	put(t, path, map[string]any{"policy": rules})
	p := newProvider(t, &accessv1alpha1.Policy{})
	mg := newPolicy(name, "")
	mg.Spec.ForProvider.Policy = nil
	mg.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
	e, err := p.connector.Connect(t.Context(), mg)
	if err != nil {
		t.Fatal(err)
	}
	o, err := e.Observe(t.Context(), mg)
	if err != nil || !o.ResourceExists {
		t.Fatalf("Observe: %+v, %v", o, err)
	}
	if got := ptr.Deref(mg.Status.AtProvider.Policy, ""); got != rules {
		t.Errorf("status says %q", got)
	}
}

// TestUnreachable holds that a server which does not answer is not taken for one that has nothing.
func TestUnreachable(t *testing.T) {
	const name = "tenants.shop.unreachable"
	p := newProvider(t, &accessv1alpha1.Policy{})
	mg := newPolicy(name, rules)
	p.rest(t, mg)
	p.wire.fail = errCut
	_, err := p.pass(t.Context(), mg)
	if err == nil || strings.Contains(err.Error(), errCut.Error()) {
		t.Errorf("the error is %v", err)
	}
	if ok, _ := p.pass(t.Context(), going(mg)); ok {
		t.Error("it may go although nobody knows whether the policy is there")
	}
}
