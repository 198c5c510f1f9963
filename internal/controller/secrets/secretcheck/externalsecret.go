package secretcheck

import (
	"context"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/internal/contract"
)

const kindExternalSecret = "ExternalSecret"

// An externalSecret is what is read of one, as far as its schema is the one that is known: the versions v1beta1 and v1 of External Secrets
// 0.16 and 1.x, https://external-secrets.io/latest/api/externalsecret/.
type externalSecret struct {
	Spec struct {
		Target struct {
			Name           string `json:"name"`
			CreationPolicy string `json:"creationPolicy"`
			// Manifest, since 1.0, makes it write an object of another kind, unless it names a Secret.
			Manifest *struct {
				APIVersion string `json:"apiVersion"`
				Kind       string `json:"kind"`
			} `json:"manifest"`
		} `json:"target"`
	} `json:"spec"`
	Status struct {
		// SyncedResourceVersion begins with the generation that the Secret was last written for, and a dash.
		SyncedResourceVersion string `json:"syncedResourceVersion"`
		Conditions            []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

// target is the Secret that it writes: its own name by default.
func (s externalSecret) target(name string) string {
	if n := s.Spec.Target.Name; n != "" {
		return n
	}
	return name
}

// writes says whether it writes a Secret at all.
func (s externalSecret) writes() bool {
	m := s.Spec.Target.Manifest
	return s.Spec.Target.CreationPolicy != "None" && (m == nil || m.APIVersion == "v1" && m.Kind == "Secret")
}

// checkExternalSecret says whether the ExternalSecret delivers the Secret, and it alone.
func (e *evaluation) checkExternalSecret(ctx context.Context, secret *corev1.Secret) {
	if e.spec.ExternalSecret == "" {
		return
	}
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(e.spec.ExternalSecretAPIVersion)
	u.SetKind(kindExternalSecret)
	r := contract.ReasonNone
	err := e.live.Get(ctx, types.NamespacedName{Namespace: e.mg.Namespace, Name: e.spec.ExternalSecret}, u)
	if err == nil {
		r, err = e.delivery(ctx, u, secret)
	}
	switch {
	case notServed(err):
		e.conditions.ExternalSecretReady = e.unknown(contract.ReasonExternalSecretAPINotAvailable)
	case kerrors.IsForbidden(err), kerrors.IsUnauthorized(err):
		e.conditions.ExternalSecretReady = e.unknown(contract.ReasonExternalSecretAccessDenied)
	case kerrors.IsNotFound(err):
		e.conditions.ExternalSecretReady = e.no(contract.ReasonExternalSecretNotFound)
	case err != nil:
		e.unread(ctx, kindExternalSecret, e.spec.ExternalSecret, err)
		e.conditions.ExternalSecretReady = e.unknown(contract.ReasonExternalSecretReadFailed)
	case r != contract.ReasonNone:
		e.conditions.ExternalSecretReady = e.no(r)
	default:
		e.conditions.ExternalSecretReady = e.yes(contract.ReasonRulesSatisfied)
	}
}

// delivery returns what keeps the ExternalSecret from delivering the Secret, or nothing.
func (e *evaluation) delivery(ctx context.Context, u *unstructured.Unstructured, secret *corev1.Secret) (contract.Reason, error) {
	s := externalSecret{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &s); err != nil {
		return contract.ReasonUnsupportedExternalSecretSchema, nil //nolint:nilerr // That is the finding. The error may quote the object.
	}
	if s.target(u.GetName()) != e.spec.Secret || !s.writes() {
		return contract.ReasonExternalSecretTargetMismatch, nil
	}
	ready := false
	for _, c := range s.Status.Conditions {
		ready = ready || c.Type == "Ready" && c.Status == string(corev1.ConditionTrue)
	}
	if !ready || !strings.HasPrefix(s.Status.SyncedResourceVersion, strconv.FormatInt(u.GetGeneration(), 10)+"-") {
		return contract.ReasonExternalSecretNotReady, nil
	}
	if secret != nil && s.owns() && !metav1.IsControlledBy(secret, u) {
		return contract.ReasonExternalSecretNotOwner, nil
	}
	others, err := e.otherWriters(ctx)
	if err != nil {
		return contract.ReasonNone, err
	}
	if others {
		return contract.ReasonExternalSecretTargetContested, nil
	}
	return contract.ReasonNone, nil
}

// owns says whether the Secret that it writes is its own. Owner is the default of its schema.
func (s externalSecret) owns() bool {
	return s.Spec.Target.CreationPolicy == "" || s.Spec.Target.CreationPolicy == "Owner"
}

// otherWriters says whether another ExternalSecret writes the same Secret: then what is in it changes with each of them.
func (e *evaluation) otherWriters(ctx context.Context) (bool, error) {
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(e.spec.ExternalSecretAPIVersion)
	l.SetKind(kindExternalSecret + "List")
	if err := e.live.List(ctx, l, client.InNamespace(e.mg.Namespace)); err != nil {
		return false, err
	}
	for i := range l.Items {
		u := &l.Items[i]
		s := externalSecret{}
		if u.GetName() == e.spec.ExternalSecret || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &s) != nil {
			continue
		}
		if s.target(u.GetName()) == e.spec.Secret && s.writes() {
			return true, nil
		}
	}
	return false, nil
}

// notServed says whether the API server does not know the kind: an object that is not there is another thing.
func notServed(err error) bool {
	return meta.IsNoMatchError(err) || kerrors.IsNotFound(err) && kerrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
