package access

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao/baosecret"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// external is one reconcile's view of one object. What upjet returns is put in this provider's terms: reasons, generations, whose it is.
type external[T Object] struct {
	*connector[T]

	up  managed.ExternalClient
	tf  provider.Provider
	api *owned
	// refused says why the object is not looked at, when only a person can help.
	refused error
}

// upToDate is an observation that asks for no write.
var upToDate = managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}

func (e *external[T]) Observe(ctx context.Context, mg T) (managed.ExternalObservation, error) {
	if meta.WasDeleted(mg) {
		return e.observeDeleted(ctx, mg)
	}
	o, err := managed.ExternalObservation{}, e.refused
	if err == nil {
		o, err = e.observe(ctx, mg)
	}
	switch r := connect.ReasonOf(err, ""); {
	case r == v1alpha1.ReasonConflict || r == v1alpha1.ReasonExternalNameChanged:
		// Nothing is retried but by the poll: it is up to a person.
		setup.Report(mg, e.recorder, setup.NotReady(r, err.Error()))
		return upToDate, nil
	case err != nil:
		return o, err
	case !o.ResourceExists:
		setup.Mark(mg, xpv2.Creating())
		return managed.ExternalObservation{ResourceUpToDate: true}, nil
	}
	o.ResourceUpToDate = o.ResourceUpToDate && !e.api.unmarked
	if o.ResourceUpToDate || !e.updates(mg) {
		setup.Mark(mg, xpv2.Available())
	}
	return o, nil
}

// updates tells whether the object may be put right. What may not is ready as it is.
func (e *external[T]) updates(mg T) bool {
	return managed.NewManagementPoliciesResolver(e.policies, mg.GetManagementPolicies()).ShouldUpdate()
}

// observe with upjet, which knows neither our reasons nor generations: it sets a condition that is ours to set.
func (e *external[T]) observe(ctx context.Context, mg T) (managed.ExternalObservation, error) {
	was := mg.GetCondition(xpv2.TypeReady)
	o, err := e.up.Observe(ctx, mg)
	if was.Status != corev1.ConditionUnknown || was.Reason != "" {
		mg.SetConditions(was)
	}
	// The name and the spec are as they were asked for, so there is nothing to write back.
	o.ResourceLateInitialized = false
	return o, e.typed(err)
}

func (e *external[T]) Create(ctx context.Context, mg T) (managed.ExternalCreation, error) {
	if err := e.validate(ctx, mg); err != nil {
		return managed.ExternalCreation{}, err
	}
	c, err := e.up.Create(ctx, mg)
	return c, e.typed(err)
}

func (e *external[T]) Update(ctx context.Context, mg T) (managed.ExternalUpdate, error) {
	if err := e.validate(ctx, mg); err != nil {
		return managed.ExternalUpdate{}, err
	}
	u, err := e.up.Update(ctx, mg)
	if err = e.typed(err); err == nil {
		setup.Mark(mg, xpv2.Available())
	}
	return u, err
}

func (e *external[T]) Delete(ctx context.Context, mg T) (managed.ExternalDelete, error) {
	if record, err := e.readable(ctx, mg); err != nil || record != "" {
		return managed.ExternalDelete{}, err
	}
	d, err := e.up.Delete(ctx, mg)
	return d, e.typed(err)
}

// Disconnect is nothing: clients are shared.
func (e *external[T]) Disconnect(context.Context) error { return nil }

// observeDeleted says whether there is anything left to delete.
func (e *external[T]) observeDeleted(ctx context.Context, mg T) (managed.ExternalObservation, error) {
	if meta.GetExternalName(mg) == "" {
		return managed.ExternalObservation{}, nil
	}
	record, err := e.readable(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if record != "" {
		return upToDate, nil
	}
	o, err := e.observe(ctx, mg)
	switch {
	case openbao.IsMountNotFound(err), openbao.IsInvalid(err):
		// Where nothing can be, this object has made nothing.
		return managed.ExternalObservation{}, nil
	case openbao.IsPermissionDenied(err) && neverMade(mg):
		// Whoever forgot the provider's rights does not hold up what could never use them.
		return managed.ExternalObservation{}, nil
	}
	if !o.ResourceExists && err == nil {
		e.owners.Forget(mg)
	}
	return o, err
}

// neverMade is true when an object has neither found nor begun to make anything: the runtime notes the latter in annotations beforehand.
func neverMade(mg Object) bool {
	return mg.GetID() == "" && meta.GetExternalCreatePending(mg).IsZero() && meta.GetExternalCreateSucceeded(mg).IsZero() && meta.GetExternalCreateFailed(mg).IsZero()
}

// readable returns the name of a BaoSecret whose record this object may give access to and which goes with it, empty when there is none. The
// record's deletion policy is honoured before its access goes.
func (e *external[T]) readable(ctx context.Context, mg T) (string, error) {
	ref := metav1.GetControllerOf(mg)
	if ref == nil {
		return "", nil
	}
	// A composite that lives has only stopped to ask for this object.
	if alive, err := e.owners.Alive(ctx, mg); err != nil || alive {
		return "", err
	}
	l := &v1alpha1.BaoSecretList{}
	if err := e.kube.List(ctx, l, client.InNamespace(mg.GetNamespace())); err != nil {
		return "", fmt.Errorf("cannot list BaoSecrets: %w", err)
	}
	for i := range l.Items {
		if c := metav1.GetControllerOf(&l.Items[i]); c != nil && c.UID == ref.UID {
			return l.Items[i].Name, nil
		}
	}
	return "", nil
}

// typed returns the error that the server, or whose the object is, was the cause of. Terraform's diagnostics are text.
func (e *external[T]) typed(err error) error {
	if err == nil || e.api.err == nil {
		return err
	}
	return connect.WithReason(e.api.err, baosecret.ReasonOf(e.api.err))
}
