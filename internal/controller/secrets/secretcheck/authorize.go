package secretcheck

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract"
	"github.com/ryuvia/provider-terdut/internal/contract/declared"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
)

// approved says whether the check may be made: always where the authors of contracts are trusted, and otherwise when a grant covers all
// of it. A grant is for a contract, not for what somebody makes of its check: a composed check must ask for what its contract, which is read
// anew each time, asks for. Whoever writes a SecretCheck by hand has only its own identity.
func (e *evaluation) approved(ctx context.Context) (bool, error) {
	if !e.grants {
		return true, nil
	}
	composite, err := owner.Composite(ctx, e.live, e.mg, v1alpha1.SecretCheckGroupVersionKind)
	if err != nil {
		return false, err
	}
	of := v1alpha1.ContractReference{Name: e.mg.Name, UID: string(e.mg.UID)}
	if composite != nil {
		if !asks(composite, e.mg.Spec.ForProvider.ContractParameters) {
			return false, nil
		}
		id, err := owner.Behind(ctx, e.live, e.mg, composite)
		if err != nil {
			return false, err
		}
		of = v1alpha1.ContractReference{Name: id.Name, UID: string(id.UID)}
	}
	l := &v1alpha1.SecretAccessGrantList{}
	// Live: a revoked grant must not be believed for as long as a cache needs.
	if err := e.live.List(ctx, l, client.InNamespace(e.mg.Namespace)); err != nil {
		return false, fmt.Errorf("cannot list SecretAccessGrants: %w", err)
	}
	return slices.ContainsFunc(l.Items, func(g v1alpha1.SecretAccessGrant) bool {
		return g.DeletionTimestamp == nil && covers(g.Spec, of, e.spec)
	}), nil
}

// asks says whether a contract asks the same questions about the Secret as its check does. By what the Secret is delivered, and what counts,
// is no question about it: a contract that has its Secret made leaves that to its function.
func asks(contract *unstructured.Unstructured, check v1alpha1.ContractParameters) bool {
	of := struct {
		Spec v1alpha1.ContractParameters `json:"spec"`
	}{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(contract.Object, &of); err != nil {
		return false // It is no contract. The error may quote the object.
	}
	want, have := declared.Sorted(of.Spec), declared.Sorted(check)
	return want.SecretRef == have.SecretRef && equality.Semantic.DeepEqual(want.RequiredKeys, have.RequiredKeys) &&
		equality.Semantic.DeepEqual(want.WorkloadRefs, have.WorkloadRefs) && equality.Semantic.DeepEqual(want.Rotation, have.Rotation)
}

// covers says whether one grant allows the whole contract. Two halves do not add up: nobody has approved of their sum.
func covers(g v1alpha1.SecretAccessGrantSpec, of v1alpha1.ContractReference, s contract.Spec) bool {
	if g.ContractRef != of || g.SecretName != s.Secret {
		return false
	}
	for _, t := range contract.RuleTypes(s.Rules) {
		if !slices.Contains(g.RuleTypes, t.String()) {
			return false
		}
	}
	for _, w := range s.Workloads {
		if !slices.Contains(g.Workloads, v1alpha1.GrantedWorkload{APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name}) {
			return false
		}
	}
	return true
}
