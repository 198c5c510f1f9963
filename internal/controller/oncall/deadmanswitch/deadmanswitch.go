// Package deadmanswitch reconciles DeadmanSwitches: dead man's switches of a team of an on-call server.
//
// Names of switches are not unique and the server knows no owner, so a switch is this object's by its id, and by the record of a create
// that was interrupted before the id was known. A switch is replaced as a whole, and only when it differs: each write could restart what it
// watches.
package deadmanswitch

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

// Setup starts the controller of DeadmanSwitches.
func Setup(mgr ctrl.Manager, o setup.Options) error {
	return child.Setup(mgr, o, child.Kind[*v1alpha1.DeadmanSwitch]{
		GVK: v1alpha1.DeadmanSwitchGroupVersionKind, Object: &v1alpha1.DeadmanSwitch{}, NewList: list, Connector: NewConnector,
	})
}

func list() resource.ManagedList { return &v1alpha1.DeadmanSwitchList{} }

type connector struct {
	child.Reporter

	kube  client.Client
	teams *child.Teams
	locks child.Locks
}

// NewConnector returns what connects DeadmanSwitches to their switches.
func NewConnector(o setup.Options, kube client.Client, r event.Recorder) managed.TypedExternalConnector[*v1alpha1.DeadmanSwitch] {
	return &connector{
		Reporter: child.NewReporter(o, v1alpha1.DeadmanSwitchKind, v1alpha1.TypeSwitchReady, r),
		kube:     kube, teams: child.NewTeams(o, kube),
	}
}

func (c *connector) Connect(ctx context.Context, mg *v1alpha1.DeadmanSwitch) (managed.TypedExternalClient[*v1alpha1.DeadmanSwitch], error) {
	team, err := c.teams.Of(ctx, mg)
	if err != nil {
		return child.Without(mg, c.Reporter, err)
	}
	return &external{connector: c, team: team}, nil
}
