package team

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// denied says why Teams of a namespace may not use a config, and nothing when they may. It is asked at each reconcile, so that consent
// which is taken back ends with the next one.
func (c *connector) denied(ctx context.Context, pc resource.ProviderConfig, namespace string) (string, error) {
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
	if err := c.kube.Get(ctx, types.NamespacedName{Name: namespace}, ns); err != nil {
		return "", fmt.Errorf("cannot get labels of namespace %q: %w", namespace, err)
	}
	if !s.Matches(labels.Set(ns.GetLabels())) {
		return no + " by its labels", nil
	}
	return "", nil
}
