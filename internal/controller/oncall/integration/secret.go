package integration

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// Keys of the Secret's data.
const (
	keyURL = "url"
	keyKey = "key"
)

// labelManagedBy marks the Secret as the provider's.
const labelManagedBy, managedBy = "app.kubernetes.io/managed-by", "provider-terdut"

// annotationHolds is the annotation of the Secret that says whose webhook is in it, by the integration's id. It is written together with
// the webhook.
const annotationHolds = "oncall.terdut.ryuvia.com/integration-id"

// A secret as it was found.
type secret struct {
	// object is nil when there is none.
	object *corev1.Secret
	// foreign is true when it is not this object's to write.
	foreign bool
	// holds is the id of the integration whose webhook was written to it, empty when none was.
	holds string
	// complete is true when it has a value at each key.
	complete bool
}

// readSecret that an object's webhook is written to. What is in it is not kept.
func (c *connector) readSecret(ctx context.Context, mg *v1alpha1.Integration) (*secret, error) {
	o := &corev1.Secret{}
	n := types.NamespacedName{Namespace: mg.Namespace, Name: mg.Spec.ForProvider.SecretName}
	if err := c.kube.Get(ctx, n, o); err != nil {
		if kerrors.IsNotFound(err) {
			return &secret{}, nil
		}
		return nil, fmt.Errorf("cannot get Secret %q: %w", n.Name, err)
	}
	return &secret{
		object: o, foreign: !metav1.IsControlledBy(o, mg), holds: o.GetAnnotations()[annotationHolds],
		complete: len(o.Data[keyURL]) > 0 && len(o.Data[keyKey]) > 0,
	}, nil
}

// reserve the Secret: afterwards it is this object's, and says of no integration that it has its webhook. What it holds of an earlier one
// stays until it is replaced.
func (c *connector) reserve(ctx context.Context, mg *v1alpha1.Integration) (*corev1.Secret, error) {
	s, err := c.readSecret(ctx, mg)
	switch {
	case err != nil:
		return nil, err
	case s.foreign:
		return nil, connect.WithReason(errors.New(foreign(mg)), v1alpha1.ReasonConflict)
	case s.object != nil && ptr.Deref(s.object.Immutable, false):
		// Before anything is created whose webhook it could not take.
		return nil, connect.WithReason(fmt.Errorf("Secret %q is immutable: delete it", s.object.Name), v1alpha1.ReasonConflict)
	case s.object == nil:
		o := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: mg.Namespace, Name: mg.Spec.ForProvider.SecretName, Labels: map[string]string{labelManagedBy: managedBy},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(mg, v1alpha1.IntegrationGroupVersionKind)},
			},
			Type: corev1.SecretTypeOpaque,
		}
		if err := c.kube.Create(ctx, o); err != nil {
			if kerrors.IsAlreadyExists(err) {
				return nil, connect.WithReason(errors.New(foreign(mg)), v1alpha1.ReasonConflict)
			}
			return nil, fmt.Errorf("cannot create Secret %q: %w", o.Name, plain(err))
		}
		return o, nil
	case s.holds == "":
		return s.object, nil
	}
	o := s.object.DeepCopy()
	delete(o.Annotations, annotationHolds)
	return o, c.patch(ctx, s.object, o)
}

// fill a reserved Secret. What is not written is lost, so it is tried again unless somebody else has changed the Secret since.
func (c *connector) fill(ctx context.Context, reserved *corev1.Secret, i *terdut.NewIntegration) error {
	o := reserved.DeepCopy()
	o.Data = map[string][]byte{keyURL: []byte(i.URL), keyKey: []byte(i.Key)}
	if o.Annotations == nil {
		o.Annotations = map[string]string{}
	}
	o.Annotations[annotationHolds] = fmt.Sprint(i.ID)
	var last error
	_ = retry.OnError(retry.DefaultBackoff, func(err error) bool { return !kerrors.IsConflict(err) && ctx.Err() == nil }, func() error {
		last = c.patch(ctx, reserved, o.DeepCopy())
		return last
	})
	return last
}

// patch a Secret, if it still is the version that was read.
func (c *connector) patch(ctx context.Context, was, is *corev1.Secret) error {
	if err := c.kube.Patch(ctx, is, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("cannot update Secret %q: %w", is.Name, plain(err))
	}
	return nil
}

// plain drops what an API server says of a Secret but its kind of refusal: it may quote what was sent.
func plain(err error) error {
	status := kerrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return err
	}
	bare := status.Status()
	bare.Message, bare.Details = string(bare.Reason), nil
	return &kerrors.StatusError{ErrStatus: bare}
}

func foreign(mg *v1alpha1.Integration) string {
	return fmt.Sprintf("Secret %q exists and is not this object's: remove it, or make a new Integration with another secretName", mg.Spec.ForProvider.SecretName)
}
