package composite

import (
	"google.golang.org/protobuf/types/known/structpb"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// AnsweredGeneration is the generation that status.observedGeneration may claim.
//
// Crossplane writes the status in two steps: first what the function says, together with the conditions of before, and then the
// conditions. So claiming a new generation that is not ready while Ready still is True would be read as ready for a moment. Then the
// older generation stays until Ready has followed: its change makes Crossplane ask again. The generation that Ready itself names is no
// help, because Crossplane may have asked about an older spec than it takes the generation from.
//
// A composite behind a claim claims the claim's generation, and none that is newer than its spec. Crossplane copies to the claim in the same two
// steps, and may have passed over what the composite said before, so the claim's Ready counts as the composite's does.
func AnsweredGeneration(xr *structpb.Struct, subject Subject, ready bool) int64 {
	if ready && !subject.Apart {
		return subject.Generation
	}
	obj := struct {
		Status struct {
			xpv2.ConditionedStatus `json:",inline"`

			ObservedGeneration int64 `json:"observedGeneration"`
		} `json:"status"`
	}{}
	if err := Decode(Pick(xr, "status"), &obj); err != nil {
		// Nothing else depends on the composite's own status.
		return subject.Generation
	}
	s := obj.Status
	if subject.Apart {
		return subject.Earlier(s.ObservedGeneration)
	}
	readyStill := s.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue || subject.claim.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
	if readyStill && s.ObservedGeneration > 0 && s.ObservedGeneration < subject.Generation {
		return s.ObservedGeneration
	}
	return subject.Generation
}
