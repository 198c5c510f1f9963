package setup

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// afterGone is how soon an object is looked at again whose external resource was deleted in this pass: the finalizer goes then.
const afterGone = 100 * time.Millisecond

// gone are the objects whose external resource went in the pass that is under way.
//
// The runtime looks again after a Delete as it does after a failure: later each time. An object that waited for a user of its external
// resource, which is a Delete that does nothing, would keep its finalizer for up to a minute after the resource has gone.
type gone struct{ marks }

// marks are objects about which one step of a pass has something to say to a later one. An object has one pass at a time.
type marks struct{ names sync.Map }

func (m *marks) mark(o client.Object) { m.names.Store(client.ObjectKeyFromObject(o), struct{}{}) }

func (m *marks) take(n types.NamespacedName) bool {
	_, ok := m.names.LoadAndDelete(n)
	return ok
}

// soon wraps a reconciler so that an object whose external resource has gone is looked at again at once.
func (g *gone) soon(r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		result, err := r.Reconcile(ctx, req)
		if g.take(req.NamespacedName) && err == nil && !result.IsZero() {
			return reconcile.Result{RequeueAfter: afterGone}, nil
		}
		return result, err
	})
}

// Delete looks whether something is left. It looks with a copy: what the conditions say belongs to the observation before.
func (e *external[T]) Delete(ctx context.Context, mg T) (managed.ExternalDelete, error) {
	d, err := e.TypedExternalClient.Delete(ctx, mg)
	if err != nil {
		return d, err
	}
	if o, err := e.TypedExternalClient.Observe(ctx, mg.DeepCopyObject().(T)); err == nil && !o.ResourceExists {
		e.gone.mark(mg)
	}
	return d, nil
}
