package local

import (
	"context"
	"fmt"

	"github.com/openbao/openbao/api/v2"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// KubernetesAuth is where OpenBao's Kubernetes auth method is mounted: ServiceAccounts of the plane can log in with roles of it.
	KubernetesAuth = "kubernetes"

	reviewerNamespace = "openbao"
	reviewerName      = "openbao"
	// reviewerSeconds is longer than any plane lives.
	reviewerSeconds = 7 * 24 * 3600
)

// enableKubernetesAuth has OpenBao ask the plane's API server whose a token is, as a ServiceAccount that may do nothing else.
func (p *Plane) enableKubernetesAuth(ctx context.Context) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: reviewerNamespace, Name: reviewerName}}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: reviewerNamespace}},
		account,
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "openbao:auth-delegator"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:auth-delegator"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: reviewerNamespace, Name: reviewerName}},
		},
	} {
		if err := p.client.Create(ctx, o); err != nil {
			return fmt.Errorf("cannot create %T %q: %w", o, o.GetName(), err)
		}
	}
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](reviewerSeconds)}}
	if err := p.client.SubResource("token").Create(ctx, account, token); err != nil {
		return fmt.Errorf("cannot request the token that OpenBao reviews others with: %w", err)
	}

	config := rest.CopyConfig(p.config)
	if err := rest.LoadTLSFiles(config); err != nil {
		return fmt.Errorf("cannot read the CA of the API server: %w", err)
	}
	root := p.OpenBao.Root()
	if err := root.Sys().EnableAuthWithOptionsWithContext(ctx, KubernetesAuth, &api.EnableAuthOptions{Type: "kubernetes"}); err != nil {
		return fmt.Errorf("cannot enable Kubernetes auth: %w", err)
	}
	_, err := root.Logical().WriteWithContext(ctx, "auth/"+KubernetesAuth+"/config", map[string]any{
		"kubernetes_host":    config.Host,
		"kubernetes_ca_cert": string(config.CAData),
		"token_reviewer_jwt": token.Status.Token,
		// What runs the server is in no pod.
		"disable_local_ca_jwt": true,
	})
	if err != nil {
		return fmt.Errorf("cannot configure Kubernetes auth: %w", err)
	}
	return nil
}
