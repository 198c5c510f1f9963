// Package access reconciles the kinds that are generated from a Terraform provider: policies of OpenBao and the roles that log in with them.
//
// upjet compares and applies, in this process and without Terraform's command. What is the same for all kinds of this provider is added
// around it: who owns an object outside, the reasons of conditions, and what holds up a deletion. No state is kept between two passes: it
// is read from the server each time.
package access

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpresource "github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	upjetconfig "github.com/crossplane/upjet/v2/pkg/config"
	upjet "github.com/crossplane/upjet/v2/pkg/controller"
	"github.com/crossplane/upjet/v2/pkg/resource"
	upjetterraform "github.com/crossplane/upjet/v2/pkg/terraform"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/internal/terraform/config"
	terraform "github.com/ryuvia/provider-terdut/internal/terraform/openbao"
	"github.com/ryuvia/provider-terdut/internal/version"
)

// Object is what every generated kind is.
type Object interface {
	setup.Object
	resource.Terraformed
}

// Setup starts the controllers of the generated kinds.
func Setup(mgr ctrl.Manager, o setup.Options) error {
	p, err := config.Provider(context.Background())
	if err != nil {
		return err
	}
	if err := start(mgr, o, p, &accessv1alpha1.Policy{}, &accessv1alpha1.PolicyList{}); err != nil {
		return err
	}
	if err := start(mgr, o, p, &accessv1alpha1.KubernetesAuthRole{}, &accessv1alpha1.KubernetesAuthRoleList{}); err != nil {
		return err
	}
	return start(mgr, o, p, &accessv1alpha1.AppRole{}, &accessv1alpha1.AppRoleList{})
}

// start the controller of a kind.
func start[T Object](mgr ctrl.Manager, o setup.Options, p *upjetconfig.Provider, object T, list xpresource.ManagedList) error {
	r := p.Resources[object.GetTerraformResourceType()]
	if r == nil {
		return fmt.Errorf("cannot find the configuration of resource %q", object.GetTerraformResourceType())
	}
	gvk := accessv1alpha1.CRDGroupVersion.WithKind(r.Kind)
	kube := mgr.GetClient()
	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor(managed.ControllerName(gvk.GroupKind().String())))
	newList := func() xpresource.ManagedList { return list.DeepCopyObject().(xpresource.ManagedList) } //nolint:forcetypeassert // A copy has the type of what it is of.
	k := setup.Kind[T]{
		GVK:       gvk,
		Object:    object,
		List:      list,
		Connector: NewConnector[T](o, r, kube, mgr.GetAPIReader(), recorder),
	}
	return setup.Managed(mgr, o, k,
		setup.WatchConfigs(kube, newList, map[string]client.Object{
			connect.KindProviderConfig:        &v1alpha1.ProviderConfig{},
			connect.KindClusterProviderConfig: &v1alpha1.ClusterProviderConfig{},
		}),
		watchRecords(kube, newList),
	)
}

// watchRecords wakes what waits for a BaoSecret of the same composite when that goes.
func watchRecords(kube client.Reader, newList func() xpresource.ManagedList) func(*builder.Builder) {
	siblings := func(ctx context.Context, o client.Object) []reconcile.Request {
		ref := metav1.GetControllerOf(o)
		if ref == nil {
			return nil
		}
		l := newList()
		if err := kube.List(ctx, l, client.InNamespace(o.GetNamespace())); err != nil {
			return nil
		}
		return setup.Keys(slices.DeleteFunc(l.GetItems(), func(mg xpresource.Managed) bool {
			c := metav1.GetControllerOf(mg)
			return c == nil || c.UID != ref.UID || !meta.WasDeleted(mg)
		})...)
	}
	return func(b *builder.Builder) {
		b.Watches(&v1alpha1.BaoSecret{}, handler.EnqueueRequestsFromMapFunc(siblings), builder.WithPredicates(setup.OnlyDeletes()))
	}
}

type connector[T Object] struct {
	bao          *connect.OpenBao
	kube         client.Client
	owners       *owner.Resolver
	controlPlane string
	recorder     event.Recorder
	resource     *upjetconfig.Resource
	kind         string
	policies     bool
	log          logging.Logger
}

// NewConnector returns what connects objects of a kind to what they stand for. Owners are read live, because a cache may not know yet that
// one is gone.
func NewConnector[T Object](o setup.Options, r *upjetconfig.Resource, kube client.Client, live client.Reader, e event.Recorder) managed.TypedExternalConnector[T] {
	log := o.Logger
	if log == nil {
		log = logging.NewNopLogger()
	}
	return &connector[T]{
		bao:          o.OpenBao,
		kube:         kube,
		owners:       owner.NewResolver(live),
		controlPlane: o.ControlPlane,
		recorder:     e,
		resource:     r,
		kind:         r.Kind,
		policies:     o.Features == nil || o.Features.Enabled(feature.EnableBetaManagementPolicies),
		log:          log,
	}
}

func (c *connector[T]) Connect(ctx context.Context, mg T) (managed.TypedExternalClient[T], error) {
	cfg, bao, err := c.bao.Connect(ctx, mg)
	if err != nil {
		return nil, err
	}
	api := &owned{API: bao, server: cfg.Server}
	if api.who, api.purpose, err = c.claimant(ctx, mg); err != nil {
		return nil, err
	}
	refused := c.settle(ctx, mg, api)
	if refused != nil && connect.ReasonOf(refused, "") != v1alpha1.ReasonExternalNameChanged {
		return nil, refused
	}

	// Upjet remembers what it applied last; here the server is asked instead.
	state := upjet.NewOperationStore(c.log)
	tf := terraform.New(version.Version, terraform.WithAPI(api))()
	with := func(context.Context, client.Client, xpresource.Managed) (upjetterraform.Setup, error) {
		return upjetterraform.Setup{FrameworkProvider: tf}, nil
	}
	up, err := upjet.NewTerraformPluginFrameworkConnector(c.kube, with, c.resource, state,
		upjet.WithTerraformPluginFrameworkLogger(c.log),
		upjet.WithTerraformPluginFrameworkManagementPolicies(c.policies),
	).Connect(ctx, mg)
	if err != nil {
		return nil, err
	}
	return &external[T]{connector: c, up: up, tf: tf, api: api, refused: refused}, nil
}

// claimant returns who asks, and what for.
func (c *connector[T]) claimant(ctx context.Context, mg T) (mark, purpose, error) {
	who := mark{controlPlane: c.controlPlane, holder: string(mg.GetUID())}
	switch {
	case meta.WasDeleted(mg):
		// Who only holds needs no owner, who may be gone already.
		return who, remove, nil
	case onlyObserves(mg):
		return who, look, nil
	}
	id, err := c.owners.Of(ctx, mg, accessv1alpha1.CRDGroupVersion.WithKind(c.kind))
	if err != nil {
		return who, manage, err
	}
	who.ownerUID, who.namespace, who.name = string(id.UID), id.Namespace, id.Name
	return who, manage, nil
}
