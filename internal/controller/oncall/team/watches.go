package team

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// watches finds the Teams that a change elsewhere matters to.
type watches struct {
	kube   client.Reader
	store  *credential.Store
	oncall *connect.Oncall
}

// bootstraps wakes the Teams that work through a Bootstrap: it has a key now, or another one, or it goes.
func (w watches) bootstraps(b *builder.Builder) {
	b.Watches(&v1alpha1.Bootstrap{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		l := &v1alpha1.ProviderConfigList{}
		if err := w.kube.List(ctx, l, client.InNamespace(o.GetNamespace()), client.MatchingFields{index.ConfigByBootstrap: o.GetName()}); err != nil {
			return nil
		}
		var rs []reconcile.Request
		for i := range l.Items {
			rs = append(rs, w.ofConfig(ctx, connect.KindProviderConfig, &l.Items[i])...)
		}
		return rs
	}))
}

// namespaces wakes the Teams of a namespace when its labels change, on which consent may depend.
func (w watches) namespaces(b *builder.Builder) {
	b.WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		l := &v1alpha1.TeamList{}
		if err := w.kube.List(ctx, l, client.InNamespace(o.GetName())); err != nil {
			return nil
		}
		return setup.Keys(l.GetItems()...)
	}), builder.WithPredicates(predicate.LabelChangedPredicate{}))
}

// ofSecret returns the Team whose credential a Secret holds, and the Teams of the configs that take their key from it.
func (w watches) ofSecret(ctx context.Context, s client.Object) []reconcile.Request {
	var rs []reconcile.Request
	if kind, n, ok := w.store.OwnerOfSecret(s); ok && kind == v1alpha1.TeamKind {
		rs = append(rs, reconcile.Request{NamespacedName: n})
	}
	key := client.ObjectKeyFromObject(s)
	configs := &v1alpha1.ProviderConfigList{}
	if err := w.kube.List(ctx, configs, client.InNamespace(s.GetNamespace())); err != nil {
		return rs
	}
	for i := range configs.Items {
		if slices.Contains(w.oncall.Secrets(&configs.Items[i]), key) {
			rs = append(rs, w.ofConfig(ctx, connect.KindProviderConfig, &configs.Items[i])...)
		}
	}
	clusterConfigs := &v1alpha1.ClusterProviderConfigList{}
	if err := w.kube.List(ctx, clusterConfigs); err != nil {
		return rs
	}
	for i := range clusterConfigs.Items {
		if slices.Contains(w.oncall.Secrets(&clusterConfigs.Items[i]), key) {
			rs = append(rs, w.ofConfig(ctx, connect.KindClusterProviderConfig, &clusterConfigs.Items[i])...)
		}
	}
	return rs
}

func (w watches) ofConfig(ctx context.Context, kind string, pc client.Object) []reconcile.Request {
	l := &v1alpha1.TeamList{}
	if err := w.kube.List(ctx, l, client.MatchingFields{connect.IndexConfig: connect.ConfigKey(kind, pc.GetNamespace(), pc.GetName())}); err != nil {
		return nil
	}
	return setup.Keys(l.GetItems()...)
}
