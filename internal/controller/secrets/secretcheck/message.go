package secretcheck

import (
	"fmt"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract"
	"github.com/ryuvia/provider-terdut/internal/contract/declared"
)

// message says a reason in words, with what to do about it. It is made of names and counts alone, and is empty only where all is in order.
func (v verdict) message(mg *v1alpha1.SecretCheck, r contract.Reason) string {
	p := mg.Spec.ForProvider
	name := p.SecretRef.Name
	switch r { //nolint:exhaustive // The others are those of findings and workloads, below.
	case contract.ReasonRulesSatisfied, contract.ReasonNotConfigured:
		return ""
	case contract.ReasonNone:
		return "It could not be looked at: the event and condition Synced say why."
	case contract.ReasonSecretNotFound:
		return fmt.Sprintf("Secret %q does not exist.", name)
	case contract.ReasonSecretAccessDenied:
		return fmt.Sprintf("The provider may not read Secret %q: look at its roles in this namespace.", name)
	case contract.ReasonAccessNotApproved:
		return fmt.Sprintf("No SecretAccessGrant lets this contract look at Secret %q with all its rules and workloads.", name)
	case contract.ReasonMissingRequiredKey:
		if len(v.result.Missing) > 0 {
			return fmt.Sprintf("Secret %q lacks required keys: %d; the first is %q.", name, v.result.MissingCount, v.result.Missing[0])
		}
	case contract.ReasonEvaluationBudgetExceeded:
		return fmt.Sprintf("Looking at Secret %q would take too much: use fewer keys, smaller values or simpler patterns.", name)
	case contract.ReasonInvalidSpec, contract.ReasonFeatureNotEnabled:
		return v.specMessage(r)
	}
	if at, ok := rotationMessages[r]; ok {
		return fmt.Sprintf(at, rotatedAt(p.ContractParameters), name)
	}
	if source, ok := externalSecretMessages[r]; ok && p.ExternalSecretRef != nil {
		return fmt.Sprintf(source, p.ExternalSecretRef.Name, name)
	}
	for _, f := range v.result.Violations {
		if f.Reason == r && f.Key != "" {
			return fmt.Sprintf("Findings: %d; the first is about key %q, rule %s.", v.result.ViolationCount, f.Key, f.Rule)
		}
	}
	for _, w := range v.workloads {
		if w.Reason != r.String() {
			continue
		}
		switch r { //nolint:exhaustive // What the template lacks is the rest.
		case contract.ReasonWorkloadNotFound:
			return fmt.Sprintf("%s %q does not exist.", w.Kind, w.Name)
		case contract.ReasonWorkloadAccessDenied:
			return fmt.Sprintf("The provider may not read %s %q: look at its roles in this namespace.", w.Kind, w.Name)
		case contract.ReasonWorkloadReadFailed:
			return fmt.Sprintf("The API server did not answer for %s %q. It is asked again soon.", w.Kind, w.Name)
		}
		return fmt.Sprintf("%s %q does not consume Secret %q as asked.", w.Kind, w.Name, name)
	}
	// What has no text of its own is named.
	return fmt.Sprintf("Secret %q: %s.", name, r)
}

// specMessage says which field of the contract makes no sense, or is not built.
func (v verdict) specMessage(r contract.Reason) string {
	what := "makes no sense"
	if r == contract.ReasonFeatureNotEnabled {
		what = "is not built"
	}
	if len(v.result.Violations) == 0 {
		return "The contract " + what + "."
	}
	f := v.result.Violations[0]
	if f.Key == "" {
		return fmt.Sprintf("Findings about the contract: %d; the first is that its %s %s.", v.result.ViolationCount, f.Rule, what)
	}
	return fmt.Sprintf("Findings about the contract: %d; the first is that %s of key %q %s.", v.result.ViolationCount, f.Rule, f.Key, what)
}

// rotationMessages are about an annotation and its Secret.
var rotationMessages = map[contract.Reason]string{
	contract.ReasonRotationTimestampMissing:  "Annotation %q of Secret %q is missing: write when the content was made.",
	contract.ReasonRotationTimestampInvalid:  "Annotation %q of Secret %q is no time of RFC 3339.",
	contract.ReasonRotationTimestampInFuture: "Annotation %q of Secret %q is in the future.",
	contract.ReasonSecretTooOld:              "Annotation %q says that Secret %q is older than the contract allows: rotate it, and write the annotation.",
}

// externalSecretMessages are about an ExternalSecret and the Secret.
var externalSecretMessages = map[contract.Reason]string{
	contract.ReasonExternalSecretNotReady:          "ExternalSecret %q has not delivered Secret %q for its current spec: its events say why.",
	contract.ReasonExternalSecretNotFound:          "ExternalSecret %q, which is to deliver Secret %q, does not exist.",
	contract.ReasonExternalSecretAPINotAvailable:   "The kind of ExternalSecret %q, which is to deliver Secret %q, is not served: install External Secrets.",
	contract.ReasonExternalSecretTargetMismatch:    "ExternalSecret %q does not write Secret %q: look at its spec.target.",
	contract.ReasonUnsupportedExternalSecretSchema: "ExternalSecret %q, which is to deliver Secret %q, is not of a form that is known.",
	contract.ReasonExternalSecretAccessDenied:      "The provider may not read ExternalSecret %q, or list others that write Secret %q: look at its roles.",
	contract.ReasonExternalSecretReadFailed:        "The API server did not answer for ExternalSecret %q, which is to deliver Secret %q. It is asked again soon.",
	contract.ReasonExternalSecretNotOwner:          "ExternalSecret %q does not own Secret %q: somebody else has made it.",
	contract.ReasonExternalSecretTargetContested:   "ExternalSecret %q is not the only one that writes Secret %q: look at spec.target of the others.",
}

func rotatedAt(p v1alpha1.ContractParameters) string {
	if p.Rotation != nil && p.Rotation.RotatedAtAnnotation != "" {
		return p.Rotation.RotatedAtAnnotation
	}
	return declared.RotatedAt
}
