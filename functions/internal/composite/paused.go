package composite

import (
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
)

// Paused is true while Crossplane drops events of a composite because there were too many, changes of its own spec among them (condition
// Responsive, circuit breaker of Crossplane 2.4). Nothing but the time then says that there is something to do.
func Paused(xr *structpb.Struct) bool {
	is := conditionsOf(xr)
	return is.GetCondition("Responsive").Status == corev1.ConditionFalse
}
