package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/ryuvia/provider-terdut/functions/internal/claimtest"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

const xr = `
apiVersion: terdut.ryuvia.com/v1alpha1
kind: SecretContract
metadata: {namespace: shop, name: orders, uid: xr-uid, generation: 4}
spec:
  crossplane: {compositionRef: {name: secretcontracts.terdut.ryuvia.com}}
  secretRef: {name: orders-db}
  requiredKeys:
  - {name: password, required: true, nonEmpty: true, minLength: 16, format: None}
  checkRequest: deploy-7
`

// checked is a SecretCheck that has answered.
const checked = `
apiVersion: secrets.terdut.ryuvia.com/v1alpha1
kind: SecretCheck
metadata: {namespace: shop, name: orders-abc, uid: check-uid, generation: 9}
spec:
  forProvider:
    secretRef: {name: orders-db}
    requiredKeys:
    - {name: password, required: true, nonEmpty: true, minLength: 16, format: None}
    checkRequest: deploy-7
    contractGeneration: 4
status:
  atProvider:
    contractGeneration: 4
    checkRequest: deploy-7
    lastCheckedTime: "2026-11-30T12:00:00Z"
    observedSecret: {name: orders-db, uid: secret-uid, resourceVersion: "77"}
    missingKeyCount: 0
    violationCount: 0
  conditions:
  - {type: SecretExists, status: "True", reason: RulesSatisfied, observedGeneration: 9, lastTransitionTime: "2026-11-30T12:00:00Z"}
  - {type: KeysValid, status: "True", reason: RulesSatisfied, observedGeneration: 9, lastTransitionTime: "2026-11-30T12:00:00Z"}
  - {type: ExternalSecretReady, status: "True", reason: NotConfigured, observedGeneration: 9, lastTransitionTime: "2026-11-30T12:00:00Z"}
  - {type: WorkloadsConfigured, status: "True", reason: NotConfigured, observedGeneration: 9, lastTransitionTime: "2026-11-30T12:00:00Z"}
  - {type: RotationPolicySatisfied, status: "True", reason: NotConfigured, observedGeneration: 9, lastTransitionTime: "2026-11-30T12:00:00Z"}
  - {type: Satisfied, status: "True", reason: RulesSatisfied, observedGeneration: 9, lastTransitionTime: "2026-11-30T12:00:00Z"}
`

func object(t *testing.T, manifest string, mods ...func(map[string]any)) *structpb.Struct {
	t.Helper()
	m := map[string]any{}
	if err := yaml.Unmarshal([]byte(manifest), &m); err != nil {
		t.Fatal(err)
	}
	for _, mod := range mods {
		mod(m)
	}
	s, err := structpb.NewStruct(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func request(contract *structpb.Struct, check *structpb.Struct) *fnv1.RunFunctionRequest {
	r := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: contract}, Resources: map[string]*fnv1.Resource{}}}
	if check != nil {
		r.Observed.Resources["check"] = &fnv1.Resource{Resource: check}
	}
	return r
}

// run the function. It must answer the same when the manifest is that of a claim.
func run(t *testing.T, r *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()
	rsp := once(t, r)
	claimtest.SameAnswer(t, newFunction(), r, rsp)
	return rsp
}

func newFunction() *Function {
	return &Function{log: logging.NewNopLogger(), now: func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) }}
}

// once runs the function, where it is run so often that time matters.
func once(t *testing.T, r *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()
	rsp, err := newFunction().RunFunction(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return rsp
}

// set a value at a path of an object.
func set(v any, path ...string) func(map[string]any) {
	return func(m map[string]any) {
		for _, p := range path[:len(path)-1] {
			m = m[p].(map[string]any)
		}
		m[path[len(path)-1]] = v
	}
}

// verdict sets one condition of a check.
func verdict(ct, status, reason string, generation float64) func(map[string]any) {
	return func(m map[string]any) {
		for _, c := range m["status"].(map[string]any)["conditions"].([]any) {
			if c := c.(map[string]any); c["type"] == ct {
				c["status"], c["reason"], c["observedGeneration"] = status, reason, generation
			}
		}
	}
}

// TestComposes holds that the contract is passed on whole, with its generation, and nothing else is.
func TestComposes(t *testing.T) {
	rsp := run(t, request(object(t, xr), nil))
	want := object(t, `
apiVersion: secrets.terdut.ryuvia.com/v1alpha1
kind: SecretCheck
metadata: {namespace: shop}
spec:
  forProvider:
    secretRef: {name: orders-db}
    requiredKeys:
    - {name: password, required: true, nonEmpty: true, minLength: 16, format: None}
    checkRequest: deploy-7
    contractGeneration: 4
`)
	if diff := cmp.Diff(want, rsp.GetDesired().GetResources()["check"].GetResource(), protocmp.Transform()); diff != "" {
		t.Errorf("SecretCheck: -want, +got:\n%s", diff)
	}
	if n := len(rsp.GetDesired().GetResources()); n != 1 {
		t.Errorf("%d resources are composed, want 1", n)
	}
}

// TestAnswers holds which answers count, and what the contract says of them.
func TestAnswers(t *testing.T) {
	const stale = "Unknown NotChecked"
	cases := map[string]struct {
		reason    string
		check     *structpb.Struct
		ready     fnv1.Ready
		satisfied string
		ttl       time.Duration
		observed  float64 // status.observedGeneration
	}{
		"None":      {"There is no check yet.", nil, fnv1.Ready_READY_FALSE, stale, composite.Soon, 0},
		"Satisfied": {"All is in order.", object(t, checked), fnv1.Ready_READY_TRUE, "True RulesSatisfied", composite.Late, 4},
		"Violated": {
			"A finding is taken over.", object(t, checked, verdict("Satisfied", "False", "TooShort", 9)), fnv1.Ready_READY_FALSE, "False TooShort", composite.Soon, 4,
		},
		"Unknown": {
			"What could not be looked at stays unknown.", object(t, checked, verdict("Satisfied", "Unknown", "SecretAccessDenied", 9)), fnv1.Ready_READY_FALSE,
			"Unknown SecretAccessDenied", composite.Soon, 4,
		},
		"OlderContract": {
			"The check was asked for an older contract.", object(t, checked, set(3.0, "spec", "forProvider", "contractGeneration"), set(3.0, "status", "atProvider", "contractGeneration")),
			fnv1.Ready_READY_FALSE, stale, composite.Soon, 0,
		},
		"NotEchoed": {
			"The check has not answered for this contract.", object(t, checked, set(3.0, "status", "atProvider", "contractGeneration")),
			fnv1.Ready_READY_FALSE, stale, composite.Soon, 0,
		},
		"OldConditions": {
			"A condition speaks of the check before.", object(t, checked, verdict("KeysValid", "True", "RulesSatisfied", 8)), fnv1.Ready_READY_FALSE, stale, composite.Soon, 0,
		},
		"NotAsked": {
			"The request has not been answered.", object(t, checked, set("deploy-6", "status", "atProvider", "checkRequest")), fnv1.Ready_READY_FALSE, stale, composite.Soon, 0,
		},
		"OtherRules": {
			"Somebody asks the check for less, of the same generation.",
			object(t, checked, set([]any{map[string]any{"name": "password", "required": false, "nonEmpty": true, "minLength": 16.0, "format": "None"}}, "spec", "forProvider", "requiredKeys")),
			fnv1.Ready_READY_FALSE, stale, composite.Soon, 0,
		},
		"MoreFields": {
			"Somebody has added what is not applied, and so is not put back.",
			object(t, checked, set([]any{map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "api", "containers": []any{"sidecar"}}}, "spec", "forProvider", "workloadRefs")),
			fnv1.Ready_READY_FALSE, stale, composite.Soon, 0,
		},
		"Paused": {
			"Nobody looks any more: the last answer would stand for ever.",
			object(t, checked, func(m map[string]any) {
				status := m["status"].(map[string]any)
				status["conditions"] = append(status["conditions"].([]any), map[string]any{"type": "Synced", "status": "False", "reason": "ReconcilePaused", "observedGeneration": 9.0})
			}),
			fnv1.Ready_READY_FALSE, stale, composite.Soon, 0,
		},
		"NoStatus": {
			"It has said nothing.", object(t, checked, func(m map[string]any) { delete(m, "status") }), fnv1.Ready_READY_FALSE, stale, composite.Soon, 0,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(object(t, xr), tc.check))
			if len(rsp.GetResults()) > 0 {
				t.Fatalf("\n%s\nresults: %v", tc.reason, rsp.GetResults())
			}
			if len(rsp.GetConditions()) != 7 {
				t.Errorf("\n%s\ngot %d conditions, want 7", tc.reason, len(rsp.GetConditions()))
			}
			got := ""
			for _, c := range rsp.GetConditions() {
				if c.GetType() == "Satisfied" {
					got = map[fnv1.Status]string{fnv1.Status_STATUS_CONDITION_TRUE: "True ", fnv1.Status_STATUS_CONDITION_FALSE: "False ", fnv1.Status_STATUS_CONDITION_UNKNOWN: "Unknown "}[c.GetStatus()] + c.GetReason()
				}
			}
			if got != tc.satisfied {
				t.Errorf("\n%s\nSatisfied: got %q, want %q", tc.reason, got, tc.satisfied)
			}
			if r := rsp.GetDesired().GetComposite().GetReady(); r != tc.ready {
				t.Errorf("\n%s\nready: got %s, want %s", tc.reason, r, tc.ready)
			}
			// Crossplane writes an event in each pass for a composed resource that is not ready: an answer is one, also when it is no.
			answer := map[bool]fnv1.Ready{true: fnv1.Ready_READY_TRUE, false: fnv1.Ready_READY_FALSE}[tc.observed > 0]
			if r := rsp.GetDesired().GetResources()["check"].GetReady(); r != answer {
				t.Errorf("\n%s\nSecretCheck ready: got %s, want %s", tc.reason, r, answer)
			}
			if d := rsp.GetMeta().GetTtl().AsDuration(); d != tc.ttl {
				t.Errorf("\n%s\nTTL: got %s, want %s", tc.reason, d, tc.ttl)
			}
			status := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()
			if g := status["observedGeneration"].GetNumberValue(); g != tc.observed {
				t.Errorf("\n%s\nobservedGeneration: got %v, want %v", tc.reason, g, tc.observed)
			}
			if tc.observed > 0 && status["observedSecret"].GetStructValue().GetFields()["uid"].GetStringValue() != "secret-uid" {
				t.Errorf("\n%s\nthe findings are not taken over: %v", tc.reason, status)
			}
		})
	}
}

// TestOldFindingsStay holds that the status of before stays, with its generation, until there is an answer: its conditions say that it does
// not count.
func TestOldFindingsStay(t *testing.T) {
	contract := object(t, xr, func(m map[string]any) {
		m["status"] = map[string]any{
			"observedGeneration": 3.0, "violationCount": 2.0, "conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
		}
	})
	got := run(t, request(contract, nil)).GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().AsMap()
	if diff := cmp.Diff(map[string]any{"observedGeneration": 3.0, "violationCount": 2.0}, got); diff != "" {
		t.Errorf("status: -want, +got:\n%s", diff)
	}
}

// TestBrokenInput holds that what is not understood is fatal, names its field and repeats no value.
func TestBrokenInput(t *testing.T) {
	cases := map[string]struct {
		xr    *structpb.Struct
		check *structpb.Struct
		want  string
	}{
		"Empty":        {&structpb.Struct{}, nil, "cannot compose contract: metadata.name: required"},
		"NoSecretRef":  {object(t, xr, func(m map[string]any) { delete(m["spec"].(map[string]any), "secretRef") }), nil, "cannot compose contract: spec.secretRef: required"},
		"UnknownRule":  {object(t, xr, set("x", "spec", "entropy")), nil, "cannot compose contract: spec.entropy: unknown field"},
		"WrongType":    {object(t, xr, set("x", "spec", "requiredKeys")), nil, "cannot compose contract: spec.requiredKeys: must be an array, not string"},
		"AnotherKind":  {object(t, xr), object(t, checked, set("Team", "kind")), `cannot compose contract: observed resource "check": kind: must be SecretCheck`},
		"BrokenStatus": {object(t, xr), object(t, checked, set("x", "status", "conditions")), `cannot compose contract: observed resource "check": status.conditions: must be an array, not string`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(tc.xr, tc.check))
			if len(rsp.GetResults()) != 1 || rsp.GetResults()[0].GetSeverity() != fnv1.Severity_SEVERITY_FATAL {
				t.Fatalf("results: got %v, want one that is fatal", rsp.GetResults())
			}
			if got := rsp.GetResults()[0].GetMessage(); got != tc.want {
				t.Errorf("message: got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestSameBytes holds that the same question has the same answer, also in its bytes.
func TestSameBytes(t *testing.T) {
	r := request(object(t, xr), object(t, checked))
	o := proto.MarshalOptions{Deterministic: true}
	var first []byte
	for i := range 1000 {
		b, err := o.Marshal(once(t, proto.CloneOf(r)))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = b
		}
		if !bytes.Equal(first, b) {
			t.Fatalf("answer %d differs", i)
		}
	}
}

// FuzzInput: whatever is observed, there is an answer and no panic.
func FuzzInput(f *testing.F) {
	f.Add([]byte(`{"metadata":{"namespace":"a","name":"b","uid":"c"},"spec":{"secretRef":{"name":"s"}}}`), []byte(`{"kind":"SecretCheck"}`))
	f.Fuzz(func(t *testing.T, contract, check []byte) {
		x, c := &structpb.Struct{}, &structpb.Struct{}
		if protojson.Unmarshal(contract, x) != nil || protojson.Unmarshal(check, c) != nil {
			return
		}
		once(t, request(x, c))
	})
}
