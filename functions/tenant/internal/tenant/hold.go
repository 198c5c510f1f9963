package tenant

import (
	"maps"

	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
)

// A said condition is one of the composite's own, as observed.
type said struct {
	Type    string                 `json:"type"`
	Status  corev1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason"`
	Message string                 `json:"message"`
}

// held is the status that stays for this pass, and nil when the new one may be written.
//
// Crossplane writes the fields of the status first, together with the conditions that it read from its cache, and then the conditions. When
// both are news, the first write makes it run again before its cache has the second, and then it puts back the conditions of before: Ready
// goes to False and comes back, some times, and each time counts against the circuit breaker. So conditions go first and the fields follow in
// the next pass, which the change of the conditions causes.
func held(xr *structpb.Struct, conditions []Condition) map[string]any {
	obj := struct {
		Status struct {
			Phase      string `json:"phase"`
			Conditions []said `json:"conditions"`
		} `json:"status"`
	}{}
	if err := decode(pick(xr, "status"), &obj); err != nil || obj.Status.Phase == "" {
		return nil
	}
	was := map[string]said{}
	for _, c := range obj.Status.Conditions {
		was[c.Type] = c
	}
	differs := false
	for _, c := range conditions {
		old, ok := was[c.Type]
		if !ok {
			// The first pass, or another function removes it: then there is nothing to wait for.
			return nil
		}
		differs = differs || old != said(c)
	}
	if !differs {
		return nil
	}
	s := xr.GetFields()["status"].GetStructValue().AsMap()
	maps.DeleteFunc(s, func(k string, _ any) bool { return !ownStatus[k] })
	return s
}
