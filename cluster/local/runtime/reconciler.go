package runtime

import (
	"context"
	"fmt"
	"path"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/conditions"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
)

// A reconciler runs the packages of one kind.
type reconciler struct {
	kind        string
	newRevision func() pkgv1.PackageRevisionWithRuntime
	client      client.Client
	runtime     *Runtime
	// ended wakes the reconciler up when the process of a revision has ended.
	ended chan event.GenericEvent
	// run ends when the runtime does.
	run context.Context //nolint:containedctx // The lifetime of goroutines that outlive a reconcile.
}

// Reconcile the process of a package revision.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	key := r.kind + "/" + req.Name
	pr := r.newRevision()
	if err := r.client.Get(ctx, req.NamespacedName, pr); err != nil {
		if kerrors.IsNotFound(err) {
			r.runtime.remove(key)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("cannot get package revision: %w", err)
	}
	if meta.WasDeleted(pr) || pr.GetDesiredState() != pkgv1.PackageRevisionActive {
		r.runtime.remove(key)
		return reconcile.Result{}, nil
	}

	before, _ := pr.DeepCopyObject().(pkgv1.PackageRevisionWithRuntime)
	status := conditions.ObservedGenerationPropagationManager{}.For(pr)
	waiting, after, err := r.ensure(ctx, key, pr)
	switch {
	case err != nil:
		status.MarkConditions(pkgv1.RuntimeUnhealthy().WithMessage(err.Error()))
	case waiting != "":
		status.MarkConditions(pkgv1.RuntimeUnhealthy().WithMessage(waiting))
	default:
		status.MarkConditions(pkgv1.RuntimeHealthy(), pkgv1.RuntimeActive())
	}
	// Crossplane writes the same status: who was first wins, the other looks again.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if perr := r.patchStatus(ctx, pr, patch); perr != nil {
		if kerrors.IsConflict(perr) {
			return reconcile.Result{RequeueAfter: pollInterval}, nil
		}
		return reconcile.Result{}, fmt.Errorf("cannot update status of package revision: %w", client.IgnoreNotFound(perr))
	}
	return reconcile.Result{RequeueAfter: after}, err
}

// patchStatus sends a patch unless there is nothing in it but the resource version.
func (r *reconciler) patchStatus(ctx context.Context, pr pkgv1.PackageRevisionWithRuntime, patch client.Patch) error {
	data, err := patch.Data(pr)
	if err != nil {
		return err
	}
	if string(data) == fmt.Sprintf(`{"metadata":{"resourceVersion":%q}}`, pr.GetResourceVersion()) {
		return nil
	}
	return r.client.Status().Patch(ctx, pr, patch)
}

// ensure that the package runs. While it has to wait it says for what, and when to look again unless it is woken up.
func (r *reconciler) ensure(ctx context.Context, key string, pr pkgv1.PackageRevisionWithRuntime) (waiting string, after time.Duration, err error) {
	// Crossplane waits for the names of the certificates before it establishes the package's objects.
	certs, err := r.ensureCertificates(ctx, pr)
	if err != nil {
		return "", 0, err
	}
	if pr.GetResolvedSource() == "" {
		return "the package has not been fetched yet", 0, nil
	}
	ref, err := name.ParseReference(pr.GetResolvedSource(), name.StrictValidation)
	if err != nil {
		return "", 0, fmt.Errorf("cannot parse package reference: %w", err)
	}

	i := r.runtime.instance(key, path.Base(ref.Context().RepositoryStr()), pr.GetName())
	info, running := i.running()
	if !running {
		// Crossplane's own runtime makes no Deployment before.
		if pr.GetCondition(pkgv1.TypeRevisionHealthy).Status != corev1.ConditionTrue {
			return "the package's objects are not installed yet", 0, nil
		}
		if after := i.backOff(time.Now()); after > 0 {
			return "the process has ended and will be started again, see " + info.LogFile, after, nil
		}
		prog, err := fetch(ctx, ref, r.runtime.o.Dir)
		if err != nil {
			return "", 0, err
		}
		if err := r.start(ctx, i, pr, prog, certs); err != nil {
			return "", 0, err
		}
	}
	if err := i.ready(ctx); err != nil {
		return "", 0, err
	}
	if f, ok := pr.(*pkgv1.FunctionRevision); ok {
		info, _ := i.running()
		f.Status.Endpoint = info.Address
	}
	return "", 0, nil
}
