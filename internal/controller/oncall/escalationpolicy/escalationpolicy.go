// Package escalationpolicy reconciles EscalationPolicies: the one policy that each team of an on-call server has.
//
// A team has a policy from the start, an empty one, so it is never created or deleted on the server: it is replaced as a whole, in one
// request, so that there is no moment without one. What an object may replace is an empty policy, what it wrote itself, and what an admin
// gave it with the external name. Of two objects for one team the older has it.
package escalationpolicy

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/child"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// Setup starts the controller of EscalationPolicies.
func Setup(mgr ctrl.Manager, o setup.Options) error {
	return child.Setup(mgr, o, child.Kind[*v1alpha1.EscalationPolicy]{
		GVK: v1alpha1.EscalationPolicyGroupVersionKind, Object: &v1alpha1.EscalationPolicy{}, NewList: list, Connector: NewConnector,
	})
}

func list() resource.ManagedList { return &v1alpha1.EscalationPolicyList{} }

type connector struct {
	child.Reporter

	kube  client.Client
	teams *child.Teams
}

// NewConnector returns what connects EscalationPolicies to the policies of their teams.
func NewConnector(o setup.Options, kube client.Client, r event.Recorder) managed.TypedExternalConnector[*v1alpha1.EscalationPolicy] {
	return &connector{
		Reporter: child.NewReporter(o, v1alpha1.EscalationPolicyKind, v1alpha1.TypePolicyReady, r),
		kube:     kube, teams: child.NewTeams(o, kube),
	}
}

func (c *connector) Connect(ctx context.Context, mg *v1alpha1.EscalationPolicy) (managed.TypedExternalClient[*v1alpha1.EscalationPolicy], error) {
	team, err := c.teams.Of(ctx, mg)
	if err != nil {
		return child.Without(mg, c.Reporter, err)
	}
	return &external{connector: c, team: team}, nil
}
