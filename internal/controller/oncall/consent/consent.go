// Package consent decides which Teams may be on the server of a provider config: those of its own namespace, and of others those that its
// allowedTeams admit.
package consent

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// Denied says why Teams of a namespace may not use a config, and nothing when they may. It is asked at each reconcile of a Team or of what
// belongs to it, so that consent which is taken back ends with the next one. The reader needs metadata of namespaces alone.
func Denied(ctx context.Context, kube client.Reader, pc resource.ProviderConfig, namespace string) (string, error) {
	from, selector := v1alpha1.NamespacesAll, (*metav1.LabelSelector)(nil)
	switch p := pc.(type) {
	case *v1alpha1.ProviderConfig:
		if p.GetNamespace() == namespace {
			return "", nil
		}
		from, selector = p.Spec.AllowedTeams.Namespaces.From, p.Spec.AllowedTeams.Namespaces.Selector
	case *v1alpha1.ClusterProviderConfig:
		if f := p.Spec.AllowedTeams.Namespaces.From; f != "" {
			from, selector = f, p.Spec.AllowedTeams.Namespaces.Selector
		}
	}
	no := fmt.Sprintf("allowedTeams of the config %q do not admit namespace %q", pc.GetName(), namespace)
	switch from {
	case v1alpha1.NamespacesAll:
		return "", nil
	case v1alpha1.NamespacesSelector:
	default:
		return no, nil
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		// What nobody can read admits nobody.
		return no + ": its selector is invalid", nil //nolint:nilerr // As above.
	}
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := kube.Get(ctx, types.NamespacedName{Name: namespace}, ns); err != nil {
		return "", fmt.Errorf("cannot get labels of namespace %q: %w", namespace, err)
	}
	if !s.Matches(labels.Set(ns.GetLabels())) {
		return no + " by its labels", nil
	}
	return "", nil
}
