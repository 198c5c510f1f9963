package setup

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// created are the objects whose external resource was made in the pass that is under way.
//
// Each write of a composed object is an event of its composite, and of those Crossplane bears one a second. To make something, the runtime
// writes an object five times: its finalizer, that a create begins, how it ended, that it is being created, and that it is Ready. Here it is
// three times: the finalizer comes with the begin, and the report of an object that is looked at again at once is left to that look.
type created struct {
	marks

	// policies is true when management policies are heeded.
	policies bool
}

// prepare an object for which the runtime will write that a create begins. That write comes before the create, and brings the finalizer.
func (c *created) prepare(mg Object, o managed.ExternalObservation) {
	if c == nil || o.ResourceExists || meta.WasDeleted(mg) {
		return
	}
	if managed.NewManagementPoliciesResolver(c.policies, mg.GetManagementPolicies()).ShouldCreate() {
		meta.AddFinalizer(mg, managed.FinalizerName)
	}
}

// manager returns a manager whose client leaves out the report of a pass that made something.
func (c *created) manager(mgr ctrl.Manager) ctrl.Manager {
	return &createdManager{Manager: mgr, client: &createdClient{Client: mgr.GetClient(), created: c}}
}

// pass wraps a reconciler so that what one pass made does not keep the next one from telling what it found.
func (c *created) pass(r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		defer c.take(req.NamespacedName)
		return r.Reconcile(ctx, req)
	})
}

type createdManager struct {
	ctrl.Manager

	client client.Client
}

func (m *createdManager) GetClient() client.Client { return m.client }

type createdClient struct {
	client.Client

	created *created
}

func (c *createdClient) Status() client.SubResourceWriter {
	return &createdWriter{SubResourceWriter: c.Client.Status(), created: c.created}
}

type createdWriter struct {
	client.SubResourceWriter

	created *created
}

// Update the status, unless it says no more than that something was made. What has failed since, such as to write down its external name,
// is told.
func (w *createdWriter) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	mg, ok := o.(Object)
	if w.created.take(client.ObjectKeyFromObject(o)) && ok && mg.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue {
		return nil
	}
	return w.SubResourceWriter.Update(ctx, o, opts...)
}

// Create notes that something was made.
func (e *external[T]) Create(ctx context.Context, mg T) (managed.ExternalCreation, error) {
	c, err := e.TypedExternalClient.Create(ctx, mg)
	if err == nil && e.created != nil {
		e.created.mark(mg)
	}
	return c, err
}
