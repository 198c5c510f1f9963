// Package pgdatabase reconciles PGDatabases: a PostgreSQL database, the login role that owns it, and its extensions.
//
// Observe compares facts and decides; Create and Update are the same resumable sequence: reserve both names in the registry, role,
// database, proven password, extensions. Whatever interrupts it, the next pass finds out from the server how far it came.
package pgdatabase

import (
	"context"
	"time"

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
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// Setup starts the controller of PGDatabases.
func Setup(mgr ctrl.Manager, o setup.Options) error {
	kube := mgr.GetClient()
	c := &connector{
		postgres:     o.Postgres,
		bao:          o.OpenBao,
		kube:         kube,
		live:         mgr.GetAPIReader(),
		secrets:      o.Secrets,
		owners:       owner.NewResolver(mgr.GetAPIReader()),
		controlPlane: o.ControlPlane,
		interval:     o.VerifyInterval,
		proofs:       newProofs(),
		recorder:     event.NewAPIRecorder(mgr.GetEventRecorderFor(managed.ControllerName(v1alpha1.PGDatabaseGroupVersionKind.GroupKind().String()))),
	}
	k := setup.Kind[*v1alpha1.PGDatabase]{
		GVK:       v1alpha1.PGDatabaseGroupVersionKind,
		Object:    &v1alpha1.PGDatabase{},
		List:      &v1alpha1.PGDatabaseList{},
		Connector: c,
	}
	return setup.Managed(mgr, o, k,
		setup.WatchConfigs(kube, func() resource.ManagedList { return &v1alpha1.PGDatabaseList{} }, map[string]client.Object{
			connect.KindProviderConfig:        &v1alpha1.ProviderConfig{},
			connect.KindClusterProviderConfig: &v1alpha1.ClusterProviderConfig{},
		}),
		setup.WatchSecrets(usersOf(kube, index.PGDatabaseBySecret)),
		func(b *builder.Builder) {
			users := usersOf(kube, index.PGDatabaseByBaoSecret)
			b.Watches(&openbaov1alpha1.BaoSecret{}, handler.EnqueueRequestsFromMapFunc(users), builder.WithPredicates(credentialChanged()))
		},
	)
}

// usersOf returns the PGDatabases that refer to an object of their namespace, by an index.
func usersOf(kube client.Reader, field string) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		l := &v1alpha1.PGDatabaseList{}
		if err := kube.List(ctx, l, client.InNamespace(o.GetNamespace()), client.MatchingFields{field: o.GetName()}); err != nil {
			return nil
		}
		return setup.Keys(l.GetItems()...)
	}
}

type connector struct {
	postgres     *connect.Postgres
	bao          *connect.OpenBao
	kube         client.Client
	live         client.Reader
	secrets      *connect.Secrets
	owners       *owner.Resolver
	controlPlane string
	interval     time.Duration
	proofs       *proofs
	recorder     event.Recorder
}

func (c *connector) Connect(ctx context.Context, mg *v1alpha1.PGDatabase) (managed.TypedExternalClient[*v1alpha1.PGDatabase], error) {
	cfg, instance, err := c.postgres.Connect(ctx, mg)
	if err != nil {
		if meta.WasDeleted(mg) && mg.Spec.ForProvider.DeletionPolicy != commonv1alpha1.DeletionDelete {
			// Nothing is to be deleted, so nothing is needed.
			return connect.Waiting[*v1alpha1.PGDatabase](connect.ReasonConfigNotReady, ""), nil
		}
		return nil, err
	}
	e := &external{connector: c, cfg: cfg, instance: instance}
	e.names = postgresql.Names{Database: databaseOf(mg), Role: mg.Spec.ForProvider.Owner.Name}
	return e, nil
}

func local(mg *v1alpha1.PGDatabase, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: mg.GetNamespace(), Name: name}
}
