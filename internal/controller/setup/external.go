package setup

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/conditions"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/internal/connect"
)

// ReasonUnknown is the reason of Ready when an error says nothing better.
const ReasonUnknown xpv2.ConditionReason = "Unknown"

// Object is what every managed resource of this provider is.
type Object interface {
	resource.ModernManaged
	resource.ReconciliationObserver
}

// Mark sets conditions that speak of the object's current generation.
func Mark(mg Object, c ...xpv2.Condition) {
	for i := range c {
		c[i] = Since(mg, c[i])
	}
	conditions.ObservedGenerationPropagationManager{}.For(mg).MarkConditions(c...)
}

// Since returns a condition with the time at which its status came about: another reason, message or generation is no transition.
func Since(o resource.Conditioned, c xpv2.Condition) xpv2.Condition {
	if was := o.GetCondition(c.Type); was.Status == c.Status && !was.LastTransitionTime.IsZero() {
		c.LastTransitionTime = was.LastTransitionTime
	}
	return c
}

// Condition makes a condition.
func Condition(t xpv2.ConditionType, s corev1.ConditionStatus, r xpv2.ConditionReason, message string) xpv2.Condition {
	return xpv2.Condition{Type: t, Status: s, Reason: r, Message: message, LastTransitionTime: metav1.Now()}
}

// NotReady says that the external resource is not ready to use, and why.
func NotReady(r xpv2.ConditionReason, message string) xpv2.Condition {
	return Condition(xpv2.TypeReady, corev1.ConditionFalse, r, message)
}

// connector wraps a kind's connector with what is the same for all kinds: an object whose external system cannot be looked at does not
// stay Ready, and every conclusion names the generation that it is about.
type connector[T Object] struct {
	managed.TypedExternalConnector[T]

	release *releaser
	gone    *gone
	created *created
}

func (c *connector[T]) Connect(ctx context.Context, mg T) (managed.TypedExternalClient[T], error) {
	e, err := c.TypedExternalConnector.Connect(ctx, mg)
	if err != nil {
		if c.release.may(ctx, mg, err) {
			return connect.Waiting[T](connect.ReasonOf(err, ReasonUnknown), err.Error()), nil
		}
		markUnknown(mg, err)
		return nil, err
	}
	return &external[T]{TypedExternalClient: e, gone: c.gone, created: c.created}, nil
}

type external[T Object] struct {
	managed.TypedExternalClient[T]

	gone    *gone
	created *created
}

func (e *external[T]) Observe(ctx context.Context, mg T) (managed.ExternalObservation, error) {
	o, err := e.TypedExternalClient.Observe(ctx, mg)
	if err != nil {
		markUnknown(mg, err)
		return o, err
	}
	mg.SetObservedGeneration(mg.GetGeneration())
	e.created.prepare(mg, o)
	return o, nil
}

// Update reports a failure in Ready: what should have been put right is not. A failed Create needs no such report, the runtime has it.
func (e *external[T]) Update(ctx context.Context, mg T) (managed.ExternalUpdate, error) {
	u, err := e.TypedExternalClient.Update(ctx, mg)
	if err != nil {
		Mark(mg, NotReady(connect.ReasonOf(err, ReasonUnknown), err.Error()))
	}
	return u, err
}

// markUnknown reports that nothing is known of the external resource now. While an object is deleted, its Ready condition belongs to
// the deletion.
func markUnknown(mg Object, err error) {
	if meta.WasDeleted(mg) {
		return
	}
	Mark(mg, Condition(xpv2.TypeReady, corev1.ConditionUnknown, connect.ReasonOf(err, ReasonUnknown), err.Error()))
}
