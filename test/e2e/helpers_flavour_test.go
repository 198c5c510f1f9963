package e2e

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// composedFor are the labels of what is composed for the Tenant, TerdutServer or SecretContract of a name.
func composedFor(name string) client.MatchingLabels {
	if flavour == product.FlavourClaims {
		return client.MatchingLabels{"crossplane.io/claim-name": name}
	}
	return client.MatchingLabels{"crossplane.io/composite": name}
}

// behind are the kinds of which Crossplane says whether it listens to them: for a kind of ours itself, or that of the composites behind claims.
func behind(gvk schema.GroupVersionKind) schema.GroupVersionKind {
	if flavour == product.FlavourClaims {
		gvk.Kind = "X" + gvk.Kind
	}
	return gvk
}

// compositionOf is the name of the Composition of claims, by their plural.
func compositionOf(claims string) string {
	if flavour == product.FlavourClaims {
		claims = "x" + claims
	}
	return claims + ".terdut.ryuvia.com"
}

// composedWith lets a claim of a spec be composed with a Composition of a name.
func composedWith(composition string, spec map[string]any) map[string]any {
	ref := map[string]any{"compositionRef": map[string]any{"name": composition}}
	if flavour == product.FlavourClaims {
		maps.Copy(spec, ref)
	} else {
		spec["crossplane"] = ref
	}
	return spec
}

// behindInTrees is what a tree shows between a claim and what it is made of, for the resource argument of a claim.
func behindInTrees(claim string) []string {
	if flavour != product.FlavourClaims {
		return nil
	}
	kind, _, _ := strings.Cut(claim, ".")
	return map[string][]string{"tenant": {"XTenant/"}, "terdutserver": {"XTerdutServer/"}, "secretcontract": {"XSecretContract/"}}[kind]
}

// heard is the object whose condition Responsive says whether Crossplane listens to what becomes of a claim.
func heard(t *testing.T, u *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	if flavour != product.FlavourClaims {
		return u
	}
	xr := &unstructured.Unstructured{}
	xr.SetGroupVersionKind(behind(u.GroupVersionKind()))
	name, _, _ := unstructured.NestedString(u.Object, "spec", "resourceRef", "name")
	if err := p.Client.Get(t.Context(), client.ObjectKey{Name: name}, xr); err != nil {
		t.Fatalf("cannot get what stands behind %s %q: %v", u.GetKind(), u.GetName(), err)
	}
	return xr
}

// standsIn tells whether an object is of a namespace, or behind a claim of it.
func standsIn(u *unstructured.Unstructured, ns string) bool {
	of, _, _ := unstructured.NestedString(u.Object, "spec", "claimRef", "namespace")
	return u.GetNamespace() == ns || u.GetNamespace() == "" && of == ns
}
