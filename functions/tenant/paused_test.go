package main

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
)

// TestPaused holds that a Tenant which Crossplane has stopped watching is looked at soon although it is Ready: a change of its spec is
// among the events that are dropped.
func TestPaused(t *testing.T) {
	for responsive, want := range map[string]time.Duration{"False": 5 * time.Second, "True": 5 * time.Minute} {
		u := xr()
		conditions, err := structpb.NewList([]any{
			map[string]any{"type": "Ready", "status": "True"}, map[string]any{"type": "Responsive", "status": responsive, "reason": "Any"},
		})
		if err != nil {
			t.Fatal(err)
		}
		u.Fields["status"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"conditions": structpb.NewListValue(conditions)}})
		if got := run(t, request(u, everything())).GetMeta().GetTtl().AsDuration(); got != want {
			t.Errorf("Responsive=%s: asked again after %s, want %s", responsive, got, want)
		}
	}
}
