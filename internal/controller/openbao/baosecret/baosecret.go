// Package baosecret reconciles BaoSecrets: records of an OpenBao KV version 2 engine.
//
// A record is marked as ours in its custom metadata before any data is written, and data is only written over the version that was read
// (check-and-set). So a reconcile that was interrupted anywhere is finished by the next one, and a generated value is never replaced by
// accident.
package baosecret

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// Setup starts the controller of BaoSecrets.
func Setup(mgr ctrl.Manager, o setup.Options) error {
	kube := mgr.GetClient()
	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor(managed.ControllerName(v1alpha1.BaoSecretGroupVersionKind.GroupKind().String())))
	k := setup.Kind[*v1alpha1.BaoSecret]{
		GVK:       v1alpha1.BaoSecretGroupVersionKind,
		Object:    &v1alpha1.BaoSecret{},
		List:      &v1alpha1.BaoSecretList{},
		Connector: NewConnector(o, kube, mgr.GetAPIReader(), recorder),
	}
	return setup.Managed(mgr, o, k,
		setup.WatchConfigs(kube, func() resource.ManagedList { return &v1alpha1.BaoSecretList{} }, map[string]client.Object{
			connect.KindProviderConfig:        &v1alpha1.ProviderConfig{},
			connect.KindClusterProviderConfig: &v1alpha1.ClusterProviderConfig{},
		}),
		setup.WatchSecrets(usersOf(kube)),
		watchPGDatabases,
	)
}

// usersOf returns the BaoSecrets that read from a Secret.
func usersOf(kube client.Reader) handler.MapFunc {
	return func(ctx context.Context, s client.Object) []reconcile.Request {
		l := &v1alpha1.BaoSecretList{}
		if err := kube.List(ctx, l, client.InNamespace(s.GetNamespace()), client.MatchingFields{index.BaoSecretBySecret: s.GetName()}); err != nil {
			return nil
		}
		return setup.Keys(l.GetItems()...)
	}
}

// watchPGDatabases wakes a BaoSecret whose deletion waits for a PGDatabase when that goes.
func watchPGDatabases(b *builder.Builder) {
	used := func(_ context.Context, o client.Object) []reconcile.Request {
		db, ok := o.(*postgresqlv1alpha1.PGDatabase)
		if !ok || db.Spec.ForProvider.Owner.PasswordFrom.BaoSecretRef == nil {
			return nil
		}
		n := types.NamespacedName{Namespace: db.Namespace, Name: db.Spec.ForProvider.Owner.PasswordFrom.BaoSecretRef.Name}
		return []reconcile.Request{{NamespacedName: n}}
	}
	b.Watches(&postgresqlv1alpha1.PGDatabase{}, handler.EnqueueRequestsFromMapFunc(used), builder.WithPredicates(setup.OnlyDeletes()))
}

type connector struct {
	bao          *connect.OpenBao
	kube         client.Client
	secrets      *connect.Secrets
	owners       *owner.Resolver
	controlPlane string
	recorder     event.Recorder
	records      *locks
}

// NewConnector returns what connects BaoSecrets to their records. Owners are read live, because a cache may not know yet that one is gone.
func NewConnector(o setup.Options, kube client.Client, live client.Reader, r event.Recorder) managed.TypedExternalConnector[*v1alpha1.BaoSecret] {
	return &connector{
		bao:          o.OpenBao,
		kube:         kube,
		secrets:      o.Secrets,
		owners:       owner.NewResolver(live),
		controlPlane: o.ControlPlane,
		recorder:     r,
		records:      newLocks(),
	}
}

func (c *connector) Connect(ctx context.Context, mg *v1alpha1.BaoSecret) (managed.TypedExternalClient[*v1alpha1.BaoSecret], error) {
	cfg, client, err := c.bao.Connect(ctx, mg)
	if err != nil {
		if meta.WasDeleted(mg) && mg.Spec.ForProvider.DeletionPolicy != commonv1alpha1.DeletionDelete {
			// Nothing is to be deleted, so nothing is needed.
			return connect.Waiting[*v1alpha1.BaoSecret](connect.ReasonConfigNotReady, ""), nil
		}
		return nil, err
	}
	e := &external{connector: c, cfg: cfg, client: client, path: mg.Spec.ForProvider.Path, mount: cfg.Server.Mount}
	if m := mg.Spec.ForProvider.Mount; m != nil {
		e.mount = *m
	}
	e.name = e.mount + "/" + e.path
	// Not earlier: the mount may be the config's.
	if err := setup.SetExternalName(ctx, c.kube, mg, e.name); err != nil {
		return nil, err
	}
	return e, nil
}
