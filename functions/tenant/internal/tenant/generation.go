package tenant

import (
	"google.golang.org/protobuf/types/known/structpb"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// answeredGeneration is the generation that status.observedGeneration may claim.
//
// Crossplane writes the status in two steps: first what the function says, together with the conditions of before, and then the
// conditions. So claiming a new generation that is not ready while Ready still is True of an older one would be read as ready for a
// moment. Then the older generation stays until the conditions have followed: their change makes Crossplane ask again.
func answeredGeneration(xr *structpb.Struct, generation int64, ready bool) int64 {
	if ready {
		return generation
	}
	obj := struct {
		Status struct {
			xpv2.ConditionedStatus `json:",inline"`

			ObservedGeneration int64 `json:"observedGeneration"`
		} `json:"status"`
	}{}
	if err := decode(pick(xr, "status"), &obj); err != nil {
		// Nothing else depends on the composite's own status.
		return generation
	}
	s := obj.Status
	c := s.GetCondition(xpv2.TypeReady)
	if c.Status == corev1.ConditionTrue && c.ObservedGeneration < generation && s.ObservedGeneration > 0 {
		return s.ObservedGeneration
	}
	return generation
}
