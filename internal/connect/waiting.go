package connect

import (
	"context"
	"errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/conditions"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// Waiting returns the client of an object that cannot act yet and has made nothing so far, because something that it needs is not there.
// That is no error, so there are no warnings and no back-off: the object is reported as it is, not Ready, with a reason, and a watch on
// what it waits for wakes it. A deleted one is gone at once.
func Waiting[T resource.ModernManaged](reason xpv2.ConditionReason, message string) managed.TypedExternalClient[T] {
	return &waiting[T]{reason: reason, message: message}
}

type waiting[T resource.ModernManaged] struct {
	reason  xpv2.ConditionReason
	message string
}

func (w *waiting[T]) Observe(_ context.Context, mg T) (managed.ExternalObservation, error) {
	if meta.WasDeleted(mg) {
		return managed.ExternalObservation{}, nil
	}
	c := xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: w.reason, Message: w.message, LastTransitionTime: metav1.Now()}
	if was := mg.GetCondition(c.Type); was.Status == c.Status {
		c.LastTransitionTime = was.LastTransitionTime // Another reason is no transition.
	}
	conditions.ObservedGenerationPropagationManager{}.For(mg).MarkConditions(c)
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
}

// errWaiting is returned by the verbs that the reconciler never reaches.
var errWaiting = errors.New("cannot write while waiting")

func (w *waiting[T]) Create(context.Context, T) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, errWaiting
}

func (w *waiting[T]) Update(context.Context, T) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, errWaiting
}

func (w *waiting[T]) Delete(context.Context, T) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, errWaiting
}

func (w *waiting[T]) Disconnect(context.Context) error { return nil }
