package onplane

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// StandIn makes a Deployment of the provider's revision, without replicas, that names a ServiceAccount, as Crossplane does where it runs packages
// itself. The RBAC manager goes by that. It returns both.
func StandIn(ctx context.Context, p *product.Product, account string) (*pkgv1.ProviderRevision, *appsv1.Deployment, error) {
	l := &pkgv1.ProviderRevisionList{}
	if err := p.Client.List(ctx, l); err != nil {
		return nil, nil, fmt.Errorf("cannot list revisions: %w", err)
	}
	if len(l.Items) != 1 {
		return nil, nil, fmt.Errorf("there are %d revisions of providers, want one", len(l.Items))
	}
	rev := &l.Items[0]
	labels := map[string]string{"app": "stand-in"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: local.SystemNamespace, Name: "stand-in-of-the-provider"}}
	d.OwnerReferences = []metav1.OwnerReference{{APIVersion: pkgv1.SchemeGroupVersion.String(), Kind: pkgv1.ProviderRevisionKind, Name: rev.Name, UID: rev.UID, Controller: ptr.To(true)}}
	d.Spec.Replicas = ptr.To[int32](0)
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec = corev1.PodSpec{ServiceAccountName: account, Containers: []corev1.Container{{Name: "package-runtime", Image: "stand-in"}}}
	if err := p.Client.Create(ctx, d); err != nil {
		return nil, nil, fmt.Errorf("cannot create Deployment: %w", err)
	}
	return rev, d, nil
}
