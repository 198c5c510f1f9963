package composite

import (
	"google.golang.org/protobuf/types/known/structpb"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// Settle holds the status back while the composite, or the claim that it is behind, does not have the conditions yet, and tells whether it shows
// all.
//
// In one pass Crossplane writes the status, with the conditions of before, and then the conditions. Each write begins another pass, and one
// that begins with the first write without the second takes the conditions of before for those that are, writes them once more, and so on
// for as long as its cache is behind. So there is one write in a pass: conditions first, and what they are about, with the generation that
// they are about, when they are there. Their change makes Crossplane ask again. To the claim Crossplane copies both in that order too: there the
// new generation would stand beside the conditions of before.
func (c *Composition) Settle(xr *structpb.Struct, subject Subject) bool {
	is := conditionsOf(xr)
	for _, d := range c.Conditions {
		if d.outdates(is) || d.outdates(subject.claim) {
			c.Status = StatusOf(xr, subject)
			return false
		}
	}
	return true
}

// conditionsOf a composite or claim. Of a status that cannot be read nobody can tell, and it is written anyway.
func conditionsOf(obj *structpb.Struct) xpv2.ConditionedStatus {
	out := struct {
		Status struct {
			xpv2.ConditionedStatus `json:",inline"`
		} `json:"status"`
	}{}
	if err := Decode(Pick(obj, "status"), &out); err != nil {
		return xpv2.ConditionedStatus{}
	}
	return out.Status.ConditionedStatus
}

// outdates tells whether a status has another condition of this type. One that it never had cannot be written once more.
func (d Condition) outdates(s xpv2.ConditionedStatus) bool {
	is := s.GetCondition(xpv2.ConditionType(d.Type))
	return is.Reason != "" && (is.Status != d.Status || string(is.Reason) != d.Reason || is.Message != d.Message)
}

// StatusOf a composite, without Crossplane's part: what stays, with the generation that it is about, until there is another.
func StatusOf(xr *structpb.Struct, subject Subject) map[string]any {
	out := map[string]any{}
	for k, v := range xr.GetFields()["status"].GetStructValue().AsMap() {
		switch k {
		case "conditions", "crossplane", "claimConditionTypes", "connectionDetails":
		default:
			out[k] = v
		}
	}
	if g, ok := out["observedGeneration"].(float64); ok && subject.Earlier(int64(g)) == 0 {
		delete(out, "observedGeneration")
	}
	return out
}
