package apis

import (
	"os"
	"slices"
	"strings"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// TestSecretCheckInput gives the API server good and bad SecretChecks: what is bad is refused with the path of the field.
func TestSecretCheckInput(t *testing.T) {
	data, err := os.ReadFile("../package/crds/secrets.terdut.ryuvia.com_secretchecks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		t.Fatal(err)
	}
	a := admitAs(t, crd)
	cases := map[string]struct {
		spec string
		want string // Part of a refusal, or nothing.
	}{
		"Least":      {spec: "{forProvider: {secretRef: {name: a}, requiredKeys: [{name: a}]}}"},
		"Connection": {"{writeConnectionSecretToRef: {name: b}, forProvider: {secretRef: {name: a}, requiredKeys: [{name: a}]}}", "spec: Invalid value: a SecretCheck has no connection details"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			obj := map[string]any{}
			manifest := "{apiVersion: secrets.terdut.ryuvia.com/v1alpha1, kind: SecretCheck, metadata: {name: a, namespace: b}, spec: " + tc.spec + "}"
			if err := yaml.Unmarshal([]byte(manifest), &obj); err != nil {
				t.Fatal(err)
			}
			got := a.refusals(t, obj, nil)
			if tc.want == "" && len(got) > 0 || tc.want != "" && !slices.ContainsFunc(got, func(r string) bool { return strings.Contains(r, tc.want) }) {
				t.Errorf("refusals: got %q, want one with %q", got, tc.want)
			}
		})
	}
}
