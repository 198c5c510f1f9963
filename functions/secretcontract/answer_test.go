package main

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// TestOrderIsNoMatter holds that the order of lists which are sets or maps to the API server does not make an answer one about other rules.
func TestOrderIsNoMatter(t *testing.T) {
	const (
		password = `{name: password, format: TLS, tls: {hostNames: [a.example.org, b.example.org]}}`
		username = `{name: username}`
		api      = `{apiVersion: apps/v1, kind: Deployment, name: api, containers: [main, sidecar]}`
		worker   = `{apiVersion: apps/v1, kind: Deployment, name: worker}`
	)
	lists := func(keys, workloads string, path ...string) func(map[string]any) {
		return func(m map[string]any) {
			for name, list := range map[string]string{"requiredKeys": keys, "workloadRefs": workloads} {
				v := []any{}
				if err := yaml.Unmarshal([]byte(list), &v); err != nil {
					t.Fatal(err)
				}
				set(v, append(path, name)...)(m)
			}
		}
	}
	turned := strings.NewReplacer("a.example.org, b.example.org", "b.example.org, a.example.org", "main, sidecar", "sidecar, main")
	contract := object(t, xr, lists("["+password+","+username+"]", "["+api+","+worker+"]", "spec"))
	check := object(t, checked, lists(turned.Replace("["+username+","+password+"]"), turned.Replace("["+worker+","+api+"]"), "spec", "forProvider"))
	if r := run(t, request(contract, check)).GetDesired().GetComposite().GetReady(); r != fnv1.Ready_READY_TRUE {
		t.Errorf("ready: got %s, want %s", r, fnv1.Ready_READY_TRUE)
	}
}

// TestGenerationIsClaimedLast holds that no condition that is still to be replaced can be taken for one about the new generation.
func TestGenerationIsClaimedLast(t *testing.T) {
	was := func(generation float64, status, reason string) *structpb.Struct {
		return object(t, xr, func(m map[string]any) {
			m["status"] = map[string]any{"observedGeneration": generation, "conditions": []any{map[string]any{"type": "KeysValid", "status": status, "reason": reason}}}
		})
	}
	violated := object(t, checked, verdict("KeysValid", "False", "TooShort", 9), verdict("Satisfied", "False", "TooShort", 9))
	for name, tc := range map[string]struct {
		xr   *structpb.Struct
		want float64
	}{
		"Stale":     {was(3, "True", "RulesSatisfied"), 3},
		"NotYet":    {was(3, "Unknown", "NotChecked"), 4},
		"Same":      {was(3, "False", "TooLong"), 4},
		"SameAgain": {was(4, "True", "RulesSatisfied"), 4},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, request(tc.xr, violated)).GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()
			if g := got["observedGeneration"].GetNumberValue(); g != tc.want {
				t.Errorf("observedGeneration: got %v, want %v", g, tc.want)
			}
		})
	}
}
