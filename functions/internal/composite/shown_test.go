package composite

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

func TestSettle(t *testing.T) {
	said := func(conditionType, status, reason, message string) any {
		return map[string]any{"type": conditionType, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-01-02T03:04:05Z"}
	}
	before := map[string]any{"phase": "Planned", "observedGeneration": 1.0}
	now := map[string]any{"phase": "Ready", "observedGeneration": 2.0}
	desired := []Condition{{Type: "DatabaseReady", Status: corev1.ConditionTrue, Reason: "Available"}, {Type: "ServerReady", Status: corev1.ConditionFalse, Reason: "Waiting", Message: "A"}}
	ready, waits := said("DatabaseReady", "True", "Available", ""), said("ServerReady", "False", "Waiting", "A")
	cases := map[string]struct {
		reason string
		is     []any
		claim  []xpv2.Condition
		want   map[string]any
	}{
		"New":         {reason: "What it never had cannot be written once more.", want: now},
		"There":       {reason: "All is there, beside what is Crossplane's.", is: []any{ready, waits, said("Synced", "False", "ReconcileError", "B")}, want: now},
		"OneIsNew":    {reason: "One that is added is written by nobody else.", is: []any{ready}, want: now},
		"Status":      {reason: "Another status.", is: []any{said("DatabaseReady", "False", "Available", ""), waits}, want: before},
		"Reason":      {reason: "Another reason.", is: []any{ready, said("ServerReady", "False", "Conflict", "A")}, want: before},
		"Message":     {reason: "Another message.", is: []any{ready, said("ServerReady", "False", "Waiting", "B")}, want: before},
		"ClaimHasNot": {reason: "The claim would have the new generation beside the conditions of before.", is: []any{ready, waits}, claim: []xpv2.Condition{{Type: "DatabaseReady", Status: corev1.ConditionFalse, Reason: "Available"}}, want: before},
		"ClaimHas":    {reason: "The claim has them too.", is: []any{ready, waits}, claim: []xpv2.Condition{{Type: "DatabaseReady", Status: corev1.ConditionTrue, Reason: "Available"}}, want: now},
		"Malformed":   {reason: "Nobody can tell, and they are written anyway.", is: []any{"x"}, want: now},
	}
	for _, subject := range []struct {
		reason string
		Subject
		want any
	}{
		{reason: "The claim has had that generation.", Subject: Subject{Apart: true, newest: 2}, want: 1.0},
		{reason: "That is the claim's newest one, which the spec is not of.", Subject: Subject{Apart: true, newest: 1}},
	} {
		xr, err := structpb.NewStruct(map[string]any{"status": map[string]any{"observedGeneration": 1, "conditions": []any{said("DatabaseReady", "False", "Available", "")}}})
		if err != nil {
			t.Fatal(err)
		}
		c := &Composition{Conditions: desired, Status: map[string]any{"observedGeneration": 2.0}}
		if all := c.Settle(xr, subject.Subject); all || c.Status["observedGeneration"] != subject.want {
			t.Errorf("\n%s\nbehind a claim: want generation %v held back, got %v, shows all: %t", subject.reason, subject.want, c.Status["observedGeneration"], all)
		}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			xr, err := structpb.NewStruct(map[string]any{"status": map[string]any{
				"phase": "Planned", "observedGeneration": 1, "conditions": tc.is, "crossplane": map[string]any{}, "connectionDetails": map[string]any{},
			}})
			if err != nil {
				t.Fatal(err)
			}
			c := &Composition{Conditions: desired, Status: map[string]any{"phase": "Ready", "observedGeneration": 2.0}}
			all := c.Settle(xr, Subject{claim: xpv2.ConditionedStatus{Conditions: tc.claim}})
			if diff := cmp.Diff(tc.want, c.Status); diff != "" {
				t.Errorf("\n%s\nstatus: -want, +got:\n%s", tc.reason, diff)
			}
			if want := tc.want["phase"] == "Ready"; all != want {
				t.Errorf("\n%s\nshows all: got %t, want %t", tc.reason, all, want)
			}
		})
	}
}
