// Package bootstrap reconciles Bootstraps: the provider's own accounts on on-call servers.
//
// A server hands out each key once, so a place for it in the provider's namespace is there before the key is asked for, and what was handed
// out is stored before anything else happens. Three things are stored one after the other: the key of the server's first user, the
// account, and the account's key, with which the first user's key is dropped. A reconcile that was interrupted anywhere goes on from there.
package bootstrap

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// Setup starts the controller of Bootstraps.
func Setup(mgr ctrl.Manager, o setup.Options) error {
	kube := mgr.GetClient()
	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor(managed.ControllerName(v1alpha1.BootstrapGroupVersionKind.GroupKind().String())))
	k := setup.Kind[*v1alpha1.Bootstrap]{
		GVK:       v1alpha1.BootstrapGroupVersionKind,
		Object:    &v1alpha1.Bootstrap{},
		List:      &v1alpha1.BootstrapList{},
		Connector: NewConnector(o, kube, mgr.GetAPIReader(), recorder),
		// Nothing tells when a server is up.
		Soon: func(mg *v1alpha1.Bootstrap) bool {
			return mg.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonServerNotReady
		},
	}
	return setup.Managed(mgr, o, k,
		setup.WatchSecrets(usersOf(kube, o.Credentials)),
		watchTeams(kube),
	)
}

// usersOf returns the Bootstraps that a Secret matters to: those that take an administrator's key from it, and the one that its credential
// belongs to.
func usersOf(kube client.Reader, store *credential.Store) handler.MapFunc {
	return func(ctx context.Context, s client.Object) []reconcile.Request {
		l := &v1alpha1.BootstrapList{}
		if err := kube.List(ctx, l, client.InNamespace(s.GetNamespace()), client.MatchingFields{index.BootstrapBySecret: s.GetName()}); err != nil {
			return nil
		}
		rs := make([]reconcile.Request, 0, len(l.Items)+1)
		for i := range l.Items {
			rs = append(rs, setup.Keys(&l.Items[i])...)
		}
		if kind, n, ok := store.OwnerOfSecret(s); ok && kind == v1alpha1.BootstrapKind {
			rs = append(rs, reconcile.Request{NamespacedName: n})
		}
		return rs
	}
}

// watchTeams wakes a Bootstrap whose deletion waits for a Team when that goes.
func watchTeams(kube client.Reader) func(*builder.Builder) {
	used := func(ctx context.Context, o client.Object) []reconcile.Request {
		kind, n, ok := connect.ConfigRef(o)
		pc := &v1alpha1.ProviderConfig{}
		if !ok || kind != connect.KindProviderConfig || kube.Get(ctx, n, pc) != nil || pc.Spec.BootstrapRef == nil {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: n.Namespace, Name: pc.Spec.BootstrapRef.Name}}}
	}
	return func(b *builder.Builder) {
		b.Watches(&v1alpha1.Team{}, handler.EnqueueRequestsFromMapFunc(used), builder.WithPredicates(setup.OnlyDeletes()))
	}
}

type connector struct {
	terdut   *connect.Terdut
	store    *credential.Store
	secrets  *connect.Secrets
	kube     client.Client
	live     client.Reader
	recorder event.Recorder
	log      logging.Logger
	patience *setup.Patience
}

// NewConnector returns what connects Bootstraps to their servers.
func NewConnector(o setup.Options, kube client.Client, live client.Reader, r event.Recorder) managed.TypedExternalConnector[*v1alpha1.Bootstrap] {
	log := o.Logger
	if log == nil {
		log = logging.NewNopLogger()
	}
	patience := o.Patience
	if patience == nil {
		patience = &setup.Patience{}
	}
	return &connector{
		terdut: o.Terdut, store: o.Credentials, secrets: o.Secrets, kube: kube, live: live, recorder: r, log: log,
		patience: patience,
	}
}

func (c *connector) Connect(ctx context.Context, mg *v1alpha1.Bootstrap) (managed.TypedExternalClient[*v1alpha1.Bootstrap], error) {
	cred, err := c.store.Bootstrap(ctx, mg)
	if err != nil {
		return nil, err
	}
	e := &external{connector: c, cred: cred}
	if p := mg.Spec.ForProvider; p.CABundle != nil {
		e.caBundle = *p.CABundle
	}
	if meta.WasDeleted(mg) {
		// A spec that cannot be used is no reason to stay.
		return e, nil
	}
	e.server, err = c.terdut.Client(mg.Spec.ForProvider.Endpoint, e.caBundle, "")
	return e, err
}
