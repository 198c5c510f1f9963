package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/ryuvia/provider-terdut/functions/internal/composite"
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

// TestOneWriteInAPass holds that what is found is not shown before the conditions that are about it: Crossplane writes the one before the other
// in one pass, and takes the event of the first for a reason to write the conditions of before once more.
func TestOneWriteInAPass(t *testing.T) {
	violated := object(t, checked, verdict("KeysValid", "False", "TooShort", 9), verdict("Satisfied", "False", "TooShort", 9))
	shown := func(contract *structpb.Struct) map[string]any {
		rsp := run(t, request(contract, violated))
		got := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().AsMap()
		// Crossplane may have stopped listening: what is left to be shown must not wait for long.
		want := map[bool]time.Duration{true: composite.Late, false: composite.Soon}[got["observedGeneration"] == 4.0]
		if d := rsp.GetMeta().GetTtl().AsDuration(); d != want {
			t.Errorf("TTL beside a status of generation %v: got %s, want %s", got["observedGeneration"], d, want)
		}
		return got
	}
	contract := told(t, object(t, xr), run(t, request(object(t, xr), object(t, checked))))
	was := contract.GetFields()["status"].GetStructValue()
	was.Fields["observedGeneration"], was.Fields["violationCount"] = structpb.NewNumberValue(3), structpb.NewNumberValue(0)
	if diff := cmp.Diff(map[string]any{"observedGeneration": 3.0, "violationCount": 0.0}, shown(contract)); diff != "" {
		t.Errorf("status beside the conditions of before: -want, +got:\n%s", diff)
	}
	contract = told(t, contract, run(t, request(contract, violated)))
	if got := shown(contract); got["observedGeneration"] != 4.0 || got["observedSecret"] == nil {
		t.Errorf("status beside its own conditions: got %v, want that of generation 4", got)
	}
	// Another reason, or message, is another answer.
	for _, f := range []string{"reason", "message", "status"} {
		other := proto.CloneOf(contract)
		c := other.GetFields()["status"].GetStructValue().GetFields()["conditions"].GetListValue().GetValues()[1].GetStructValue()
		c.Fields[f] = structpb.NewStringValue("True")
		if got := shown(other); got["observedGeneration"] != 3.0 {
			t.Errorf("status beside a condition with another %s: got %v, want that of generation 3", f, got)
		}
	}
}

// TestWritesOfAChange counts how often Crossplane writes a contract whose Secret has changed, when its cache is behind: each pass that has
// written the status begins the next one, which knows of that write and of none after it.
func TestWritesOfAChange(t *testing.T) {
	satisfied, violated := object(t, checked), object(t, checked, verdict("KeysValid", "False", "TooShort", 9), verdict("Satisfied", "False", "TooShort", 9), set(1.0, "status", "atProvider", "violationCount"))
	server, writes := object(t, xr), 0
	// pass returns what the next pass begins with, or nothing when there is none: nothing was written.
	pass := func(view, check *structpb.Struct) *structpb.Struct {
		rsp := run(t, request(view, check))
		status := proto.CloneOf(rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue())
		// Conditions that the view does not have stay.
		for _, o := range []*structpb.Struct{server, view} {
			if c, ok := o.GetFields()["status"].GetStructValue().GetFields()["conditions"]; ok {
				status.Fields["conditions"] = c
			}
		}
		first := proto.CloneOf(view)
		first.Fields["status"] = structpb.NewStructValue(status)
		second := told(t, first, rsp)
		was := server
		server = second
		switch {
		case !proto.Equal(was, first):
			writes++
			if !proto.Equal(first, second) {
				writes++
			}
			return first
		case !proto.Equal(first, second):
			writes++
			return second
		}
		return nil
	}
	settle := func(check *structpb.Struct) {
		passes := 0
		for view := server; view != nil; view = pass(view, check) {
			if passes++; passes > 20 {
				t.Fatalf("after %d passes and %d writes there is no end", passes, writes)
			}
		}
	}
	settle(satisfied)
	writes = 0
	settle(violated)
	if writes != 2 {
		t.Errorf("a change of the verdict is %d writes of the contract, want 2", writes)
	}
	status := server.GetFields()["status"].GetStructValue().GetFields()
	if n, g := status["violationCount"].GetNumberValue(), status["observedGeneration"].GetNumberValue(); n != 1 || g != 4 {
		t.Errorf("at rest: got %v violations of generation %v, want 1 of 4", n, g)
	}
}

// told is a contract with the conditions that a response gives it.
func told(t *testing.T, contract *structpb.Struct, rsp *fnv1.RunFunctionResponse) *structpb.Struct {
	t.Helper()
	var conditions []any
	for _, c := range rsp.GetConditions() {
		conditions = append(conditions, map[string]any{
			"type": c.GetType(), "reason": c.GetReason(), "message": c.GetMessage(), "lastTransitionTime": "2026-11-30T12:00:00Z",
			"status": map[fnv1.Status]string{fnv1.Status_STATUS_CONDITION_TRUE: "True", fnv1.Status_STATUS_CONDITION_FALSE: "False", fnv1.Status_STATUS_CONDITION_UNKNOWN: "Unknown"}[c.GetStatus()],
		})
	}
	l, err := structpb.NewList(conditions)
	if err != nil {
		t.Fatal(err)
	}
	status := proto.CloneOf(contract.GetFields()["status"])
	if status == nil {
		status = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{}})
	}
	status.GetStructValue().Fields["conditions"] = structpb.NewListValue(l)
	out := proto.CloneOf(contract)
	out.Fields["status"] = status
	return out
}
