package access

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/utils/ptr"

	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao/access"
)

// TestRenamed changes the external name of an object that has made something. That stays the object's: it is not left behind.
func TestRenamed(t *testing.T) {
	role := newAppRole("ma/chines", "terdut.shop.renamed")
	t.Run("Policy", func(t *testing.T) { renamed(t, newPolicy("terdut.shop.renamed", rules), "sys/policies/acl/") })
	t.Run("KubernetesAuthRole", func(t *testing.T) { renamed(t, newRole("terdut.shop.renamed"), "auth/kubernetes/role/") })
	t.Run("AppRole", func(t *testing.T) { renamed(t, role, "auth/ma/chines/role/") })
}

func renamed[T access.Object](t *testing.T, mg T, path string) {
	const other = "terdut.shop.elsewhere"
	p := newProvider(t, mg)
	name := meta.GetExternalName(mg)
	p.rest(t, mg)
	is(t, mg, xpv2.ReasonAvailable)

	meta.SetExternalName(mg, other)
	p.rest(t, mg)
	is(t, mg, v1alpha1.ReasonExternalNameChanged)
	if m := mg.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, name) || !strings.Contains(m, other) {
		t.Errorf("the message does not say which names: %s", m)
	}
	if found(t, path+other) != nil {
		t.Error("another one was made")
	}

	meta.SetExternalName(mg, name)
	p.rest(t, mg)
	is(t, mg, xpv2.ReasonAvailable)
	// A name that is lost is put back.
	mg.SetAnnotations(nil)
	p.rest(t, mg)
	is(t, mg, xpv2.ReasonAvailable)
	if got := meta.GetExternalName(mg); got != name {
		t.Errorf("the external name is %q, want %q", got, name)
	}

	// What goes is what was made, whatever the annotation says.
	for _, annotation := range []string{other, ""} {
		gone := going(mg)
		meta.SetExternalName(gone, annotation)
		if _, err := p.pass(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		if found(t, path+name) != nil {
			t.Errorf("with the external name %q it is left behind", annotation)
		}
		if ok, err := p.pass(t.Context(), gone); err != nil || !ok {
			t.Errorf("with the external name %q it may not go: %v", annotation, err)
		}
		p.rest(t, mg)
	}

	// An object may have another name once nothing is left under the one before.
	if _, err := bao.Root().Logical().DeleteWithContext(t.Context(), path+name); err != nil {
		t.Fatal(err)
	}
	meta.SetExternalName(mg, other)
	p.rest(t, mg)
	is(t, mg, xpv2.ReasonAvailable)
	if found(t, path+other) == nil {
		t.Error("nothing was made under the new name")
	}
}

// TestRenamedUnreachable holds that a changed name is not believed as long as nobody knows what is there under the one before.
func TestRenamedUnreachable(t *testing.T) {
	p := newProvider(t, &accessv1alpha1.Policy{})
	mg := newPolicy("terdut.shop.unknown", rules)
	p.rest(t, mg)
	meta.SetExternalName(mg, "terdut.shop.unknown2")
	p.wire.fail = errCut
	for _, o := range []*accessv1alpha1.Policy{mg, going(mg)} {
		if ok, err := p.pass(t.Context(), o); err == nil || ok {
			t.Errorf("want an error, got %t, %v", ok, err)
		}
	}
}

// TestNeverMade holds that what has made nothing can be deleted, although the server cannot be asked: there is no such name, or the provider
// has no rights. Where the object has made something, rights that were lost are waited for.
func TestNeverMade(t *testing.T) {
	cases := map[string]struct {
		reason string
		mod    func(*accessv1alpha1.KubernetesAuthRole)
		gone   bool
	}{
		"Upper":  {"No role has such a name.", func(r *accessv1alpha1.KubernetesAuthRole) { meta.SetExternalName(r, "terdut.shop.A") }, true},
		"Slash":  {"Nor such a one.", func(r *accessv1alpha1.KubernetesAuthRole) { meta.SetExternalName(r, "a/b") }, true},
		"Denied": {"The provider never could.", func(r *accessv1alpha1.KubernetesAuthRole) { r.Spec.ForProvider.Backend = ptr.To("forbidden") }, true},
		"Begun": {"It may have.", func(r *accessv1alpha1.KubernetesAuthRole) {
			r.Spec.ForProvider.Backend = ptr.To("forbidden")
			meta.SetExternalCreatePending(r, time.Now())
		}, false},
		"Made": {"It has.", func(r *accessv1alpha1.KubernetesAuthRole) {
			r.Spec.ForProvider.Backend = ptr.To("forbidden")
			r.Status.AtProvider.ID = ptr.To("forbidden/terdut.shop.x")
		}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, &accessv1alpha1.KubernetesAuthRole{})
			mg := newRole("terdut.shop.x")
			tc.mod(mg)
			if _, err := p.pass(t.Context(), mg.DeepCopy()); err == nil {
				t.Error("want an error")
			}
			if gone, err := p.pass(t.Context(), going(mg)); gone != tc.gone || (err == nil) != tc.gone {
				t.Errorf("\n%s\nit may go: %t, want %t: %v", tc.reason, gone, tc.gone, err)
			}
		})
	}
}

// TestObservedAgain holds that an object which may not change what it looks at says so when it can look again, whatever it finds.
func TestObservedAgain(t *testing.T) {
	const name, path = "tenants.shop.again", "auth/kubernetes/role/tenants.shop.again"
	put(t, path, map[string]any{"bound_service_account_names": "x", "bound_service_account_namespaces": "y", "token_ttl": 77})
	p := newProvider(t, &accessv1alpha1.KubernetesAuthRole{})
	mg := &accessv1alpha1.KubernetesAuthRole{}
	common(mg, name)
	mg.Spec.ForProvider.Backend = ptr.To("kubernetes")
	mg.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
	mg.SetConditions(xpv2.Unavailable())
	e, err := p.connector.Connect(t.Context(), mg)
	if err != nil {
		t.Fatal(err)
	}
	if o, err := e.Observe(t.Context(), mg); err != nil || !o.ResourceExists {
		t.Fatalf("Observe: %+v, %v", o, err)
	}
	is(t, mg, xpv2.ReasonAvailable)
	if got := ptr.Deref(mg.Status.AtProvider.TokenTTL, 0); got != 77 {
		t.Errorf("the status says %d s", got)
	}
}
