package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestContractBadInput holds what the schema refuses, with the field's path.
func TestContractBadInput(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	for name, tc := range map[string]struct{ spec, want string }{
		"NoKeys":        {"  requiredKeys: []\n", "spec.requiredKeys"},
		"Duplicate":     {"  requiredKeys: [{name: a}, {name: a}]\n", "duplicate entries for key"},
		"Negative":      {"  requiredKeys: [{name: a, minLength: -1}]\n", "spec.requiredKeys[0].minLength"},
		"Crossed":       {"  requiredKeys: [{name: a, minLength: 2, maxLength: 1}]\n", "minLength must not be more than maxLength"},
		"NoReference":   {"  requiredKeys: [{name: a}]\n  policy: {requireExternalSecretReady: true}\n", "needs externalSecretRef"},
		"NoWorkload":    {"  requiredKeys: [{name: a}]\n  policy: {requireWorkloadReference: true}\n", "needs workloadRefs"},
		"NoAge":         {"  requiredKeys: [{name: a}]\n  policy: {requireRotationPolicy: true}\n", "needs rotation.maxAge"},
		"Days":          {"  requiredKeys: [{name: a}]\n  rotation: {maxAge: 30d}\n", "spec.rotation.maxAge"},
		"Ages":          {"  requiredKeys: [{name: a}]\n  rotation: {maxAge: 9999999h}\n", "should match"},
		"ZeroAge":       {"  requiredKeys: [{name: a}]\n  rotation: {maxAge: 0s}\n", "spec.rotation.maxAge"},
		"Pod":           {"  requiredKeys: [{name: a}]\n  workloadRefs: [{kind: Pod, name: a}]\n", "spec.workloadRefs[0].kind"},
		"BatchOfApps":   {"  requiredKeys: [{name: a}]\n  workloadRefs: [{kind: Job, name: a}]\n", "batch/v1 has Job and CronJob"},
		"PatternTooBig": {"  requiredKeys: [{name: a, pattern: " + strings.Repeat("a", 1025) + "}]\n", "spec.requiredKeys[0].pattern"},
	} {
		manifest := fmt.Sprintf("apiVersion: terdut.ryuvia.com/v1alpha1\nkind: SecretContract\nmetadata: {name: bad, namespace: %s}\nspec:\n  secretRef: {name: orders-db}\n%s", ns, tc.spec)
		if err := p.Apply(t.Context(), []byte(manifest)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, tc.want)
		}
	}
}
