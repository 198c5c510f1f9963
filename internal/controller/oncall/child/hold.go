package child

import (
	"context"
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// A HoldError says why a child does nothing now. It is no failure: a watch on its Team wakes it.
type HoldError struct {
	message string
	// absent is true when there is no Team that the reference could mean.
	absent bool
	// gone is true when a child that is being deleted has nothing left to delete.
	gone bool
	// released is true when that was concluded without asking the server.
	released bool
}

// Error implements error.
func (e *HoldError) Error() string { return e.message }

func wait(format string, args ...any) *HoldError {
	return &HoldError{message: fmt.Sprintf(format, args...)}
}

func absent(format string, args ...any) *HoldError {
	return &HoldError{message: fmt.Sprintf(format, args...), absent: true}
}

// Without returns the client of a child that has no Team to work on, or the error that is to be reported.
func Without[T setup.Object](mg T, r Reporter, err error) (managed.TypedExternalClient[T], error) {
	h := (*HoldError)(nil)
	if !errors.As(err, &h) {
		setup.Mark(mg, setup.Condition(r.Condition, corev1.ConditionUnknown, connect.ReasonOf(err, v1alpha1.ReasonFailed), err.Error()))
		return nil, err
	}
	w := connect.Waiting[T](v1alpha1.ReasonWaitingForTeam, h.message)
	switch {
	case h.released:
		setup.Release(mg, r.Kind, r.Recorder, r.Log, h)
	case h.gone:
	default:
		// Without an event: to wait for what comes next is what a new object does.
		setup.Mark(mg, setup.Condition(r.Condition, corev1.ConditionFalse, v1alpha1.ReasonWaitingForTeam, h.message))
	}
	if meta.WasDeleted(mg) && !h.gone {
		return &held[T]{TypedExternalClient: w}, nil
	}
	return w, nil
}

// held is the client of a child that is being deleted and cannot be yet: its Team lives and has no key.
type held[T setup.Object] struct{ managed.TypedExternalClient[T] }

func (*held[T]) Observe(context.Context, T) (managed.ExternalObservation, error) {
	return UpToDate, nil
}

// Delete is nothing: what the child waits for wakes it.
func (*held[T]) Delete(context.Context, T) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, nil
}
