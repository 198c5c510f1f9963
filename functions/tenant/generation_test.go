package main

import "testing"

// TestAnsweredGeneration holds that a status never claims a generation beside a Ready that is about an older one.
func TestAnsweredGeneration(t *testing.T) {
	cases := map[string]struct {
		reason string
		mods   []mod
		want   float64
	}{
		"New":       {reason: "A new Tenant has no answer yet.", want: 7},
		"NotReady":  {reason: "Nobody takes it for ready.", mods: []mod{said("Ready", "False", "Creating", "", 6), with("status.observedGeneration", 6)}, want: 7},
		"Followed":  {reason: "The conditions have followed.", mods: []mod{said("Ready", "False", "Creating", "", 7), with("status.observedGeneration", 6)}, want: 7},
		"Stale":     {reason: "Ready is True of the generation before.", mods: []mod{yes(6, "Ready"), with("status.observedGeneration", 6)}, want: 6},
		"Ahead":     {reason: "Ready names the new generation, but was found for the one before.", mods: []mod{yes(7, "Ready"), with("status.observedGeneration", 6)}, want: 6},
		"Lost":      {reason: "What was claimed once is not taken back.", mods: []mod{yes(7, "Ready"), with("status.observedGeneration", 7)}, want: 7},
		"Malformed": {reason: "A status that nobody understands is written anew.", mods: []mod{with("status", "text")}, want: 7},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(xr(append([]mod{with("metadata.generation", 7)}, tc.mods...)...), nil))
			fields := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()
			if got := fields["observedGeneration"].GetNumberValue(); got != tc.want {
				t.Errorf("%s\nobservedGeneration: want %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
