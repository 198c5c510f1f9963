package setup

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/internal/connect"
)

// WatchConfigs wakes the managed resources of a provider config when its spec changes or it goes. They are found by the index
// connect.IndexConfig.
func WatchConfigs(kube client.Reader, newList func() resource.ManagedList, configs map[string]client.Object) func(*builder.Builder) {
	return func(b *builder.Builder) {
		for kind, object := range configs {
			users := func(ctx context.Context, o client.Object) []reconcile.Request {
				l := newList()
				key := connect.ConfigKey(kind, o.GetNamespace(), o.GetName())
				if err := kube.List(ctx, l, client.MatchingFields{connect.IndexConfig: key}); err != nil {
					return nil
				}
				return Keys(l.GetItems()...)
			}
			b.Watches(object, handler.EnqueueRequestsFromMapFunc(users), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
		}
	}
}

// WatchSecrets wakes objects when a Secret changes. Only metadata of Secrets is watched and cached.
func WatchSecrets(users handler.MapFunc) func(*builder.Builder) {
	return func(b *builder.Builder) {
		b.WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(users))
	}
}

// Keys returns reconcile requests of the objects.
func Keys[T client.Object](objects ...T) []reconcile.Request {
	rs := make([]reconcile.Request, len(objects))
	for i, o := range objects {
		rs[i] = reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
	}
	return rs
}

// Report sets a condition, and warns with an event when it becomes false for a new reason. Repeating what is known is no news.
func Report(mg Object, r event.Recorder, c xpv2.Condition) {
	was := mg.GetCondition(c.Type)
	Mark(mg, c)
	if c.Status == corev1.ConditionFalse && was.Reason != c.Reason {
		r.Event(mg, event.Event{Type: event.TypeWarning, Reason: event.Reason(c.Reason), Message: c.Message})
	}
}

// OnlyDeletes lets through the deletion of objects.
func OnlyDeletes() predicate.Funcs {
	return predicate.Funcs{
		CreateFunc: func(ctrlevent.CreateEvent) bool { return false },
		UpdateFunc: func(ctrlevent.UpdateEvent) bool { return false },
	}
}
