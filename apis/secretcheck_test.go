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
	params := func(secret, keys, more string) string {
		return "{forProvider: {secretRef: " + secret + ", requiredKeys: [" + keys + "], " + more + "}}"
	}
	cases := map[string]struct {
		spec string
		want string // Part of a refusal, or nothing.
	}{
		"Least":      {spec: "{forProvider: {secretRef: {name: a}, requiredKeys: [{name: a}]}}"},
		"Connection": {"{writeConnectionSecretToRef: {name: b}, forProvider: {secretRef: {name: a}, requiredKeys: [{name: a}]}}", "spec: Invalid value: a SecretCheck has no connection details"},
		"SecretName": {params("{name: A_b}", "{name: a}", ""), "spec.forProvider.secretRef: Invalid value: name must be one that a Secret can have"},
		"Dotted":     {params("{name: a.b-c.d}", "{name: .dockerconfigjson}, {name: a..b}, {name: _-.x}", ""), ""},
		"DotKey":     {params("{name: a}", "{name: .}", ""), "spec.forProvider.requiredKeys[0].name: Invalid value"},
		"DotsKey":    {params("{name: a}", "{name: ..a}", ""), "spec.forProvider.requiredKeys[0].name: Invalid value"},
		"PrivateKey": {params("{name: a}", "{name: a, format: TLS, tls: {privateKey: ..b}}", ""), "spec.forProvider.requiredKeys[0].tls.privateKey: Invalid value"},
		"Source":     {params("{name: a}", "{name: a}", "externalSecretRef: {name: A}"), "spec.forProvider.externalSecretRef.name: Invalid value"},
		"Workload":   {params("{name: a}", "{name: a}", "workloadRefs: [{kind: Deployment, name: a-}]"), "spec.forProvider.workloadRefs[0].name: Invalid value"},
		"Annotation": {params("{name: a}", "{name: a}", "rotation: {rotatedAtAnnotation: a b}"), "spec.forProvider.rotation.rotatedAtAnnotation: Invalid value"},
		"Prefix":     {params("{name: a}", "{name: a}", "rotation: {rotatedAtAnnotation: A_b/c}"), "spec.forProvider.rotation.rotatedAtAnnotation: Invalid value"},
		"Good":       {params("{name: a}", "{name: a}", "rotation: {rotatedAtAnnotation: example.org/rotated_At.x}, externalSecretRef: {name: a.b}, workloadRefs: [{kind: Deployment, name: a-b}]"), ""},
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
