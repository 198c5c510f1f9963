package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/cluster/local"
)

// TestNoTokens holds that the provider, which makes and reads Secrets, has no token of another ServiceAccount put into one.
func TestNoTokens(t *testing.T) {
	ns := namespace(t)
	cfg, err := p.Plane.ServiceAccountConfig(t.Context(), local.SystemNamespace, "provider-terdut")
	if err != nil {
		t.Fatal(err)
	}
	own, err := client.New(cfg, client.Options{Scheme: p.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	token := func(in, of string) *corev1.Secret {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: "token-of-" + of}, Type: corev1.SecretTypeServiceAccountToken}
		s.Annotations = map[string]string{corev1.ServiceAccountNameKey: of}
		return s
	}
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "provider-terdut-no-tokens") {
			t.Errorf("%s is not refused: %v", what, err)
		}
	}
	for of, in := range map[string]string{"crossplane": local.SystemNamespace, "rbac-manager": local.SystemNamespace, "default": ns} {
		refused("a token of "+of, own.Create(t.Context(), token(in, of)))
	}
	// Others may, and the provider does not lead what they made to somebody else.
	s := token(ns, "default")
	if err := p.Client.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"kubernetes.io/service-account.name":"crossplane","kubernetes.io/service-account.uid":null}}}`))
	refused("leading a token elsewhere", own.Patch(t.Context(), s, patch))
}
