package access

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao/access"
)

// TestMarks holds whose a policy or a role is, by what stands in it when an object finds it: what is the object's gets its mark and goes with
// it, and what is not stays as it is.
func TestMarks(t *testing.T) {
	const name = "tenants.shop.marks"
	const policyPath, rolePath = "sys/policies/acl/" + name, "auth/kubernetes/role/" + name
	const uid = "uid-of-" + name
	const own = "terdut-owner:here/" + uid + "/" + uid + "/shop/orders"
	consent := func(pc *v1alpha1.ClusterProviderConfig) {
		pc.Spec.ControlPlanes = []commonv1alpha1.ControlPlaneAdoption{{From: "there"}}
	}
	adopt := func(path string) func(*v1alpha1.ClusterProviderConfig) {
		return func(pc *v1alpha1.ClusterProviderConfig) {
			pc.Spec.Adoptions = []v1alpha1.Adoption{{Path: path, AdoptionTarget: commonv1alpha1.AdoptionTarget{From: "b", To: "shop/orders"}}}
		}
	}
	cases := map[string]struct {
		reason string
		mark   string
		// second mark beside it.
		second  string
		consent bool
		// path that an admin hands over, from the owner b.
		adopted string
		ours    bool
		// held is true when the object may delete what it finds, without marking it first.
		held bool
	}{
		"Own":               {reason: "It says so.", mark: own, ours: true, held: true},
		"Holder":            {reason: "Another object of the same owner held it, which was made anew.", mark: "terdut-owner:here/" + uid + "/before/shop/orders", ours: true},
		"Renamed":           {reason: "Names of owners are for people.", mark: "terdut-owner:here/" + uid + "/" + uid + "/shop/before", ours: true, held: true},
		"Owner":             {reason: "An owner that was made anew is another one.", mark: "terdut-owner:here/before/before/shop/orders"},
		"ControlPlane":      {reason: "Another control plane has it.", mark: "terdut-owner:there/" + uid + "/" + uid + "/shop/orders"},
		"Consent":           {reason: "An admin moves everything from there.", mark: "terdut-owner:there/a/b/shop/orders", consent: true, ours: true},
		"ConsentOtherOwner": {reason: "To owners of the same name.", mark: "terdut-owner:there/a/b/shop/others", consent: true},
		"ConsentOtherPlane": {reason: "And not from elsewhere.", mark: "terdut-owner:elsewhere/a/b/shop/orders", consent: true},
		"Adopted":           {reason: "An admin hands it over.", mark: "terdut-owner:there/b/c/bank/accounts", adopted: "this", ours: true},
		"AdoptedOther":      {reason: "An admin hands over something else.", mark: "terdut-owner:there/b/c/bank/accounts", adopted: "sys/policies/acl/other"},
		"AdoptedFromOther":  {reason: "And from somebody else.", mark: "terdut-owner:there/x/c/bank/accounts", adopted: "this"},
		"None":              {reason: "It does not say whose it is.", mark: "nobody"},
		"Short":             {reason: "That is no mark.", mark: "terdut-owner:here/" + uid},
		"Long":              {reason: "Nor is that.", mark: own + "/x"},
		"Several":           {reason: "Who adds a mark of their own makes it nobody's.", mark: own, second: "terdut-owner:there/x/x/bank/accounts"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			mods := func(path string) []func(*v1alpha1.ClusterProviderConfig) {
				switch {
				case tc.consent:
					return []func(*v1alpha1.ClusterProviderConfig){consent}
				case tc.adopted == "this":
					return []func(*v1alpha1.ClusterProviderConfig){adopt(path)}
				case tc.adopted != "":
					return []func(*v1alpha1.ClusterProviderConfig){adopt(tc.adopted)}
				}
				return nil
			}
			// A second mark of a policy is text like any other.
			if tc.second == "" {
				theirs := map[string]any{"policy": "# " + tc.mark + "\n# theirs"}
				put(t, policyPath, theirs)
				p := newProvider(t, &accessv1alpha1.Policy{}, mods(policyPath)...)
				check(t, p, newPolicy(name, rules), policyPath, theirs, tc.ours, tc.held)
			}
			policies := []any{"theirs", tc.mark}
			if tc.second != "" {
				policies = append(policies, tc.second)
			}
			theirs := map[string]any{"bound_service_account_names": "x", "bound_service_account_namespaces": "y", "token_policies": policies}
			put(t, rolePath, theirs)
			p := newProvider(t, &accessv1alpha1.KubernetesAuthRole{}, mods(rolePath)...)
			check(t, p, newRole(name), rolePath, theirs, tc.ours, tc.held)
		})
	}
}

// check what an object does with what it finds at a path, when it is deleted at once and when it lives before.
func check[T access.Object](t *testing.T, p *provider[T], mg T, path string, theirs map[string]any, ours, held bool) {
	t.Helper()
	// Looks for the first time while it goes.
	gone := going(mg)
	for range 2 {
		if _, err := p.pass(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
	}
	if left := found(t, path) != nil; left == held {
		t.Errorf("%s: after a deletion it is there: %t, want %t", path, left, !held)
	}

	put(t, path, theirs)
	p.rest(t, mg)
	want := xpv2.ReasonAvailable
	if !ours {
		want = v1alpha1.ReasonConflict
	}
	is(t, mg, want)
	gone = going(mg)
	for range 2 {
		if _, err := p.pass(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
	}
	if left := found(t, path) != nil; left == ours {
		t.Errorf("%s: after its life it is there: %t, want %t", path, left, !ours)
	}
}
