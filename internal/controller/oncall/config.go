// Package oncall sets up the controllers of the oncall group's provider configs.
package oncall

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// SetupConfigs starts the controllers of both kinds of provider config, and what sweeps up after on-call objects.
func SetupConfigs(mgr ctrl.Manager, o setup.Options) error {
	if err := mgr.Add(&Sweeper{Live: mgr.GetAPIReader(), Store: o.Credentials, Log: o.Logger}); err != nil {
		return fmt.Errorf("cannot set up sweeper of credentials: %w", err)
	}
	for _, k := range ConfigKinds(mgr.GetClient(), o) {
		if err := setup.ProviderConfig(mgr, o, k); err != nil {
			return err
		}
	}
	return nil
}

// ConfigKinds are both kinds of provider config. Teams refer to them; the other kinds work with their Team's own key.
func ConfigKinds(kube client.Reader, o setup.Options) []setup.ProviderConfigKind {
	p := &prober{oncall: o.Oncall}
	base := setup.ProviderConfigKind{
		Users:     []resource.ManagedList{&v1alpha1.TeamList{}},
		UserKinds: []resource.ModernManaged{&v1alpha1.Team{}},
		Secrets:   o.Oncall.Secrets,
		Probe:     p.probe,
		Forget:    o.Oncall.Forget,
	}

	namespaced := base
	namespaced.GVK = v1alpha1.SchemeGroupVersion.WithKind(connect.KindProviderConfig)
	namespaced.New = func() resource.ProviderConfig { return &v1alpha1.ProviderConfig{} }
	namespaced.NewList = func() client.ObjectList { return &v1alpha1.ProviderConfigList{} }
	namespaced.Version = bootstrapVersion(kube)
	namespaced.Watch = watchBootstraps(kube)

	cluster := base
	cluster.GVK = v1alpha1.SchemeGroupVersion.WithKind(connect.KindClusterProviderConfig)
	cluster.New = func() resource.ProviderConfig { return &v1alpha1.ClusterProviderConfig{} }
	cluster.NewList = func() client.ObjectList { return &v1alpha1.ClusterProviderConfigList{} }
	return []setup.ProviderConfigKind{namespaced, cluster}
}

// bootstrapVersion changes when the Bootstrap that a config names does.
func bootstrapVersion(kube client.Reader) func(context.Context, resource.ProviderConfig) (string, error) {
	return func(ctx context.Context, pc resource.ProviderConfig) (string, error) {
		c, ok := pc.(*v1alpha1.ProviderConfig)
		if !ok || c.Spec.BootstrapRef == nil {
			return "", nil
		}
		b := &v1alpha1.Bootstrap{}
		n := types.NamespacedName{Namespace: c.Namespace, Name: c.Spec.BootstrapRef.Name}
		if err := kube.Get(ctx, n, b); err != nil {
			if kerrors.IsNotFound(err) {
				return "", nil
			}
			return "", fmt.Errorf("cannot get Bootstrap %q: %w", n, err)
		}
		ready := b.GetCondition(v1alpha1.TypeBootstrapped)
		return fmt.Sprint(b.UID, b.Generation, b.Status.AtProvider.KeyID, ready.Status), nil
	}
}

// watchBootstraps wakes the configs that name a Bootstrap when it changes.
func watchBootstraps(kube client.Reader) func(*builder.Builder) {
	return func(b *builder.Builder) {
		b.Watches(&v1alpha1.Bootstrap{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			l := &v1alpha1.ProviderConfigList{}
			if err := kube.List(ctx, l, client.InNamespace(o.GetNamespace()), client.MatchingFields{index.ConfigByBootstrap: o.GetName()}); err != nil {
				return nil
			}
			rs := make([]reconcile.Request, len(l.Items))
			for i := range l.Items {
				rs[i].NamespacedName = client.ObjectKeyFromObject(&l.Items[i])
			}
			return rs
		}))
	}
}

// probeName is the name that a probe looks for. It is not expected to be there: whether it may be looked for says what the key reaches.
const probeName = "provider-terdut-probe"

type prober struct{ oncall *connect.Oncall }

// probe the server of a config and report on the config's status.
func (p *prober) probe(ctx context.Context, pc resource.ProviderConfig) bool {
	status := statusOf(pc)
	status.ObservedGeneration = pc.GetGeneration()
	status.Server = v1alpha1.ServerObservation{}

	s, err := p.oncall.Server(ctx, pc)
	if err != nil {
		return healthy(pc, connect.TerdutReason(err), err.Error())
	}
	status.Server = v1alpha1.ServerObservation{Endpoint: s.Endpoint}
	tls, err := s.Client.Healthy(ctx)
	if err != nil {
		return healthy(pc, connect.TerdutReason(err), err.Error())
	}
	status.Server.TLS = tls
	if _, err := s.Client.FindTeam(ctx, probeName); err != nil {
		return healthy(pc, connect.TerdutReason(err), strings.ReplaceAll(err.Error(), "find team \""+probeName+"\"", "look for teams, which needs an instance-scoped key"))
	}
	return healthy(pc, v1alpha1.ReasonProbed, "")
}

// healthy reports the probe's outcome, which is good only for ReasonProbed.
func healthy(pc resource.ProviderConfig, r xpv2.ConditionReason, message string) bool {
	s := corev1.ConditionFalse
	if r == v1alpha1.ReasonProbed {
		s = corev1.ConditionTrue
	}
	c := setup.Condition(v1alpha1.TypeHealthy, s, r, message)
	c.ObservedGeneration = pc.GetGeneration()
	pc.SetConditions(setup.Since(pc, c))
	return s == corev1.ConditionTrue
}

func statusOf(pc resource.ProviderConfig) *v1alpha1.ProviderConfigStatus {
	if c, ok := pc.(*v1alpha1.ClusterProviderConfig); ok {
		return &c.Status
	}
	return &pc.(*v1alpha1.ProviderConfig).Status //nolint:forcetypeassert // There are just two kinds.
}
