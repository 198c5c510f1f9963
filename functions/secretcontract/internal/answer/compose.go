// Package answer decides what a SecretContract is composed of, which is one SecretCheck and what makes its Secret, and takes over the check's
// answer.
//
// An answer counts only when it is about this generation of the contract, which the check echoes, and about the contract's own rules: whoever
// may write SecretChecks could ask for less, in fields that are not applied here. Until then every condition is Unknown, because what was
// found for another spec says nothing about this one. The function never sees a Secret.
package answer

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
	"github.com/ryuvia/provider-terdut/functions/secretcontract/internal/provision"
	"github.com/ryuvia/provider-terdut/internal/contract"
	"github.com/ryuvia/provider-terdut/internal/contract/declared"
)

// ResourceCheck is the composition resource name of the SecretCheck.
const ResourceCheck = "check"

// fields of a contract's spec that its check takes over as they are.
var fields = []string{"secretRef", "requiredKeys", "externalSecretRef", "workloadRefs", "injection", "rotation", "policy", "checkRequest"}

// undelivered are the reasons of a Secret that is not there because nothing delivers it.
var undelivered = []string{
	contract.ReasonSecretNotFound.String(), contract.ReasonExternalSecretNotFound.String(), contract.ReasonExternalSecretNotReady.String(),
}

// conditions that a contract takes over from its check, in this order.
var conditions = []xpv2.ConditionType{
	secretsv1alpha1.TypeSecretExists, secretsv1alpha1.TypeKeysValid, secretsv1alpha1.TypeExternalSecretReady,
	secretsv1alpha1.TypeWorkloadsConfigured, secretsv1alpha1.TypeRotationPolicySatisfied, secretsv1alpha1.TypeSatisfied,
}

type check = composite.Object[secretsv1alpha1.SecretCheckSpec, secretsv1alpha1.SecretCheckStatus]

// Compose a SecretContract. Required holds the claim of a composite of cluster scope. It also says whether the contract shows what its check
// has answered for this generation. An error names the field that cannot be understood; nothing may change then.
func Compose(xr *structpb.Struct, observed map[string]*structpb.Struct, required map[string][]*structpb.Struct) (*composite.Composition, bool, error) {
	subject, err := composite.SubjectOf(xr, required)
	if err != nil {
		return nil, false, err
	}
	spec := composite.OwnSpec(xr)
	if err := understood(spec); err != nil {
		return nil, false, err
	}
	c, err := composite.Observe[secretsv1alpha1.SecretCheckSpec, secretsv1alpha1.SecretCheckStatus](subject, observed, ResourceCheck, secretsv1alpha1.SecretCheckKind)
	if err != nil {
		return nil, false, err
	}

	p, err := provision.Read(spec, subject, observed)
	if err != nil {
		return nil, false, err
	}
	manifest, err := render(spec, subject, asking(c, subject), p)
	if err != nil {
		return nil, false, err
	}
	asked, err := asks(c, manifest)
	if err != nil {
		return nil, false, err
	}
	answered := c != nil && asked && !subject.Apart && answers(c, subject.Generation)
	look := provision.Look{}
	if answered {
		look = provision.LookOf(c.Status)
	}
	resources, provisioned, err := p.Compose(look)
	if err != nil {
		return nil, false, err
	}
	satisfied := answered && c.Status.GetCondition(secretsv1alpha1.TypeSatisfied).Status == corev1.ConditionTrue
	out := &composite.Composition{
		// Of a composed resource that is not ready Crossplane writes an event in each pass. A check has done its work when it has answered: that
		// the answer is no is told by the verdict, which alone decides about the contract.
		Resources: map[string]composite.Resource{ResourceCheck: {Manifest: manifest, Ready: answered}},
		Ready:     satisfied && provisioned.Status == corev1.ConditionTrue,
	}
	maps.Copy(out.Resources, resources)
	if !answered {
		out.Conditions = append(unanswered(why(c, asked, subject.Generation)), provisioned)
		out.Status = composite.StatusOf(xr, subject)
		return out, out.Settle(xr, subject), nil
	}
	for _, t := range conditions {
		a := c.Status.GetCondition(t)
		verdict := composite.Condition{Type: string(t), Status: a.Status, Reason: string(a.Reason), Message: a.Message}
		switch {
		case t != secretsv1alpha1.TypeSatisfied:
		case satisfied && !out.Ready:
			// The Secret is as its rules say, and not yet, or not any more, the one that is asked for.
			verdict.Status, verdict.Reason, verdict.Message = provisioned.Status, provisioned.Reason, provisioned.Message
		case slices.Contains(undelivered, verdict.Reason) && provisioned.Status != corev1.ConditionTrue && provisioned.Reason != v1alpha1.ReasonWaiting:
			// Nobody named that ExternalSecret, and why there is no Secret is known.
			verdict.Reason, verdict.Message = provisioned.Reason, provisioned.Message
		}
		out.Conditions = append(out.Conditions, verdict)
	}
	out.Conditions = append(out.Conditions, provisioned)
	// The raw answer, because it holds what this version may not know yet.
	out.Status = map[string]any{}
	for k, v := range observed[ResourceCheck].GetFields()["status"].GetStructValue().GetFields()["atProvider"].GetStructValue().AsMap() {
		if k != "contractGeneration" {
			out.Status[k] = v
		}
	}
	if u := p.KVURL(); u != "" {
		out.Status["kvURL"] = u
	}
	out.Status["observedGeneration"] = subject.Generation
	return out, out.Settle(xr, subject), nil
}

// understood is an error when the spec holds what this version does not know: a rule that is passed over is not checked.
func understood(spec *structpb.Struct) error {
	if err := composite.DecodeStrict(spec, &v1alpha1.SecretContractSpec{}); err != nil {
		return fmt.Errorf("spec.%w", err)
	}
	if _, ok := spec.GetFields()["secretRef"]; !ok {
		return fmt.Errorf("spec.secretRef: required")
	}
	return nil
}

// asking is the generation that the check is asked about. While it is not known which one the spec is of, an answer says nothing.
func asking(c *check, subject composite.Subject) int64 {
	if subject.Apart && c != nil {
		return subject.Earlier(c.Spec.ForProvider.ContractGeneration)
	}
	return subject.Generation
}

// render the SecretCheck. Crossplane names it, with a name that is free.
func render(spec *structpb.Struct, subject composite.Subject, generation int64, p *provision.Provision) (*structpb.Struct, error) {
	forProvider := composite.Pick(spec, fields...)
	forProvider.Fields["contractGeneration"] = structpb.NewNumberValue(float64(generation))
	if err := p.Declare(forProvider); err != nil {
		return nil, err
	}
	out, err := structpb.NewStruct(map[string]any{
		"apiVersion": secretsv1alpha1.SchemeGroupVersion.String(),
		"kind":       secretsv1alpha1.SecretCheckKind,
		"metadata":   map[string]any{"namespace": subject.Namespace},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot render SecretCheck: %w", err)
	}
	out.Fields["spec"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"forProvider": structpb.NewStructValue(forProvider)}})
	return out, nil
}

// answers says whether what a check says is about this generation of the contract, and about what it is asked now.
func answers(c *check, generation int64) bool {
	if paused(c) {
		return false
	}
	a := composite.Answers{Generation: c.Metadata.Generation, Status: c.Status.ManagedResourceStatus}
	for _, t := range conditions {
		if _, current := a.Get(t); !current {
			return false
		}
	}
	return c.Status.AtProvider.ContractGeneration == generation &&
		c.Status.AtProvider.CheckRequest == c.Spec.ForProvider.CheckRequest
}

// asks says whether a check asks for exactly what is desired of it.
func asks(c *check, manifest *structpb.Struct) (bool, error) {
	if c == nil {
		return false, nil
	}
	desired := check{}
	if err := composite.Decode(manifest, &desired); err != nil {
		return false, fmt.Errorf("cannot compare SecretCheck %q: %w", c.Metadata.Name, err)
	}
	want, have := desired.Spec.ForProvider, c.Spec.ForProvider
	want.ContractParameters, have.ContractParameters = declared.Sorted(want.ContractParameters), declared.Sorted(have.ContractParameters)
	return equality.Semantic.DeepEqual(want, have), nil
}

// paused says whether the provider does not look at a check any more: its last answer would stand for ever.
func paused(c *check) bool {
	synced := c.Status.GetCondition(xpv2.TypeSynced)
	return synced.Status == corev1.ConditionFalse && synced.Reason == xpv2.ReasonReconcilePaused
}

// why there is no answer, and what to do about it where that is known.
func why(c *check, asked bool, generation int64) string {
	switch {
	case c != nil && paused(c):
		return fmt.Sprintf("SecretCheck %q is paused: take away its annotation crossplane.io/paused or its managementPolicies.", c.Metadata.Name)
	case c != nil && !asked && c.Spec.ForProvider.ContractGeneration == generation:
		return fmt.Sprintf("SecretCheck %q asks for something else than this contract: somebody has changed it. Delete it, and it is made anew.", c.Metadata.Name)
	}
	return "The provider has not answered for this generation yet."
}

// unanswered are the conditions of a contract that nobody has looked at yet.
func unanswered(message string) []composite.Condition {
	out := make([]composite.Condition, 0, len(conditions))
	for _, t := range conditions {
		out = append(out, composite.Condition{Type: string(t), Status: corev1.ConditionUnknown, Reason: v1alpha1.ReasonNotChecked, Message: message})
	}
	return out
}
