package secretcheck

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
)

// apiRetry is how often it is looked whether the API of External Secrets has appeared.
const apiRetry = 15 * time.Second

// A selector of the checks that an object's change may matter to.
type selector func(o client.Object) client.MatchingFields

func bySecret(o client.Object) client.MatchingFields {
	return client.MatchingFields{index.SecretCheckBySecret: o.GetName()}
}

func byWorkload(kind string) selector {
	return func(o client.Object) client.MatchingFields {
		return client.MatchingFields{index.SecretCheckByWorkload: index.WorkloadKey(kind, o.GetName())}
	}
}

// checksOf returns the checks of an object's namespace that are about it.
func checksOf(kube client.Reader, by ...selector) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		var out []reconcile.Request
		for _, s := range by {
			l := &v1alpha1.SecretCheckList{}
			if err := kube.List(ctx, l, client.InNamespace(o.GetNamespace()), s(o)); err != nil {
				ctrl.LoggerFrom(ctx).Error(err, "cannot find the SecretChecks of a changed object")
				continue
			}
			for i := range l.Items {
				out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
			}
		}
		return out
	}
}

// changed lets through what can matter to a check: objects that come and go, and a new generation. What was deleted and made again while
// nobody watched arrives as a change of an object with another uid, whose generation may be the same.
func changed() predicate.Predicate {
	remade := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() }}
	return predicate.Or(predicate.GenerationChangedPredicate{}, remade)
}

// watchWorkloads wakes checks when the spec of a workload changes. Their status, which changes with each pod, is of no interest.
func watchWorkloads(kube client.Reader) func(*builder.Builder) {
	return func(b *builder.Builder) {
		for kind, newObject := range workloadObjects {
			b.WatchesMetadata(newObject(), handler.EnqueueRequestsFromMapFunc(checksOf(kube, byWorkload(kind))),
				builder.WithPredicates(changed()))
		}
	}
}

// watchGrants wakes the checks of a Secret when a grant of it comes, changes or goes.
func watchGrants(kube client.Reader) func(*builder.Builder) {
	granted := func(o client.Object) client.MatchingFields {
		name := ""
		if g, ok := o.(*v1alpha1.SecretAccessGrant); ok {
			name = g.Spec.SecretName
		}
		return client.MatchingFields{index.SecretCheckBySecret: name}
	}
	return func(b *builder.Builder) {
		b.Watches(&v1alpha1.SecretAccessGrant{}, handler.EnqueueRequestsFromMapFunc(checksOf(kube, granted)))
	}
}

// watchExternalSecrets wakes checks when an ExternalSecret changes. Its API may be absent when the provider starts, and appear later: the
// other watches do not wait for it.
func watchExternalSecrets(mgr ctrl.Manager, versions []string) func(*builder.Builder) {
	h := externalSecretChecks(mgr.GetClient())
	return func(b *builder.Builder) {
		for _, v := range versions {
			gv, err := schema.ParseGroupVersion(v)
			if err != nil {
				continue // No check can name it either.
			}
			m := &metav1.PartialObjectMetadata{}
			m.SetGroupVersionKind(gv.WithKind(kindExternalSecret))
			b.WatchesRawSource(source.Func(func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
				go func() {
					if served(ctx, mgr, m.GroupVersionKind()) {
						// What it returns is told by its own log: it tries again by itself.
						_ = source.Kind[client.Object](mgr.GetCache(), m, h).Start(ctx, q)
					}
				}()
				return nil
			}))
		}
	}
}

// externalSecretChecks wakes the checks that name an ExternalSecret for whatever happens to it, and for one that comes, goes or has a new spec
// all of its namespace that name any: another one may write the same Secret, and its target is no metadata.
func externalSecretChecks(kube client.Reader) handler.EventHandler {
	named := handler.EnqueueRequestsFromMapFunc(checksOf(kube, func(o client.Object) client.MatchingFields {
		return client.MatchingFields{index.SecretCheckByExternalSecret: o.GetName()}
	}))
	all := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		l := &v1alpha1.SecretCheckList{}
		if err := kube.List(ctx, l, client.InNamespace(o.GetNamespace())); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "cannot find the SecretChecks of a namespace")
			return nil
		}
		var out []reconcile.Request
		for i := range l.Items {
			if l.Items[i].Spec.ForProvider.ExternalSecretRef != nil {
				out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
			}
		}
		return out
	})
	return handler.Funcs{
		CreateFunc: all.Create,
		DeleteFunc: all.Delete,
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if changed().Update(e) {
				all.Update(ctx, e, q)
				return
			}
			named.Update(ctx, e, q)
		},
	}
}

// served waits until the API server serves a kind. It is false when the context ends first.
func served(ctx context.Context, mgr ctrl.Manager, gvk schema.GroupVersionKind) bool {
	err := wait.PollUntilContextCancel(ctx, apiRetry, true, func(context.Context) (bool, error) {
		_, err := mgr.GetRESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
		return err == nil, nil
	})
	return err == nil
}
