package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/functions/internal/claimtest"
)

// TestClaimIsAhead holds that an answer counts for no generation of a claim whose composite has another spec: neither is the check asked about
// it, nor does its last answer stay.
func TestClaimIsAhead(t *testing.T) {
	contract := object(t, xr, func(m map[string]any) { m["status"] = map[string]any{"observedGeneration": 4.0} })
	type want struct {
		Asked, Claimed float64
		Satisfied      string
	}
	cases := map[string]struct {
		reason     string
		checkspec  string
		generation float64
		want       want
	}{
		"Agree":  {reason: "Both say the same.", checkspec: "deploy-7", generation: 4, want: want{Asked: 4, Claimed: 4, Satisfied: "RulesSatisfied"}},
		"Ahead":  {reason: "What is known is about the generation before.", checkspec: "deploy-8", generation: 5, want: want{Asked: 4, Claimed: 4, Satisfied: "NotChecked"}},
		"Edited": {reason: "What is known is about no generation.", checkspec: "deploy-8", generation: 4, want: want{Satisfied: "NotChecked"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := claimtest.Request(request(contract, object(t, checked)))
			claim := req.GetRequiredResources()["claim"].GetItems()[0].GetResource().AsMap()
			set(tc.checkspec, "spec", "checkRequest")(claim)
			set(tc.generation, "metadata", "generation")(claim)
			b := object(t, "{}", func(m map[string]any) { m["claim"] = claim })
			req.RequiredResources["claim"].Items[0].Resource = b.GetFields()["claim"].GetStructValue()
			rsp := once(t, req)

			got := want{}
			check := rsp.GetDesired().GetResources()["check"].GetResource().GetFields()["spec"].GetStructValue().GetFields()["forProvider"].GetStructValue()
			got.Asked = check.GetFields()["contractGeneration"].GetNumberValue()
			status := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue()
			got.Claimed = status.GetFields()["observedGeneration"].GetNumberValue()
			for _, c := range rsp.GetConditions() {
				if c.GetType() == "Satisfied" {
					got.Satisfied = c.GetReason()
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
