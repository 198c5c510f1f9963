package access

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao/access"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/internal/terraform/config"
)

// A wire is between the provider and the server, and remembers each call as "METHOD path".
type wire struct {
	mu    sync.Mutex
	calls []string
	fail  error
	base  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.calls = append(w.calls, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/v1/"))
	fail := w.fail
	w.mu.Unlock()
	if fail != nil {
		return nil, fail
	}
	return w.base.RoundTrip(r)
}

// writes are the calls so far that change something. They are forgotten.
func (w *wire) writes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var writes []string
	for _, c := range w.calls {
		if !strings.HasPrefix(c, http.MethodGet) {
			writes = append(writes, c)
		}
	}
	w.calls = nil
	return writes
}

// quiet drops events.
type quiet struct{}

func (quiet) Event(runtime.Object, event.Event)          {}
func (q quiet) WithAnnotations(...string) event.Recorder { return q }

// A provider is one life of the provider's process, for one kind.
type provider[T access.Object] struct {
	kube      client.Client
	connector managed.TypedExternalConnector[T]
	wire      *wire
	config    *v1alpha1.ClusterProviderConfig
}

func newProvider[T access.Object](t *testing.T, kind T, mods ...func(*v1alpha1.ClusterProviderConfig)) *provider[T] {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, accessv1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "default"}}
	pc.Spec.Address, pc.Spec.Mount = bao.Address, "kv"
	pc.Spec.Auth.Token = &v1alpha1.TokenAuth{SecretRef: commonv1alpha1.SecretKeySelector{
		Namespace: "system", LocalSecretKeySelector: commonv1alpha1.LocalSecretKeySelector{Name: "login", Key: "token"},
	}}
	for _, m := range mods {
		m(pc)
	}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(pc, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "login"}, Data: map[string][]byte{"token": []byte(token)},
	}).Build()
	cfg, err := config.Provider(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	p := &provider[T]{kube: kube, wire: &wire{}, config: pc}
	secrets := connect.NewSecrets(kube, kube)
	o := setup.Options{ControlPlane: "here", Secrets: secrets, OpenBao: connect.NewOpenBao(kube, secrets, nil)}
	o.OpenBao.Adjust = func(c *openbao.Config) {
		c.WrapTransport = func(base http.RoundTripper) http.RoundTripper {
			p.wire.base = base
			return p.wire
		}
	}
	p.connector = access.NewConnector[T](o, cfg.Resources[kind.GetTerraformResourceType()], kube, kube, quiet{})
	return p
}

// pass does what the reconciler does with an object once. It returns whether an object that is being deleted may go.
func (p *provider[T]) pass(ctx context.Context, mg T) (gone bool, err error) {
	e, err := p.connector.Connect(ctx, mg)
	if err != nil {
		return false, err
	}
	o, err := e.Observe(ctx, mg)
	switch {
	case err != nil:
		return false, err
	case meta.WasDeleted(mg):
		if !o.ResourceExists {
			return true, nil
		}
		_, err = e.Delete(ctx, mg)
	case !o.ResourceExists:
		_, err = e.Create(ctx, mg)
	case !o.ResourceUpToDate:
		_, err = e.Update(ctx, mg)
	}
	return false, err
}

// passes until an object is at rest, and then some, in which nothing may be written.
func (p *provider[T]) rest(t *testing.T, mg T) {
	t.Helper()
	for i := range 4 {
		if i == 2 {
			p.wire.writes()
		}
		if _, err := p.pass(t.Context(), mg); err != nil {
			t.Fatalf("pass %d: %v", i, err)
		}
	}
	if w := p.wire.writes(); len(w) > 0 {
		t.Errorf("something was written at rest: %v", w)
	}
}

// is fails unless an object's Ready has a reason.
func is(t *testing.T, mg access.Object, want xpv2.ConditionReason) {
	t.Helper()
	c := mg.GetCondition(xpv2.TypeReady)
	if c.Reason != want || (c.Status == corev1.ConditionTrue) != (want == xpv2.ReasonAvailable) {
		t.Errorf("Ready is %s %s (%s), want reason %s", c.Status, c.Reason, c.Message, want)
	}
}

// common of an object of any kind.
func common(mg access.Object, name string) {
	mg.SetNamespace("shop")
	mg.SetName("orders")
	mg.SetUID(types.UID("uid-of-" + name))
	mg.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionAll})
	mg.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: connect.KindClusterProviderConfig, Name: "default"})
	meta.SetExternalName(mg, name)
}

func newPolicy(name, text string) *accessv1alpha1.Policy {
	p := &accessv1alpha1.Policy{}
	common(p, name)
	p.Spec.ForProvider.Policy = &text
	return p
}

func newRole(name string) *accessv1alpha1.KubernetesAuthRole {
	r := &accessv1alpha1.KubernetesAuthRole{}
	common(r, name)
	f := &r.Spec.ForProvider
	f.Backend = ptr.To("kubernetes")
	f.BoundServiceAccountNames, f.BoundServiceAccountNamespaces = []*string{ptr.To("b"), ptr.To("a")}, []*string{ptr.To("shop")}
	f.TokenPolicies, f.TokenTTL = []*string{ptr.To(name)}, ptr.To[int64](600)
	return r
}

func newAppRole(backend, name string) *accessv1alpha1.AppRole {
	r := &accessv1alpha1.AppRole{}
	common(r, name)
	r.Spec.ForProvider.Backend = &backend
	return r
}

// going is the same object while it is being deleted.
func going[T access.Object](mg T) T {
	out := mg.DeepCopyObject().(T) //nolint:forcetypeassert // A copy has the type of what it is of.
	now := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	out.SetDeletionTimestamp(&now)
	return out
}

// errCut is what a request ends with that a test cuts off.
var errCut = errors.New("the connection was cut")

// found returns what the server has at a path, nil for nothing.
func found(t *testing.T, path string) map[string]any {
	t.Helper()
	s, err := bao.Root().Logical().ReadWithContext(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		return nil
	}
	return s.Data
}

// put something at a path by hand.
func put(t *testing.T, path string, data map[string]any) {
	t.Helper()
	if _, err := bao.Root().Logical().WriteWithContext(t.Context(), path, data); err != nil {
		t.Fatal(err)
	}
}
