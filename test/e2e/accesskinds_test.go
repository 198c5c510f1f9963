package e2e

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// accessObject is what every generated kind is.
type accessObject interface {
	conditioned
	SetManagementPolicies(xpv2.ManagementPolicies)
	SetProviderConfigReference(*xpv2.ProviderConfigReference)
}

// An accessKind is a generated kind and how it looks in OpenBao.
type accessKind struct {
	controller string
	// path in OpenBao of what an object stands for.
	path string
	new  func() accessObject
	// foreign is what somebody else writes at such a path, and drifted what somebody changes in place.
	foreign map[string]any
	// field of the server's that drifts.
	field string
	drift any
}

var accessKinds = map[string]accessKind{
	"Policy": {
		controller: "policy.access.openbao.terdut.ryuvia.com", path: "sys/policies/acl/",
		new: func() accessObject {
			o := &accessv1alpha1.Policy{}
			o.Spec.ForProvider.Policy = ptr.To("path \"kv/data/nothing\" {\n  capabilities = [\"read\"]\n}\n")
			return o
		},
		foreign: map[string]any{"policy": "# somebody else's"}, field: "policy",
	},
	"KubernetesAuthRole": {
		controller: "kubernetesauthrole.access.openbao.terdut.ryuvia.com", path: "auth/kubernetes/role/",
		new: func() accessObject {
			o := &accessv1alpha1.KubernetesAuthRole{}
			f := &o.Spec.ForProvider
			f.BoundServiceAccountNames, f.BoundServiceAccountNamespaces = []*string{ptr.To("b"), ptr.To("a")}, []*string{ptr.To("nowhere")}
			f.TokenPolicies, f.TokenTTL, f.TokenBoundCidrs = []*string{ptr.To("none")}, ptr.To[int64](60), []*string{ptr.To("127.0.0.1/32")}
			return o
		},
		foreign: map[string]any{"bound_service_account_names": "x", "bound_service_account_namespaces": "y"}, field: "bound_service_account_namespaces", drift: []string{"elsewhere"},
	},
	"AppRole": {
		controller: "approle.access.openbao.terdut.ryuvia.com", path: "auth/approle/role/",
		new: func() accessObject {
			o := &accessv1alpha1.AppRole{}
			o.Spec.ForProvider.TokenPolicies, o.Spec.ForProvider.SecretIDTTL = []*string{ptr.To("none")}, ptr.To[int64](60)
			return o
		},
		foreign: map[string]any{"token_policies": "theirs"}, field: "secret_id_ttl", drift: 61,
	},
}

// passes waits until the provider has looked n more times at each of the objects that a test has.
func (k accessKind) passes(t *testing.T, n int) {
	t.Helper()
	const objects = 4
	until := reconciles(t, k.controller) + n*objects
	eventually(t, "passes over "+k.controller, func(context.Context) error {
		if reconciles(t, k.controller) < until {
			return errors.New("some are missing")
		}
		return nil
	})
}

// inOpenBao is what OpenBao has at a path, nil for nothing.
func inOpenBao(t *testing.T, path string) map[string]any {
	t.Helper()
	s, err := p.Plane.OpenBao.Root().Logical().ReadWithContext(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		return nil
	}
	return s.Data
}

// TestAccessKinds holds of the generated kinds what is held of the others: what they do with what is theirs, and what they leave alone.
func TestAccessKinds(t *testing.T) {
	if err := enableAppRole(); err != nil {
		t.Fatal(err)
	}
	for name, k := range accessKinds {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			bao := observedBao(t, ns)
			object := func(name string, policies ...xpv2.ManagementAction) accessObject {
				o := k.new()
				o.SetNamespace(ns)
				o.SetName(name)
				o.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "observed"})
				if len(policies) > 0 {
					o.SetManagementPolicies(policies)
				}
				return o
			}
			path := func(o client.Object) string { return k.path + "terdut." + ns + "." + o.GetName() }

			// Somebody else's, which is there before.
			foreign, observed := object("foreign"), object("observed", xpv2.ManagementActionObserve)
			for _, o := range []client.Object{foreign, observed} {
				mustBao(t, path(o), k.foreign)
			}
			was := inOpenBao(t, path(foreign))
			mine, kept, paused := object("mine"), object("kept", xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate), object("paused")
			pause(paused)
			for _, o := range []client.Object{foreign, observed, mine, kept, paused} {
				create(t, o)
			}
			becomes(t, mine, xpv2.TypeReady, corev1.ConditionTrue, xpv2.ReasonAvailable)
			becomes(t, kept, xpv2.TypeReady, corev1.ConditionTrue, xpv2.ReasonAvailable)
			becomes(t, observed, xpv2.TypeReady, corev1.ConditionTrue, xpv2.ReasonAvailable)
			becomes(t, paused, xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcilePaused)
			if m := becomes(t, foreign, xpv2.TypeReady, corev1.ConditionFalse, openbaov1alpha1.ReasonConflict); !strings.Contains(m, path(foreign)) {
				t.Errorf("the conflict does not name what it is about: %s", m)
			}
			if inOpenBao(t, path(paused)) != nil {
				t.Error("a paused object made something")
			}

			// At rest nothing is written, neither here nor there.
			k.passes(t, 2)
			versions := map[string]string{}
			rest := []client.Object{mine, kept, foreign, observed}
			for _, o := range rest {
				versions[o.GetName()] = versionNow(t, o)
			}
			writes := len(bao.writesSoFar())
			k.passes(t, 3)
			for _, o := range rest {
				if now := versionNow(t, o); now != versions[o.GetName()] {
					t.Errorf("%s was written at rest", o.GetName())
				}
			}
			if now := bao.writesSoFar(); len(now) != writes {
				t.Errorf("at rest, the server was written to: %q", now[writes:])
			}

			// Drift is put right, and what has vanished is made again.
			good := inOpenBao(t, path(mine))[k.field]
			drift := map[string]any{k.field: k.drift}
			if text, ok := good.(string); ok {
				drift[k.field] = text + "# more\n"
			}
			mustBao(t, path(mine), drift)
			eventually(t, "drift to be put right", func(context.Context) error {
				if diff := cmp.Diff(good, inOpenBao(t, path(mine))[k.field]); diff != "" {
					return errors.New(diff)
				}
				return nil
			})
			if _, err := p.Plane.OpenBao.Root().Logical().DeleteWithContext(t.Context(), path(mine)); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it to be made again", func(context.Context) error {
				if inOpenBao(t, path(mine)) == nil {
					return errors.New("it is not there")
				}
				return nil
			})

			// Deletion takes what is ours, and nothing else.
			edit(t, paused, func(o accessObject) { unpause(o) })
			becomes(t, paused, xpv2.TypeReady, corev1.ConditionTrue, xpv2.ReasonAvailable)
			for _, o := range []client.Object{foreign, observed, mine, kept} {
				remove(t, o)
			}
			for _, o := range []client.Object{foreign, observed, mine, kept} {
				isGone(t, o)
			}
			if inOpenBao(t, path(mine)) != nil {
				t.Error("what was to be deleted is there")
			}
			for _, o := range []client.Object{kept, observed, foreign} {
				if inOpenBao(t, path(o)) == nil {
					t.Errorf("what %s was to leave is gone", o.GetName())
				}
			}
			if diff := cmp.Diff(was, inOpenBao(t, path(foreign))); diff != "" {
				t.Errorf("what is somebody else's was changed: -before, +after:\n%s", diff)
			}

			// The rest goes with its namespace, in which its config goes too.
			deleteNamespace(t, ns)
		})
	}
}

// TestAccessNamespace deletes a namespace with objects whose config is a cluster's: they go, and so does what they made.
func TestAccessNamespace(t *testing.T) {
	if err := enableAppRole(); err != nil {
		t.Fatal(err)
	}
	ns := namespace(t)
	for _, k := range accessKinds {
		o := k.new()
		o.SetNamespace(ns)
		o.SetName("orders")
		create(t, o)
		becomes(t, o, xpv2.TypeReady, corev1.ConditionTrue, xpv2.ReasonAvailable)
	}
	remove(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
	isGone(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
	for name, k := range accessKinds {
		if inOpenBao(t, k.path+"terdut."+ns+".orders") != nil {
			t.Errorf("%s: it is there", name)
		}
	}
}

// writesSoFar are all requests that change something.
func (c *calls) writesSoFar() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, s := range c.seen {
		// Logins and renewals are how the provider gets in.
		if !strings.HasPrefix(s, http.MethodGet) && !strings.Contains(s, "/auth/token/") {
			out = append(out, s)
		}
	}
	return out
}

// versionNow is an object's resource version.
func versionNow(t *testing.T, o client.Object) string {
	t.Helper()
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	return o.GetResourceVersion()
}
