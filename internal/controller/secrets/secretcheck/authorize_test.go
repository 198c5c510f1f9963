package secretcheck

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
)

// TestGrants holds that without a grant that covers all of it a contract learns nothing, and that what it learnt goes with the grant.
func TestGrants(t *testing.T) {
	yes := true
	grant := func(mods ...func(*v1alpha1.SecretAccessGrant)) *v1alpha1.SecretAccessGrant {
		g := &v1alpha1.SecretAccessGrant{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "grant"}}
		g.Spec = v1alpha1.SecretAccessGrantSpec{
			ContractRef: v1alpha1.ContractReference{Name: "orders", UID: "check-uid"}, SecretName: "orders-db", RuleTypes: []string{"required", "nonEmpty"},
		}
		for _, m := range mods {
			m(g)
		}
		return g
	}
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.SecretCheck
		grant  *v1alpha1.SecretAccessGrant
		want   string
	}{
		"Granted":     {"It covers all.", check(), grant(), "True RulesSatisfied"},
		"None":        {"There is none.", check(), nil, "False AccessNotApproved"},
		"Recreated":   {"A contract of the same name is another one.", check(func(c *v1alpha1.SecretCheck) { c.UID = "other" }), grant(), "False AccessNotApproved"},
		"OtherSecret": {"It is about another Secret.", check(), grant(func(g *v1alpha1.SecretAccessGrant) { g.Spec.SecretName = "billing-db" }), "False AccessNotApproved"},
		"MoreRules":   {"A pattern would tell more.", check(func(c *v1alpha1.SecretCheck) { c.Spec.ForProvider.RequiredKeys[0].Pattern = "^S" }), grant(), "False AccessNotApproved"},
		"MoreWorkload": {"A workload was not granted.", check(func(c *v1alpha1.SecretCheck) {
			c.Spec.ForProvider.WorkloadRefs = []v1alpha1.WorkloadReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "api"}}
		}), grant(), "False AccessNotApproved"},
		"OtherNamespace": {"It is of another namespace.", check(), grant(func(g *v1alpha1.SecretAccessGrant) { g.Namespace = "billing" }), "False AccessNotApproved"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{secret()}
			if tc.grant != nil {
				objects = append(objects, tc.grant)
			}
			b := newBench(t, objects...)
			b.grants = true
			if err := b.look(t, tc.mg); err != nil {
				t.Fatal(err)
			}
			if got := says(tc.mg, v1alpha1.TypeSatisfied); got != tc.want {
				t.Errorf("\n%s\nSatisfied: got %s, want %s", tc.reason, got, tc.want)
			}
			if tc.want == "False AccessNotApproved" && b.gets > 0 {
				t.Errorf("\n%s\nthe Secret was read %d times", tc.reason, b.gets)
			}
		})
	}

	t.Run("Revoked", func(t *testing.T) {
		mg := check(func(c *v1alpha1.SecretCheck) {
			c.Spec.ForProvider.RequiredKeys = append(c.Spec.ForProvider.RequiredKeys, v1alpha1.KeyRule{Name: "username", Required: &yes})
		})
		g := grant()
		b := newBench(t, secret(), g)
		b.grants = true
		if err := b.look(t, mg); err != nil {
			t.Fatal(err)
		}
		if len(mg.Status.AtProvider.Violations) != 1 {
			t.Fatalf("got %+v, want one violation", mg.Status.AtProvider)
		}
		if err := b.kube.Delete(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		if err := b.look(t, mg); err != nil {
			t.Fatal(err)
		}
		if o := mg.Status.AtProvider; len(o.Violations) != 0 || o.MissingKeyCount != 0 || o.ObservedSecret != nil || len(o.MissingKeys) != 0 {
			t.Errorf("findings of before are still shown: %+v", o)
		}
	})

	t.Run("Undecided", func(t *testing.T) {
		mg := check(func(c *v1alpha1.SecretCheck) {
			c.Spec.ForProvider.RequiredKeys = append(c.Spec.ForProvider.RequiredKeys, v1alpha1.KeyRule{Name: "username"})
		})
		b := newBench(t, secret(), grant())
		b.grants = true
		if err := b.look(t, mg); err != nil {
			t.Fatal(err)
		}
		b.fail = timeout("SecretAccessGrantList")
		mg.Spec.ForProvider.CheckRequest = "again"
		if err := b.look(t, mg); err == nil {
			t.Fatal("the API server's fault was swallowed")
		}
		if o := mg.Status.AtProvider; len(o.Violations) != 0 || o.MissingKeyCount != 0 || o.ObservedSecret != nil || len(o.MissingKeys) != 0 {
			t.Errorf("findings are shown while it is not known whether they may be: %+v", o)
		}
		if got := mg.Status.AtProvider.CheckRequest; got != "please" {
			t.Errorf("request %q is said to be answered", got)
		}
	})

	t.Run("Borrowed", func(t *testing.T) {
		// An owner reference can be written by anybody; a composite that does not compose the check is not behind it.
		mg := check(func(c *v1alpha1.SecretCheck) {
			c.UID = "other"
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "secrets.terdut.ryuvia.com/v1alpha1", Kind: "SecretCheck", Name: "orders", UID: "check-uid", Controller: &yes}}
		})
		b := newBench(t, secret(), grant(), check())
		b.grants = true
		if err := b.look(t, mg); err == nil && says(mg, v1alpha1.TypeSatisfied) != "False AccessNotApproved" {
			t.Errorf("a forged owner reference borrowed a grant: %s", says(mg, v1alpha1.TypeSatisfied))
		}
		if b.gets > 0 {
			t.Errorf("the Secret was read %d times", b.gets)
		}
	})

	// A composed check, whose contract a grant is for, and what the contract asks for.
	contractOf := func(spec string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(spec), &u.Object); err != nil {
			t.Fatal(err)
		}
		refs := []any{map[string]any{"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": v1alpha1.SecretCheckKind, "name": "orders-abc"}}
		u.Object = map[string]any{"apiVersion": "terdut.ryuvia.com/v1alpha1", "kind": "SecretContract", "spec": u.Object}
		if err := unstructured.SetNestedSlice(u.Object, refs, "spec", "crossplane", "resourceRefs"); err != nil {
			t.Fatal(err)
		}
		u.SetNamespace(namespace)
		u.SetName("orders")
		u.SetUID("contract-uid")
		return u
	}
	forContract := grant(func(g *v1alpha1.SecretAccessGrant) {
		g.Spec.ContractRef.UID, g.Spec.RuleTypes = "contract-uid", []string{"required", "nonEmpty", "minLength", "pattern"}
	})
	composed := func(c *v1alpha1.SecretCheck) {
		c.Name, c.UID = "orders-abc", "check-uid"
		c.Spec.ForProvider.RequiredKeys = []v1alpha1.KeyRule{{Name: "password", Pattern: "^S"}, {Name: "token", Required: new(bool)}}
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "terdut.ryuvia.com/v1alpha1", Kind: "SecretContract", Name: "orders", UID: "contract-uid", Controller: &yes}}
	}
	const spec = "{secretRef: {name: orders-db}, requiredKeys: [{name: token, required: false}, {name: password, pattern: ^S}]}"
	for name, tc := range map[string]struct {
		reason   string
		contract *unstructured.Unstructured
		mod      func(*v1alpha1.SecretCheck)
		want     string
	}{
		"Composed": {"It asks for what its contract asks for.", contractOf(spec), func(*v1alpha1.SecretCheck) {}, "True RulesSatisfied"},
		"Provisions": {"By what the Secret is delivered is for the function to say.", contractOf(spec), func(c *v1alpha1.SecretCheck) {
			c.Spec.ForProvider.ExternalSecretRef = &v1alpha1.ExternalSecretReference{Name: "source", APIVersion: esV1}
		}, "True RulesSatisfied"},
		"OtherPattern": {"A check with a question of somebody else's, of a type that was granted.", contractOf(spec), func(c *v1alpha1.SecretCheck) {
			c.Spec.ForProvider.RequiredKeys[0].Pattern = "^S3"
		}, "False AccessNotApproved"},
		"MoreKeys": {"Or about another key.", contractOf(spec), func(c *v1alpha1.SecretCheck) {
			c.Spec.ForProvider.RequiredKeys = append(c.Spec.ForProvider.RequiredKeys, v1alpha1.KeyRule{Name: "username"})
		}, "False AccessNotApproved"},
		"Rotation": {"Or about an annotation.", contractOf(spec), func(c *v1alpha1.SecretCheck) {
			c.Spec.ForProvider.Rotation = &v1alpha1.RotationPolicy{RotatedAtAnnotation: "other"}
		}, "False AccessNotApproved"},
		"Changed": {"The contract asks for something else by now.", contractOf("{secretRef: {name: orders-db}, requiredKeys: [{name: token}]}"), func(*v1alpha1.SecretCheck) {}, "False AccessNotApproved"},
		"Odd":     {"What controls it is no contract.", contractOf("{secretRef: orders-db}"), func(*v1alpha1.SecretCheck) {}, "False AccessNotApproved"},
	} {
		t.Run("Composed/"+name, func(t *testing.T) {
			mg := check(composed, tc.mod)
			b := newBench(t, secret(), forContract, tc.contract)
			b.grants = true
			if err := b.look(t, mg); err != nil {
				t.Fatal(err)
			}
			if got := says(mg, v1alpha1.TypeSatisfied); got != tc.want {
				t.Errorf("\n%s\nSatisfied: got %s, want %s", tc.reason, got, tc.want)
			}
			if tc.want == "False AccessNotApproved" && b.gets > 0 {
				t.Errorf("\n%s\nthe Secret was read %d times", tc.reason, b.gets)
			}
		})
	}

	// The contract is a claim. A grant names the claim, and not what stands behind it.
	for name, uid := range map[string]types.UID{"Claim": "contract-uid", "ClaimAnew": "another-uid"} {
		t.Run("Composed/"+name, func(t *testing.T) {
			claim := contractOf(spec)
			claim.SetUID(uid)
			xr := contractOf(spec)
			xr.SetKind("XSecretContract")
			xr.SetNamespace("")
			xr.SetName("orders-x")
			xr.SetUID("xr-uid")
			refs := []any{map[string]any{"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": v1alpha1.SecretCheckKind, "namespace": namespace, "name": "orders-abc"}}
			ref := map[string]any{"apiVersion": "terdut.ryuvia.com/v1alpha1", "kind": "SecretContract", "namespace": namespace, "name": "orders"}
			back := map[string]any{"apiVersion": "terdut.ryuvia.com/v1alpha1", "kind": "XSecretContract", "name": "orders-x"}
			if err := errors.Join(
				unstructured.SetNestedSlice(xr.Object, refs, "spec", "resourceRefs"), unstructured.SetNestedMap(xr.Object, ref, "spec", "claimRef"),
				unstructured.SetNestedMap(claim.Object, back, "spec", "resourceRef"),
			); err != nil {
				t.Fatal(err)
			}
			mg := check(composed, func(c *v1alpha1.SecretCheck) {
				c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "terdut.ryuvia.com/v1alpha1", Kind: "XSecretContract", Name: "orders-x", UID: "xr-uid", Controller: &yes}}
			})
			b := newBench(t, secret(), forContract, xr, claim)
			b.grants = true
			if err := b.look(t, mg); err != nil {
				t.Fatal(err)
			}
			if got, want := says(mg, v1alpha1.TypeSatisfied) == "True RulesSatisfied", uid == "contract-uid"; got != want || !got && b.gets > 0 {
				t.Errorf("Satisfied: got %s, with %d reads of the Secret", says(mg, v1alpha1.TypeSatisfied), b.gets)
			}
		})
	}
}
