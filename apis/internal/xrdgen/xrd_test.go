package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
)

// read a YAML file.
func read[T any](t *testing.T, path string) *T {
	t.Helper()
	data, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	if err := yaml.UnmarshalStrict(data, out); err != nil {
		t.Fatalf("cannot parse %s: %v", path, err)
	}
	return out
}

// definition converts the fixture and reads the result as Crossplane does, which stores both versions as v1.
func definition(t *testing.T, claims bool) *xv1.CompositeResourceDefinition {
	t.Helper()
	out := t.TempDir()
	if err := (&CLI{CRDs: "testdata", Output: out, Claims: claims}).Run(); err != nil {
		t.Fatalf("c.Run(): unexpected error: %v", err)
	}
	return read[xv1.CompositeResourceDefinition](t, filepath.Join(out, "definitions", "widgets.yaml"))
}

// TestRoundTrip lets Crossplane derive its own CustomResourceDefinitions and looks for all that the original says.
func TestRoundTrip(t *testing.T) {
	original := read[extv1.CustomResourceDefinition](t, "testdata/widgets.yaml")

	cases := map[string]struct {
		reason string
		claims bool
		derive func(*xv1.CompositeResourceDefinition) (*extv1.CustomResourceDefinition, error)
		kind   string
		scope  extv1.ResourceScope
	}{
		"Namespaced":     {reason: "The composite is the kind itself.", derive: xcrd.ForCompositeResource, kind: "Widget", scope: extv1.NamespaceScoped},
		"Claim":          {reason: "The claim is the kind.", claims: true, derive: xcrd.ForCompositeResourceClaim, kind: "Widget", scope: extv1.NamespaceScoped},
		"ClaimComposite": {reason: "Behind the claim is a composite of cluster scope.", claims: true, derive: xcrd.ForCompositeResource, kind: "XWidget", scope: extv1.ClusterScoped},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			crd, err := tc.derive(definition(t, tc.claims))
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff([]any{tc.kind, tc.scope}, []any{crd.Spec.Names.Kind, crd.Spec.Scope}); diff != "" {
				t.Errorf("\n%s\nkind and scope: -want, +got:\n%s", tc.reason, diff)
			}
			want, got := original.Spec.Versions[0], crd.Spec.Versions[0]
			if diff := cmp.Diff(want.AdditionalPrinterColumns, got.AdditionalPrinterColumns[:len(want.AdditionalPrinterColumns)]); diff != "" {
				t.Errorf("\n%s\nprinter columns: -want, +got:\n%s", tc.reason, diff)
			}
			for _, field := range []string{"spec", "status"} {
				w, g := want.Schema.OpenAPIV3Schema.Properties[field], got.Schema.OpenAPIV3Schema.Properties[field]
				if diff := cmp.Diff(w.XValidations, g.XValidations); diff != "" {
					t.Errorf("\n%s\nrules of %s: -want, +got:\n%s", tc.reason, field, diff)
				}
				if diff := cmp.Diff(w.Required, g.Required); diff != "" {
					t.Errorf("\n%s\nrequired fields of %s: -want, +got:\n%s", tc.reason, field, diff)
				}
				for p := range w.Properties {
					if diff := cmp.Diff(w.Properties[p], g.Properties[p]); diff != "" {
						t.Errorf("\n%s\n%s.%s: -want, +got:\n%s", tc.reason, field, p, diff)
					}
				}
			}
		})
	}
}

func TestClusterScopeIsRefused(t *testing.T) {
	crd := read[extv1.CustomResourceDefinition](t, "testdata/widgets.yaml")
	crd.Spec.Scope = extv1.ClusterScoped
	if _, err := Namespaced(crd); err == nil {
		t.Error("Namespaced(...): want an error for a kind of cluster scope")
	}
	if _, err := Claims(crd); err == nil {
		t.Error("Claims(...): want an error for a kind of cluster scope")
	}
}
