package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/openbao/openbao/api/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// TestH25AuthToken uses a static token with exactly the documented policy. When it ends that is said, and a new one is picked up.
func TestH25AuthToken(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	newToken := func() string {
		s, err := p.Plane.OpenBao.Root().Auth().Token().CreateOrphanWithContext(t.Context(), &api.TokenCreateRequest{Policies: []string{product.Provider}, Period: "30s"})
		if err != nil {
			t.Fatal(err)
		}
		return s.Auth.ClientToken
	}
	first := newToken()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "login"}, StringData: map[string]string{"token": first}}
	create(t, secret)
	pc := clusterBao(ns)
	pc.Spec.Auth.Token = &openbaov1alpha1.TokenAuth{SecretRef: commonv1alpha1.SecretKeySelector{
		Namespace: ns, LocalSecretKeySelector: commonv1alpha1.LocalSecretKeySelector{Name: "login", Key: "token"},
	}}
	create(t, pc)
	s := usedBy(t, ns, pc)
	eventually(t, "the token to be renewed", func(ctx context.Context) error {
		self, err := p.Plane.OpenBao.Root().Auth().Token().LookupWithContext(ctx, first)
		if err != nil {
			return errors.New("it has ended")
		}
		if self.Data["last_renewal_time"] == nil {
			return errors.New("it was not renewed yet")
		}
		return nil
	})
	rotates(t, s)

	if err := p.Plane.OpenBao.Root().Auth().Token().RevokeTreeWithContext(t.Context(), first); err != nil {
		t.Fatal("cannot revoke the token")
	}
	message := becomes(t, s, openbaov1alpha1.TypeRecordReady, corev1.ConditionUnknown, openbaov1alpha1.ReasonPermissionDenied)
	if strings.Contains(message, first) {
		t.Error("the message holds the token")
	}
	edit(t, secret, func(s *corev1.Secret) { s.Data, s.StringData = nil, map[string]string{"token": newToken()} })
	becomes(t, s, xpv2.TypeReady, corev1.ConditionTrue, "")
	rotates(t, s)
	leaves(t, s, pc)
}

// TestH25AuthAppRole logs in with AppRole, again and again because the tokens are short-lived, and after one was revoked by hand.
func TestH25AuthAppRole(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	if err := enableAppRole(); err != nil {
		t.Fatal(err)
	}
	mustBao(t, "auth/approle/role/"+ns, with(nil))
	mustBao(t, "auth/approle/role/"+ns+"/role-id", map[string]any{"role_id": ns})
	id := mustBao(t, "auth/approle/role/"+ns+"/secret-id", nil).Data["secret_id"].(string)
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "login"}, StringData: map[string]string{"id": id}})
	pc := clusterBao(ns)
	pc.Spec.Auth.AppRole = &openbaov1alpha1.AppRoleAuth{
		AppRole: openbaov1alpha1.AppRole{RoleID: ns}, SecretRef: commonv1alpha1.SecretKeySelector{
			Namespace: ns, LocalSecretKeySelector: commonv1alpha1.LocalSecretKeySelector{Name: "login", Key: "id"},
		},
	}
	create(t, pc)
	s := usedBy(t, ns, pc)
	outlives(t, s, ns, "")
	leaves(t, s, pc)
}

// TestH25AuthKubernetes logs in as a ServiceAccount, which the server asks the API server about: as the provider's own from a
// ClusterProviderConfig, and as one of its namespace from a ProviderConfig.
func TestH25AuthKubernetes(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	role := func(name, account, namespace string) {
		mustBao(t, "auth/kubernetes/role/"+name, with(map[string]any{
			"bound_service_account_names": account, "bound_service_account_namespaces": namespace, "audience": "openbao",
		}))
	}
	role(ns, "app", ns)
	role(ns+"-cluster", product.Provider, local.SystemNamespace)

	cluster := clusterBao(ns)
	cluster.Spec.Auth.Kubernetes = &openbaov1alpha1.KubernetesAuth{
		Kubernetes: openbaov1alpha1.Kubernetes{Role: ns + "-cluster"},
		ServiceAccountRef: commonv1alpha1.SecretReference{
			LocalSecretReference: commonv1alpha1.LocalSecretReference{Name: product.Provider}, Namespace: local.SystemNamespace,
		},
	}
	create(t, cluster)
	byCluster := usedBy(t, ns, cluster)
	outlives(t, byCluster, ns+"-cluster", local.SystemNamespace+"/"+product.Provider)
	leaves(t, byCluster, cluster)

	// The provider may not be anybody in a namespace that has not allowed it.
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "app"}})
	own := localBao(ns, "own", ns)
	create(t, own)
	message := becomes(t, own, openbaov1alpha1.TypeHealthy, corev1.ConditionFalse, "")
	if !strings.Contains(message, `ServiceAccount "`+ns+`/app"`) {
		t.Errorf("the message does not say whose token cannot be had: %s", message)
	}
	create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "provider-terdut"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "provider-terdut:token-requests"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: local.SystemNamespace, Name: product.Provider}},
	})
	byOwn := usedBy(t, ns, own)
	outlives(t, byOwn, ns, ns+"/app")

	// The token is made for one audience, and is never the provider's: neither another audience nor the provider's role is to be had with it.
	other, borrowed := localBao(ns, "other", ns), localBao(ns, "borrowed", ns+"-cluster")
	other.Spec.Auth.Kubernetes.Audiences = []string{"somebody-else"}
	for _, pc := range []*openbaov1alpha1.ProviderConfig{other, borrowed} {
		create(t, pc)
		becomes(t, pc, openbaov1alpha1.TypeHealthy, corev1.ConditionFalse, openbaov1alpha1.ReasonPermissionDenied)
		remove(t, pc)
		isGone(t, pc)
	}
	leaves(t, byOwn, own)
}
