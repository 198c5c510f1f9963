package index

import (
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// ChildByTeam finds EscalationPolicies, DeadmanSwitches and Integrations by the name of the Team that they refer to, and those that select
// it by labels under AnyTeam.
const ChildByTeam = "spec.forProvider.team"

// AnyTeam is no name that an object can have.
const AnyTeam = "*"

// IntegrationBySecret finds Integrations by the name of the Secret that their webhook is written to.
const IntegrationBySecret = "spec.forProvider.secretName"

// TeamChildren adds the indexes of what belongs to a Team. It is called once, before the cache starts to hold any.
func TeamChildren(mgr ctrl.Manager) error {
	for _, o := range []client.Object{&v1alpha1.EscalationPolicy{}, &v1alpha1.DeadmanSwitch{}, &v1alpha1.Integration{}} {
		if err := add(mgr, o, map[string]client.IndexerFunc{ChildByTeam: TeamNameOf}); err != nil {
			return err
		}
	}
	return add(mgr, &v1alpha1.Integration{}, map[string]client.IndexerFunc{IntegrationBySecret: SecretNameOf})
}

// SecretNameOf is the index IntegrationBySecret.
func SecretNameOf(o client.Object) []string {
	if i, ok := o.(*v1alpha1.Integration); ok {
		return []string{i.Spec.ForProvider.SecretName}
	}
	return nil
}

// TeamNameOf is the index ChildByTeam.
func TeamNameOf(o client.Object) []string {
	p, ok := TeamParametersOf(o)
	switch {
	case !ok:
		return nil
	case p.TeamRef != nil:
		return []string{p.TeamRef.Name}
	}
	return []string{AnyTeam}
}

// TeamParametersOf says which Team an object belongs to. It is false for objects that belong to none.
func TeamParametersOf(o client.Object) (v1alpha1.TeamParameters, bool) {
	switch o := o.(type) {
	case *v1alpha1.EscalationPolicy:
		return o.Spec.ForProvider.TeamParameters, true
	case *v1alpha1.DeadmanSwitch:
		return o.Spec.ForProvider.TeamParameters, true
	case *v1alpha1.Integration:
		return o.Spec.ForProvider.TeamParameters, true
	}
	return v1alpha1.TeamParameters{}, false
}
