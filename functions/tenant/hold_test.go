package main

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// answered is the status that Crossplane made of a response.
func answered(rsp *fnv1.RunFunctionResponse, mods ...mod) mod {
	return func(obj map[string]any) {
		obj["status"] = rsp.GetDesired().GetComposite().GetResource().AsMap()["status"]
		for _, c := range rsp.GetConditions() {
			s := map[fnv1.Status]string{fnv1.Status_STATUS_CONDITION_TRUE: "True", fnv1.Status_STATUS_CONDITION_FALSE: "False", fnv1.Status_STATUS_CONDITION_UNKNOWN: "Unknown"}
			said(c.GetType(), s[c.GetStatus()], c.GetReason(), c.GetMessage(), 1)(obj)
		}
		for _, m := range mods {
			m(obj)
		}
	}
}

// TestConditionsGoFirst makes sure that a pass changes the fields of the status or the conditions, and never both: the fields follow once
// the conditions are there.
func TestConditionsGoFirst(t *testing.T) {
	ready := run(t, request(xr(), everything()))
	onItsWay := run(t, request(xr(), map[string]*structpb.Struct{"database": observedDatabase(provisioned), "credential": observedCredential(stored)}))

	cases := map[string]struct {
		reason string
		xr     []mod
		// want is the phase that is told.
		want string
		ttl  time.Duration
	}{
		"First": {
			reason: "Without conditions there is nothing that could be put back.",
			want:   "Ready", ttl: 5 * time.Minute,
		},
		"ConditionsChange": {
			reason: "The fields stay, and the next pass comes soon whether its cause is seen or not.",
			xr:     []mod{answered(onItsWay)}, want: "DatabaseCreated", ttl: 5 * time.Second,
		},
		"ConditionsHaveFollowed": {
			reason: "Now the fields follow.",
			xr:     []mod{answered(ready, with("status.phase", "DatabaseCreated"))}, want: "Ready", ttl: 5 * time.Minute,
		},
		"MessageChanges": {
			reason: "Every part of a condition is written.",
			xr:     []mod{answered(ready, with("status.phase", "DatabaseCreated"), said("DatabaseReady", "True", "Available", "old", 1))},
			want:   "DatabaseCreated", ttl: 5 * time.Second,
		},
		"OtherConditions": {
			reason: "Conditions of others are not waited for.",
			xr:     []mod{answered(ready, with("status.phase", "DatabaseCreated"), said("Theirs", "False", "X", "", 1))}, want: "Ready", ttl: 5 * time.Minute,
		},
		"ConditionMissing": {
			reason: "A condition that another function takes away never comes.",
			xr:     []mod{answered(onItsWay, with("status.conditions", []any{}))}, want: "Ready", ttl: 5 * time.Minute,
		},
		"NoPhase": {
			reason: "There are no fields that could stay.",
			xr:     []mod{answered(onItsWay, without("status.phase"))}, want: "Ready", ttl: 5 * time.Minute,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			composite := xr(tc.xr...)
			rsp := run(t, request(composite, everything()))
			if diff := cmp.Diff(verdict{Resources: []string{"credential+", "database+", "external-secret+"}, Ready: true, Phase: tc.want}, verdictOf(rsp)); diff != "" {
				t.Errorf("%s\nf.RunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got := rsp.GetMeta().GetTtl().AsDuration(); got != tc.ttl {
				t.Errorf("%s\nf.RunFunction(...): TTL: want %s, got %s", tc.reason, tc.ttl, got)
			}
			if diff := cmp.Diff(ready.GetConditions(), rsp.GetConditions(), cmp.Comparer(func(a, b *fnv1.Condition) bool { return a.String() == b.String() })); diff != "" {
				t.Errorf("%s\nf.RunFunction(...): conditions: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.want == "Ready" {
				return
			}
			was, _ := composite.AsMap()["status"].(map[string]any)
			want := maps.Clone(was)
			delete(want, "conditions")
			if diff := cmp.Diff(want, rsp.GetDesired().GetComposite().GetResource().AsMap()["status"]); diff != "" {
				t.Errorf("%s\nf.RunFunction(...): status is not that of before: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
