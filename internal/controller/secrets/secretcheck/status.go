package secretcheck

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// Events of a check. They come with a change of the verdict, and not again.
const (
	eventReady  event.Reason = "ContractReady"
	eventFailed event.Reason = "SecretValidationFailed"
)

// quiet is how often a status is written at most for a Secret that changes without a change of what is found.
const quiet = 10 * time.Second

// report writes a verdict into the object's status, and tells people when it has changed. After an error the Secret was not read: what was
// found before stays, the conditions say that it is not confirmed, and nothing is answered. But while it is not known whether anything may
// be told at all, nothing is.
func (e *external) report(mg *v1alpha1.SecretCheck, v verdict, err error) {
	was := mg.GetCondition(v1alpha1.TypeSatisfied)
	before := mg.Status.AtProvider
	switch {
	case err == nil:
		mg.Status.AtProvider = e.settle(before, v.observation(mg, e.now()))
	case v.conditions.Authorized.Status != contract.StatusTrue:
		mg.Status.AtProvider = v1alpha1.SecretCheckObservation{ContractGeneration: before.ContractGeneration}
		mg.Status.AtProvider.CheckRequest = before.CheckRequest
	}

	for _, c := range []struct {
		of xpv2.ConditionType
		is contract.Condition
	}{
		{v1alpha1.TypeSecretExists, v.conditions.SecretExists},
		{v1alpha1.TypeKeysValid, v.conditions.KeysValid},
		{v1alpha1.TypeExternalSecretReady, v.conditions.ExternalSecretReady},
		{v1alpha1.TypeWorkloadsConfigured, v.conditions.WorkloadsConfigured},
		{v1alpha1.TypeRotationPolicySatisfied, v.conditions.RotationPolicySatisfied},
		{v1alpha1.TypeSatisfied, v.satisfied},
	} {
		setup.Mark(mg, setup.Condition(c.of, corev1.ConditionStatus(c.is.Status), reasonOf(c.is), v.message(mg, c.is.Reason)))
	}
	if v.satisfied.Status == contract.StatusTrue {
		setup.Mark(mg, xpv2.Available())
	} else {
		setup.Mark(mg, setup.NotReady(reasonOf(v.satisfied), v.message(mg, v.satisfied.Reason)))
	}
	e.tell(mg, was, before, v)
}

// tell people of a new verdict.
func (e *external) tell(mg *v1alpha1.SecretCheck, was xpv2.Condition, before v1alpha1.SecretCheckObservation, v verdict) {
	switch {
	case v.satisfied.Status == contract.StatusTrue && was.Status != corev1.ConditionTrue:
		e.recorder.Event(mg, event.Normal(eventReady, v.message(mg, v.satisfied.Reason)))
	case v.satisfied.Status == contract.StatusFalse && (was.Status != corev1.ConditionFalse || was.Reason != reasonOf(v.satisfied) ||
		!equality.Semantic.DeepEqual(before.Violations, mg.Status.AtProvider.Violations)):
		e.recorder.Event(mg, event.Event{Type: event.TypeWarning, Reason: eventFailed, Message: v.message(mg, v.satisfied.Reason)})
	}
}

// reasonOf returns a reason that a condition can have: it must not be empty.
func reasonOf(c contract.Condition) xpv2.ConditionReason {
	if c.Reason == contract.ReasonNone {
		return setup.ReasonUnknown
	}
	return xpv2.ConditionReason(c.Reason.String())
}

// settle returns the observation to show: the one of before as long as nothing has changed that matters. A Secret that changes all the
// time, with the same findings, is not news each time.
func (e *external) settle(before, after v1alpha1.SecretCheckObservation) v1alpha1.SecretCheckObservation {
	same := after.DeepCopy()
	same.LastCheckedTime = before.LastCheckedTime
	if equality.Semantic.DeepEqual(before, *same) {
		return before
	}
	if before.LastCheckedTime == nil || e.now().Sub(before.LastCheckedTime.Time) >= quiet {
		return after
	}
	same.NextCheckTime = before.NextCheckTime
	if same.ObservedSecret != nil && before.ObservedSecret != nil {
		same.ObservedSecret.ResourceVersion = before.ObservedSecret.ResourceVersion
	}
	if !equality.Semantic.DeepEqual(before, *same) {
		return after
	}
	// It is shown with the next look at it, which is not far, and not after a deadline.
	soon := metav1.NewTime(before.LastCheckedTime.Add(quiet))
	if n := after.NextCheckTime; n != nil && n.Before(&soon) {
		soon = *n
	}
	before.NextCheckTime = &soon
	return before
}

// observation is the verdict as the API shows it.
func (v verdict) observation(mg *v1alpha1.SecretCheck, now time.Time) v1alpha1.SecretCheckObservation {
	checked := metav1.NewTime(now.Truncate(time.Second))
	o := v1alpha1.SecretCheckObservation{ContractGeneration: mg.Spec.ForProvider.ContractGeneration}
	o.CheckRequest = mg.Spec.ForProvider.CheckRequest
	o.LastCheckedTime = &checked
	o.ObservedSecret = v.secret
	o.WorkloadStatuses = v.workloads
	if !v.next.IsZero() {
		// The API holds whole seconds. Not before it: nothing has changed then, and what is written must be what is read.
		next := metav1.NewTime(v.next.Add(time.Second - 1).Truncate(time.Second))
		o.NextCheckTime = &next
	}
	if v.satisfied.Reason == contract.ReasonAccessNotApproved {
		return o
	}
	o.MissingKeys, o.MissingKeyCount, o.ViolationCount = v.result.Missing, int32(v.result.MissingCount), int32(v.result.ViolationCount)
	o.Violations, o.Warnings, o.Truncated = findings(v.result.Violations), findings(v.result.Warnings), v.result.Truncated
	for _, w := range v.workloads {
		o.Truncated = o.Truncated || int(w.FindingCount) > len(w.Findings) || int(w.UseCount) > len(w.Uses)
	}
	for _, c := range v.result.Certificates {
		o.Certificates = append(o.Certificates, v1alpha1.CertificateStatus{Key: c.Key, NotAfter: metav1.NewTime(c.NotAfter)})
	}
	return o
}

func findings(vs []contract.Violation) []v1alpha1.Finding {
	var out []v1alpha1.Finding
	for _, v := range vs {
		out = append(out, v1alpha1.Finding{Key: v.Key, Rule: v.Rule.String(), Reason: v.Reason.String()})
	}
	return out
}
