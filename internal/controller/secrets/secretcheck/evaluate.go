package secretcheck

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract"
	"github.com/ryuvia/provider-terdut/internal/contract/declared"
)

// A verdict is what one evaluation found. It holds no value of a Secret.
type verdict struct {
	conditions contract.Conditions
	// satisfied is the verdict on the whole.
	satisfied contract.Condition

	secret    *v1alpha1.ObservedSecret
	result    contract.Result
	workloads []v1alpha1.WorkloadStatus
	// next is when time alone may change the verdict, zero for never.
	next time.Time
}

// evaluate looks at everything that the check is about, in the order in which each depends on the one before. An error is that it cannot be
// told whether the check is allowed, or what is in the Secret; all is Unknown then. What else cannot be looked at is a finding.
func (e *external) evaluate(ctx context.Context, mg *v1alpha1.SecretCheck) (verdict, error) {
	e1 := &evaluation{external: e, mg: mg, spec: declared.Spec(mg.Spec.ForProvider.ContractParameters, e.versions)}
	err := e1.run(ctx)
	e1.satisfied = e1.conditions.Satisfied(mg.Generation, e1.spec.Policy)
	return e1.verdict, err
}

// An evaluation is under way.
type evaluation struct {
	*external
	verdict

	mg   *v1alpha1.SecretCheck
	spec contract.Spec
}

func (e *evaluation) run(ctx context.Context) error {
	e.pending(contract.ReasonNone)
	e.result = e.spec.Check()
	if !e.result.SpecValid {
		e.pending(contract.ReasonInvalidSpec)
		e.conditions.SpecValid = e.no(specReason(e.result))
		return nil
	}
	e.conditions.SpecValid = e.yes(contract.ReasonRulesSatisfied)

	approved, err := e.approved(ctx)
	if err != nil {
		return err
	}
	if !approved {
		// Nothing that was found before is shown any more.
		e.pending(contract.ReasonAccessNotApproved)
		e.conditions.Authorized = e.no(contract.ReasonAccessNotApproved)
		return nil
	}
	e.conditions.Authorized = e.yes(contract.ReasonRulesSatisfied)

	secret, err := e.read(ctx)
	if err != nil {
		return err
	}
	e.checkKeys(secret)
	e.checkRotation(secret)
	e.checkExternalSecret(ctx, secret)
	e.checkWorkloads(ctx, secret)
	return nil
}

// pending sets every condition to Unknown, or to what holds for a check that is not configured.
func (e *evaluation) pending(r contract.Reason) {
	unknown := e.unknown(r)
	e.conditions = contract.Conditions{
		Authorized: unknown, SpecValid: unknown, SecretExists: unknown, KeysValid: unknown,
		ExternalSecretReady: unknown, WorkloadsConfigured: unknown, RotationPolicySatisfied: unknown,
	}
	if r == contract.ReasonAccessNotApproved {
		e.conditions.SpecValid = e.yes(contract.ReasonRulesSatisfied)
	}
	if r == contract.ReasonInvalidSpec {
		e.conditions.Authorized = e.yes(contract.ReasonNone)
	}
	if e.spec.ExternalSecret == "" {
		e.conditions.ExternalSecretReady = e.yes(contract.ReasonNotConfigured)
	}
	if len(e.spec.Workloads) == 0 {
		e.conditions.WorkloadsConfigured = e.yes(contract.ReasonNotConfigured)
	}
	if e.spec.MaxAge == nil {
		e.conditions.RotationPolicySatisfied = e.yes(contract.ReasonNotConfigured)
	}
}

// read the Secret. That it is not there, and that it must not be read, are findings and no errors; then it is nil.
func (e *evaluation) read(ctx context.Context) (*corev1.Secret, error) {
	s, err := e.secrets.Object(ctx, types.NamespacedName{Namespace: e.mg.Namespace, Name: e.spec.Secret})
	switch {
	case kerrors.IsForbidden(err), kerrors.IsUnauthorized(err):
		e.conditions.SecretExists = e.unknown(contract.ReasonSecretAccessDenied)
		e.conditions.KeysValid = e.unknown(contract.ReasonSecretAccessDenied)
		return nil, nil
	case err != nil:
		return nil, err
	case s == nil:
		e.conditions.SecretExists = e.no(contract.ReasonSecretNotFound)
		e.conditions.KeysValid = e.unknown(contract.ReasonSecretNotFound)
		return nil, nil
	}
	e.conditions.SecretExists = e.yes(contract.ReasonRulesSatisfied)
	e.secret = &v1alpha1.ObservedSecret{Name: s.Name, UID: string(s.UID), ResourceVersion: s.ResourceVersion}
	return s, nil
}

func (e *evaluation) checkKeys(s *corev1.Secret) {
	if s == nil {
		return
	}
	e.result = contract.Evaluate(e.spec.Rules, s.Data, e.now())
	e.until(e.result.NextChange)
	if e.result.Valid {
		e.conditions.KeysValid = e.yes(contract.ReasonRulesSatisfied)
		return
	}
	e.conditions.KeysValid = e.no(e.result.Reason())
}

func (e *evaluation) checkRotation(s *corev1.Secret) {
	if e.spec.MaxAge == nil {
		return
	}
	if s == nil {
		e.conditions.RotationPolicySatisfied = e.unknown(e.conditions.SecretExists.Reason)
		return
	}
	at, ok := s.Annotations[e.spec.RotatedAtAnnotation]
	r, next := contract.Rotation(at, ok, *e.spec.MaxAge, e.now())
	e.until(next)
	if r != contract.ReasonNone {
		e.conditions.RotationPolicySatisfied = e.no(r)
		return
	}
	e.conditions.RotationPolicySatisfied = e.yes(contract.ReasonRulesSatisfied)
}

// unread notes that something beside the Secret could not be read. That is a finding for whoever asks, and news for whoever runs the provider.
func (e *evaluation) unread(ctx context.Context, kind, name string, err error) {
	ctrl.LoggerFrom(ctx).Error(err, "cannot look at what a SecretCheck names", "kind", kind, "name", name)
}

// until notes a moment at which the verdict may change by itself.
func (e *evaluation) until(t time.Time) {
	if !t.IsZero() && (e.next.IsZero() || t.Before(e.next)) {
		e.next = t
	}
}

func (e *evaluation) condition(s contract.Status, r contract.Reason) contract.Condition {
	return contract.Condition{Status: s, Reason: r, ObservedGeneration: e.mg.Generation}
}

func (e *evaluation) yes(r contract.Reason) contract.Condition {
	return e.condition(contract.StatusTrue, r)
}
func (e *evaluation) no(r contract.Reason) contract.Condition {
	return e.condition(contract.StatusFalse, r)
}
func (e *evaluation) unknown(r contract.Reason) contract.Condition {
	return e.condition(contract.StatusUnknown, r)
}

// specReason stands for what is wrong with a contract: a feature that is not built when that is all, and otherwise that it makes no sense.
func specReason(r contract.Result) contract.Reason {
	other := func(v contract.Violation) bool { return v.Reason != contract.ReasonFeatureNotEnabled }
	if slices.ContainsFunc(r.Violations, other) {
		return contract.ReasonInvalidSpec
	}
	return contract.ReasonFeatureNotEnabled
}
