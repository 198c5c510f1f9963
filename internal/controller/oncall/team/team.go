// Package team reconciles Teams: teams of on-call servers, each with a service account of its own that reaches this team alone.
//
// The server gives teams their ids, and a team cannot carry a mark. So what is being created is noted in the provider's namespace before it
// is, and the id as soon as it is known: a reconcile that was interrupted anywhere finds what it made, and takes nothing else for it.
package team

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/consent"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// Setup starts the controller of Teams.
func Setup(mgr ctrl.Manager, o setup.Options) error {
	kube := mgr.GetClient()
	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor(managed.ControllerName(v1alpha1.TeamGroupVersionKind.GroupKind().String())))
	k := setup.Kind[*v1alpha1.Team]{
		GVK:       v1alpha1.TeamGroupVersionKind,
		Object:    &v1alpha1.Team{},
		List:      &v1alpha1.TeamList{},
		Connector: NewConnector(o, kube, recorder),
	}
	w := watches{kube: kube, store: o.Credentials, oncall: o.Oncall}
	return setup.Managed(mgr, o, k,
		setup.WatchConfigs(kube, func() resource.ManagedList { return &v1alpha1.TeamList{} }, map[string]client.Object{
			connect.KindProviderConfig:        &v1alpha1.ProviderConfig{},
			connect.KindClusterProviderConfig: &v1alpha1.ClusterProviderConfig{},
		}),
		setup.WatchSecrets(w.ofSecret),
		w.bootstraps,
		w.namespaces,
	)
}

type connector struct {
	oncall   *connect.Oncall
	store    *credential.Store
	kube     client.Client
	recorder event.Recorder
	log      logging.Logger
	names    *names
	patience *setup.Patience
}

// NewConnector returns what connects Teams to their servers.
func NewConnector(o setup.Options, kube client.Client, r event.Recorder) managed.TypedExternalConnector[*v1alpha1.Team] {
	log := o.Logger
	if log == nil {
		log = logging.NewNopLogger()
	}
	patience := o.Patience
	if patience == nil {
		patience = &setup.Patience{}
	}
	return &connector{
		oncall: o.Oncall, store: o.Credentials, kube: kube, recorder: r, log: log,
		names: newNames(), patience: patience,
	}
}

func (c *connector) Connect(ctx context.Context, mg *v1alpha1.Team) (managed.TypedExternalClient[*v1alpha1.Team], error) {
	e := &external{connector: c}
	var err error
	if e.cred, err = c.store.Team(ctx, mg); err != nil {
		return nil, err
	}
	pc, err := c.oncall.ConfigOf(ctx, mg)
	if err == nil {
		if e.denied, err = consent.Denied(ctx, c.kube, pc, mg.GetNamespace()); err != nil {
			return nil, err
		}
		if e.denied != "" && !meta.WasDeleted(mg) {
			return e, nil
		}
		// Who may no longer change anything may still delete what was made.
		e.server, err = c.oncall.Server(ctx, pc)
	}
	switch connect.ReasonOf(err, "") {
	case v1alpha1.ReasonServerNotFound, v1alpha1.ReasonConfigNotReady:
		e.wait = err
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}
