package access

import (
	"strings"
	"testing"

	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao/access"
)

// TestRefused holds that what the server would keep in another way than it was sent, or would take for something else, is refused in words
// that name the field, before anything is written. No schema refuses these.
func TestRefused(t *testing.T) {
	t.Run("Policy", func(t *testing.T) {
		p := newProvider(t, &accessv1alpha1.Policy{})
		// The server would decode it and keep what comes out.
		refused(t, p, newPolicy("tenants.shop.refused", "IyBub3RoaW5n"), "spec.forProvider.policy: ")
		refused(t, p, newPolicy("Upper", rules), `policy name "Upper" must be lower case`)
	})
	t.Run("KubernetesAuthRole", func(t *testing.T) {
		for want, change := range map[string]func(*accessv1alpha1.KubernetesAuthRoleParameters){
			"spec.forProvider.tokenBoundCidrs: ":              func(f *accessv1alpha1.KubernetesAuthRoleParameters) { f.TokenBoundCidrs = texts("192.0.2.1:80") },
			"spec.forProvider.boundServiceAccountNames: ":     func(f *accessv1alpha1.KubernetesAuthRoleParameters) { f.BoundServiceAccountNames = texts("a", "*") },
			"spec.forProvider.boundServiceAccountNamespaces:": func(f *accessv1alpha1.KubernetesAuthRoleParameters) { f.BoundServiceAccountNamespaces = texts("A") },
			"spec.forProvider.tokenPolicies: ":                func(f *accessv1alpha1.KubernetesAuthRoleParameters) { f.TokenPolicies = texts("default", "root") },
		} {
			p := newProvider(t, &accessv1alpha1.KubernetesAuthRole{})
			mg := newRole("tenants.shop.refused")
			change(&mg.Spec.ForProvider)
			refused(t, p, mg, want)
		}
	})
	t.Run("AppRole", func(t *testing.T) {
		p := newProvider(t, &accessv1alpha1.AppRole{})
		mg := newAppRole("approle", "terdut.shop.refused")
		mg.Spec.ForProvider.SecretIDBoundCidrs = texts("192.0.2.1")
		refused(t, p, mg, "spec.forProvider.secretIdBoundCidrs: ")
	})
}

// TestRefusedLater holds that a role stays as it was when it is changed to something that is refused, and can still be deleted.
func TestRefusedLater(t *testing.T) {
	const name, path = "tenants.shop.later", "auth/kubernetes/role/tenants.shop.later"
	p := newProvider(t, &accessv1alpha1.KubernetesAuthRole{})
	mg := newRole(name)
	p.rest(t, mg)
	mg.Spec.ForProvider.TokenBoundCidrs = texts("fe80::1%eth0")
	refused(t, p, mg, "spec.forProvider.tokenBoundCidrs: ")
	if found(t, path) == nil {
		t.Error("the role is gone")
	}
	if _, err := p.pass(t.Context(), going(mg)); err != nil {
		t.Errorf("it cannot be deleted: %v", err)
	}
	if found(t, path) != nil {
		t.Error("the role is still there")
	}
}

func refused[T access.Object](t *testing.T, p *provider[T], mg T, want string) {
	t.Helper()
	if _, err := p.pass(t.Context(), mg); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("want an error with %q, got: %v", want, err)
	}
	if w := p.wire.writes(); len(w) > 0 {
		t.Errorf("something was written: %v", w)
	}
}

func texts(list ...string) []*string {
	var out []*string
	for _, s := range list {
		out = append(out, &s)
	}
	return out
}
