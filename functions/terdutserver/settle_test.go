package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// TestOneWriteInAPass holds that what follows the conditions is shown when they are there, and that Crossplane asks again soon until then.
func TestOneWriteInAPass(t *testing.T) {
	before := func() map[string]any { return map[string]any{"endpoint": "of before"} }
	for name, tc := range map[string]struct {
		condition mod
		held      bool
	}{
		"OfBefore": {said("DatabaseReady", "False", "Waiting", "", 0), true},
		"There":    {said("DatabaseReady", "True", "Available", "", 0), false},
	} {
		t.Run(name, func(t *testing.T) {
			mods := []mod{with("status", before()), tc.condition}
			rsp := run(t, request(xr(mods...), everything(), nil))
			got := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().AsMap()
			if held := cmp.Equal(before(), got); held != tc.held {
				t.Errorf("status of the TerdutServer: got %v, held back: want %t", got, tc.held)
			}
			ttl := composite.Late
			if tc.held {
				ttl = composite.Soon
			}
			if got := rsp.GetMeta().GetTtl().AsDuration(); got != ttl {
				t.Errorf("TTL: got %s, want %s", got, ttl)
			}
		})
	}
}
