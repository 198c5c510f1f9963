package child

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// watchTeams wakes the objects of a kind when their Team changes, comes or goes.
func watchTeams(kube client.Reader, list func() resource.ManagedList) func(*builder.Builder) {
	return func(b *builder.Builder) {
		b.Watches(&v1alpha1.Team{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			return of(ctx, kube, list, o.GetNamespace(), o.GetName())
		}))
	}
}

// watchSiblings wakes the other objects of a kind that refer to the same Team and are not Ready, when one goes or its spec changes: what it had
// may be theirs now. A change of the Team that one refers to wakes those of both.
func watchSiblings(kube client.Reader, object client.Object, list func() resource.ManagedList) func(*builder.Builder) {
	return func(b *builder.Builder) {
		b.Watches(object, handler.EnqueueRequestsFromMapFunc(siblingsOf(kube, list)), builder.WithPredicates(predicate.And(
			predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }}, predicate.GenerationChangedPredicate{},
		)))
	}
}

func siblingsOf(kube client.Reader, list func() resource.ManagedList) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		l := list()
		if err := kube.List(ctx, l, client.InNamespace(o.GetNamespace())); err != nil {
			return nil
		}
		team := index.TeamNameOf(o)[0]
		var all []reconcile.Request
		for _, s := range l.GetItems() {
			other := index.TeamNameOf(s)[0]
			related := other == team || other == index.AnyTeam || team == index.AnyTeam
			if related && s.GetUID() != o.GetUID() && s.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
				all = append(all, setup.Keys(s)...)
			}
		}
		return all
	}
}

// ofCredential returns the objects of a kind whose Team a changed Secret holds the key of.
func ofCredential(kube client.Reader, credentials *credential.Store, list func() resource.ManagedList) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		kind, n, ok := credentials.OwnerOfSecret(o)
		if !ok || kind != v1alpha1.TeamKind {
			return nil
		}
		return of(ctx, kube, list, n.Namespace, n.Name)
	}
}

func of(ctx context.Context, kube client.Reader, list func() resource.ManagedList, namespace, team string) []reconcile.Request {
	var all []reconcile.Request
	for _, key := range []string{team, index.AnyTeam} {
		l := list()
		if err := kube.List(ctx, l, client.InNamespace(namespace), client.MatchingFields{index.ChildByTeam: key}); err != nil {
			return nil
		}
		all = append(all, setup.Keys(l.GetItems()...)...)
	}
	return all
}
