package oncallchildren

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/conditions"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

const finalizer = "finalizer.managedresource.crossplane.io"

// pass does what the managed reconciler does with an object once. It reads the object anew, and writes its status.
func pass[T setup.Object](w *world, c managed.TypedExternalConnector[T], of T) error {
	ctx := w.t.Context()
	mg := of.DeepCopyObject().(T)
	if err := w.client.Get(ctx, client.ObjectKeyFromObject(of), mg); err != nil {
		return client.IgnoreNotFound(err)
	}
	policy := managed.NewManagementPoliciesResolver(true, mg.GetManagementPolicies())
	if meta.IsPaused(mg) || policy.IsPaused() {
		return nil
	}
	if meta.WasDeleted(mg) && !policy.ShouldDelete() {
		meta.RemoveFinalizer(mg, finalizer)
		return w.client.Update(ctx, mg)
	}
	err := reconcile(ctx, w, c, policy, mg)
	if kerrors.IsNotFound(err) {
		return nil
	}
	status := conditions.ObservedGenerationPropagationManager{}.For(mg)
	if err != nil {
		status.MarkConditions(xpv2.ReconcileError(err))
	} else {
		status.MarkConditions(xpv2.ReconcileSuccess())
	}
	if e := w.client.Status().Update(ctx, mg); e != nil && err == nil {
		err = client.IgnoreNotFound(e)
		if kerrors.IsConflict(e) {
			err = nil
		}
	}
	return err
}

func reconcile[T setup.Object](ctx context.Context, w *world, c managed.TypedExternalConnector[T], policy managed.ManagementPoliciesChecker, mg T) error {
	e, err := c.Connect(ctx, mg)
	if err != nil {
		return err
	}
	o, err := e.Observe(ctx, mg)
	switch {
	case err != nil:
		return err
	case meta.WasDeleted(mg) && o.ResourceExists:
		_, err := e.Delete(ctx, mg)
		return err
	case meta.WasDeleted(mg):
		meta.RemoveFinalizer(mg, finalizer)
		return w.client.Update(ctx, mg)
	}
	if !slices.Contains(mg.GetFinalizers(), finalizer) {
		meta.AddFinalizer(mg, finalizer)
		if err := w.client.Update(ctx, mg); err != nil {
			return err
		}
	}
	switch {
	case !o.ResourceExists && policy.ShouldOnlyObserve():
		return errAbsent
	case !o.ResourceExists && policy.ShouldCreate():
		meta.SetExternalCreatePending(mg, time.Now())
		if err := w.client.Update(ctx, mg); err != nil {
			return err
		}
		_, err := e.Create(ctx, mg)
		if err != nil {
			meta.SetExternalCreateFailed(mg, time.Now())
			_ = patchCritical(ctx, w, mg)
			return err
		}
		meta.SetExternalCreateSucceeded(mg, time.Now())
		return patchCritical(ctx, w, mg)
	case !o.ResourceUpToDate && policy.ShouldUpdate():
		_, err := e.Update(ctx, mg)
		return err
	}
	return nil
}

// patchCritical persists what the reconciler's updater of critical annotations does.
func patchCritical[T setup.Object](ctx context.Context, w *world, mg T) error {
	is := mg.DeepCopyObject().(T)
	was := mg.DeepCopyObject().(T)
	for k := range was.GetAnnotations() {
		if strings.HasPrefix(k, "crossplane.io/external-") {
			meta.RemoveAnnotations(was, k)
		}
	}
	if err := w.client.Patch(ctx, is, client.MergeFrom(was)); err != nil {
		return err
	}
	mg.SetResourceVersion(is.GetResourceVersion())
	return nil
}
