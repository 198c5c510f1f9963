package apis

import (
	"os"
	"path/filepath"
	"testing"

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
		"Composite": {
			files: "../package/configuration/definitions/*.yaml",
			crd: func(t *testing.T, data []byte) *extv1.CustomResourceDefinition {
				t.Helper()
				xrd := &xv1.CompositeResourceDefinition{}
				if err := yaml.UnmarshalStrict(data, xrd); err != nil {
					t.Fatal(err)
				}
				xrd.SetUID("uid") // As the API server gives it, for the owner reference.
				crd, err := xcrd.ForCompositeResource(xrd)
				if err != nil {
					t.Fatal(err)
				}
				return crd
			},
		},
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
