package apis

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// TestDescriptions holds that kubectl explain has something to say of each field of each kind.
func TestDescriptions(t *testing.T) {
	files, err := filepath.Glob("../package/crds/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	composites, err := filepath.Glob("../package/configuration*/definitions/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	for _, f := range append(files, composites...) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		// Both kinds of definition have their schemas in the same place.
		d := &struct {
			Spec struct {
				Versions []struct {
					Schema struct {
						OpenAPIV3Schema extv1.JSONSchemaProps `json:"openAPIV3Schema"`
					} `json:"schema"`
				} `json:"versions"`
			} `json:"spec"`
		}{}
		if err := yaml.Unmarshal(data, d); err != nil {
			t.Fatal(err)
		}
		for _, v := range d.Spec.Versions {
			s := v.Schema.OpenAPIV3Schema
			if s.Description == "" {
				t.Errorf("%s: the kind has no description", f)
			}
			// The API server describes metadata.
			delete(s.Properties, "metadata")
			fields += describe(t, f, "", &s)
		}
	}
	if fields < 500 {
		t.Errorf("only %d fields were found", fields)
	}
}

// describe fails for each field below a schema that has no description, and counts all.
func describe(t *testing.T, file, path string, s *extv1.JSONSchemaProps) int {
	t.Helper()
	n := 0
	names := []string{}
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := s.Properties[name]
		n++
		if p.Description == "" {
			t.Errorf("%s: %s.%s has no description", file, path, name)
		}
		n += describe(t, file, path+"."+name, &p)
	}
	if s.Items != nil && s.Items.Schema != nil {
		n += describe(t, file, path, s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		n += describe(t, file, path, s.AdditionalProperties.Schema)
	}
	return n
}
