package composite

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// A Condition of the composite.
type Condition struct {
	Type    string
	Status  corev1.ConditionStatus
	Reason  string
	Message string
}

// Available is the condition of a step that is done.
func Available(conditionType string) Condition {
	return Condition{Type: conditionType, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonAvailable}
}

// Waiting is the condition of a step that an earlier one, or time, stands before. The message should stay the same until that has passed:
// every change of it is a write of the composite, and Crossplane stops listening to a composite that is written too often.
func Waiting(conditionType, format string, args ...any) Condition {
	return Condition{
		Type: conditionType, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonWaiting, Message: fmt.Sprintf(format, args...),
	}
}

// First takes over the first of a managed resource's conditions that is not True, with its reason and message.
func First(conditionType, who string, a Answers, types ...xpv2.ConditionType) Condition {
	for _, ct := range types {
		c, ok := a.Get(ct)
		if !ok || ct == xpv2.TypeSynced && c.Status != corev1.ConditionTrue {
			// An error, such as that of a server which does not answer, is told by Ready alone.
			if r, said := a.Get(xpv2.TypeReady); said && r.Status != corev1.ConditionTrue && r.Reason != "" && r.Reason != xpv2.ReasonCreating {
				c, ok = r, true
			}
		}
		switch {
		case !ok:
			return Waiting(conditionType, "%s has not said whether it is %s with its current spec yet.", who, ct)
		case c.Status == corev1.ConditionTrue:
			continue
		case c.Type == xpv2.TypeSynced:
			// The message of Synced is that of the last error, which may differ each time.
			return Condition{
				Type: conditionType, Status: corev1.ConditionFalse, Reason: string(xpv2.ReasonReconcileError),
				Message: fmt.Sprintf("%s is not Synced; its own condition says why.", who),
			}
		case c.Reason == "":
			return Waiting(conditionType, "%s is not %s yet.", who, ct)
		}
		status := corev1.ConditionFalse
		if c.Status == corev1.ConditionUnknown {
			status = corev1.ConditionUnknown
		}
		return Condition{Type: conditionType, Status: status, Reason: string(c.Reason), Message: c.Message}
	}
	return Available(conditionType)
}
