package secretcheck

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract"
)

// approved says whether the check may be made: always where the authors of contracts are trusted, and otherwise when a grant covers all
// of it. A grant is matched with the live contract behind the check: whoever writes a SecretCheck by hand has only its own identity.
func (e *evaluation) approved(ctx context.Context) (bool, error) {
	if !e.grants {
		return true, nil
	}
	id, err := e.owners.Of(ctx, e.mg, v1alpha1.SecretCheckGroupVersionKind)
	if err != nil {
		return false, err
	}
	l := &v1alpha1.SecretAccessGrantList{}
	// Live: a revoked grant must not be believed for as long as a cache needs.
	if err := e.live.List(ctx, l, client.InNamespace(e.mg.Namespace)); err != nil {
		return false, fmt.Errorf("cannot list SecretAccessGrants: %w", err)
	}
	return slices.ContainsFunc(l.Items, func(g v1alpha1.SecretAccessGrant) bool {
		return g.DeletionTimestamp == nil && covers(g.Spec, id.UID, id.Name, e.spec)
	}), nil
}

// covers says whether one grant allows the whole contract. Two halves do not add up: nobody has approved of their sum.
func covers(g v1alpha1.SecretAccessGrantSpec, uid types.UID, name string, s contract.Spec) bool {
	if g.ContractRef.UID != string(uid) || g.ContractRef.Name != name || g.SecretName != s.Secret {
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
