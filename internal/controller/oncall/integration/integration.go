// Package integration reconciles Integrations: where a team of an on-call server takes alerts, at a webhook URL that the server shows once.
//
// The Secret for that URL is reserved before the integration is created, and filled afterwards. So a Secret that is there without what
// belongs in it means a create that was interrupted: nobody ever got that webhook, and the integration is replaced. A Secret that is
// missing means a webhook that is lost: nothing replaces it but a person, because somebody may still send to it.
package integration

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/child"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// Setup starts the controller of Integrations.
func Setup(mgr ctrl.Manager, o setup.Options) error {
	return child.Setup(mgr, o, child.Kind[*v1alpha1.Integration]{
		GVK: v1alpha1.IntegrationGroupVersionKind, Object: &v1alpha1.Integration{}, NewList: list, Connector: NewConnector,
	}, setup.WatchSecrets(secretUsers(mgr.GetClient())))
}

func list() resource.ManagedList { return &v1alpha1.IntegrationList{} }

// secretUsers returns the Integrations whose webhook is in a Secret.
func secretUsers(kube client.Reader) handler.MapFunc {
	return func(ctx context.Context, s client.Object) []reconcile.Request {
		l := &v1alpha1.IntegrationList{}
		if err := kube.List(ctx, l, client.InNamespace(s.GetNamespace()), client.MatchingFields{index.IntegrationBySecret: s.GetName()}); err != nil {
			return nil
		}
		return setup.Keys(l.GetItems()...)
	}
}

type connector struct {
	child.Reporter

	kube  client.Client
	teams *child.Teams
	locks child.Locks
}

// NewConnector returns what connects Integrations to what they are on their server. The client must read Secrets from the API server, not
// from a cache.
func NewConnector(o setup.Options, kube client.Client, r event.Recorder) managed.TypedExternalConnector[*v1alpha1.Integration] {
	return &connector{
		Reporter: child.NewReporter(o, v1alpha1.IntegrationKind, v1alpha1.TypeIntegrationReady, r),
		kube:     kube, teams: child.NewTeams(o, kube),
	}
}

func (c *connector) Connect(ctx context.Context, mg *v1alpha1.Integration) (managed.TypedExternalClient[*v1alpha1.Integration], error) {
	team, err := c.teams.Of(ctx, mg)
	if err != nil {
		return child.Without(mg, c.Reporter, err)
	}
	return &external{connector: c, team: team}, nil
}
