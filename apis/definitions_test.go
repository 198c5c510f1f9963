package apis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
)

// TestDefinitions validates the generated definitions as an API server does, the estimated costs of their rules included. Of composite
// resources it validates what Crossplane derives from their definitions.
func TestDefinitions(t *testing.T) {
	derive := func(from func(*xv1.CompositeResourceDefinition) (*extv1.CustomResourceDefinition, error)) func(t *testing.T, data []byte) *extv1.CustomResourceDefinition {
		return func(t *testing.T, data []byte) *extv1.CustomResourceDefinition {
			t.Helper()
			xrd := &xv1.CompositeResourceDefinition{}
			if err := yaml.UnmarshalStrict(data, xrd); err != nil {
				t.Fatal(err)
			}
			xrd.SetUID("uid") // As the API server gives it, for the owner reference.
			crd, err := from(xrd)
			if err != nil {
				t.Fatal(err)
			}
			return crd
		}
	}
	cases := map[string]struct {
		files string
		crd   func(t *testing.T, data []byte) *extv1.CustomResourceDefinition
	}{
		"Managed": {
			files: "../package/crds/*.yaml",
			crd: func(t *testing.T, data []byte) *extv1.CustomResourceDefinition {
				t.Helper()
				crd := &extv1.CustomResourceDefinition{}
				if err := yaml.UnmarshalStrict(data, crd); err != nil {
					t.Fatal(err)
				}
				return crd
			},
		},
		"Composite":   {files: "../package/configuration/definitions/*.yaml", crd: derive(xcrd.ForCompositeResource)},
		"Claim":       {files: "../package/configuration-claims/definitions/*.yaml", crd: derive(xcrd.ForCompositeResourceClaim)},
		"BehindClaim": {files: "../package/configuration-claims/definitions/*.yaml", crd: derive(xcrd.ForCompositeResource)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob(tc.files)
			if err != nil || len(files) == 0 {
				t.Fatalf("no definitions in %s: %v", tc.files, err)
			}
			for _, f := range files {
				data, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				crd := tc.crd(t, data)
				extv1.SetDefaults_CustomResourceDefinition(crd)
				extv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
				for _, v := range crd.Spec.Versions {
					if v.Storage {
						crd.Status.StoredVersions = append(crd.Status.StoredVersions, v.Name)
					}
				}
				internal := &apiextensions.CustomResourceDefinition{}
				if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
					t.Fatal(err)
				}
				for _, e := range validation.ValidateCustomResourceDefinition(t.Context(), internal) {
					t.Errorf("%s: %v", f, e)
				}
			}
		})
	}
}

// TestFlavours holds that both Configuration packages offer the same kinds to application teams, and bring the same packages and functions.
func TestFlavours(t *testing.T) {
	type definition struct {
		Name    string
		Default string
		Kinds   []string
	}
	load := func(file string, into any) {
		t.Helper()
		data, err := os.ReadFile(file)
		if err == nil {
			err = yaml.Unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob("../package/configuration/definitions/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions: %v", err)
	}
	for _, f := range files {
		base := filepath.Base(f)
		ours, theirs := &xv1.CompositeResourceDefinition{}, &xv1.CompositeResourceDefinition{}
		load(f, ours)
		load(filepath.Join("../package/configuration-claims/definitions", base), theirs)
		want := definition{Name: "x" + ours.Name, Default: "x" + ours.Name, Kinds: []string{ours.Spec.Names.Kind, "X" + ours.Spec.Names.Kind}}
		got := definition{Name: theirs.Name, Default: theirs.Spec.DefaultCompositionRef.Name, Kinds: []string{theirs.Spec.ClaimNames.Kind, theirs.Spec.Names.Kind}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", base, diff)
		}
		if diff := cmp.Diff(ours.Spec.Names, *theirs.Spec.ClaimNames); diff != "" {
			t.Errorf("%s: names of the claim: -composite, +claim:\n%s", base, diff)
		}
		if diff := cmp.Diff(ours.Spec.Versions, theirs.Spec.Versions); diff != "" {
			t.Errorf("%s: versions: -composite, +claim:\n%s", base, diff)
		}

		composition := strings.ToLower(ours.Spec.Names.Kind) + ".yaml"
		a, b := &xv1.Composition{}, &xv1.Composition{}
		load(filepath.Join("../package/configuration/compositions", composition), a)
		load(filepath.Join("../package/configuration-claims/compositions", composition), b)
		if b.Name != theirs.Name || b.Spec.CompositeTypeRef.Kind != theirs.Spec.Names.Kind {
			t.Errorf("%s: Composition %q is for %q", composition, b.Name, b.Spec.CompositeTypeRef.Kind)
		}
		if diff := cmp.Diff(a.Spec.Pipeline, b.Spec.Pipeline); diff != "" {
			t.Errorf("%s: pipeline: -composite, +claim:\n%s", composition, diff)
		}
	}
	for _, file := range []string{"crossplane.yaml", "activation-policy.yaml"} {
		a, b := struct{ Spec any }{}, struct{ Spec any }{}
		load(filepath.Join("../package/configuration", file), &a)
		load(filepath.Join("../package/configuration-claims", file), &b)
		if diff := cmp.Diff(a, b); diff != "" || a.Spec == nil {
			t.Errorf("%s: -composite, +claim:\n%s", file, diff)
		}
	}
}
