package openbao

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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao/baosecret"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// errCut is what a request ends with that a test cuts off.
var errCut = errors.New("the connection was cut")

// A wire is between the provider and the server. Both functions, which may be nil, get each call as "METHOD path", and their error is what
// the provider gets instead of an answer.
type wire struct {
	mu            sync.Mutex
	calls         []string
	before, after func(call string) error
	base          http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	call := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/v1/")
	w.mu.Lock()
	w.calls = append(w.calls, call)
	before, after := w.before, w.after
	w.mu.Unlock()
	if before != nil {
		if err := before(call); err != nil {
			return nil, err
		}
	}
	rsp, err := w.base.RoundTrip(r)
	if err == nil && after != nil {
		if err := after(call); err != nil {
			_ = rsp.Body.Close()
			return nil, err
		}
	}
	return rsp, err
}

// seen returns the calls about records so far, and forgets them.
func (w *wire) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var about []string
	for _, c := range w.calls {
		if _, path, _ := strings.Cut(c, " "); strings.HasPrefix(path, "kv/") {
			about = append(about, c)
		}
	}
	w.calls = nil
	return about
}

// writes are the calls among those seen that change something.
func (w *wire) writes() []string {
	var writes []string
	for _, c := range w.seen() {
		if !strings.HasPrefix(c, http.MethodGet) {
			writes = append(writes, c)
		}
	}
	return writes
}

// A provider is one life of the provider's process.
type provider struct {
	kube      client.Client
	connector managed.TypedExternalConnector[*v1alpha1.BaoSecret]
	wire      *wire
}

// quiet drops events.
type quiet struct{}

func (quiet) Event(runtime.Object, event.Event)          {}
func (q quiet) WithAnnotations(...string) event.Recorder { return q }

// config is a ClusterProviderConfig with the token of the documented policy.
func config(name string) *v1alpha1.ClusterProviderConfig {
	pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	pc.Spec.Address, pc.Spec.Mount = bao.Address, "kv"
	pc.Spec.Auth.Token = &v1alpha1.TokenAuth{SecretRef: commonv1alpha1.SecretKeySelector{
		Namespace: "system", LocalSecretKeySelector: commonv1alpha1.LocalSecretKeySelector{Name: "login", Key: "token"},
	}}
	return pc
}

// newProvider starts a provider with a cluster that holds the config "default" and more objects.
func newProvider(t *testing.T, objects ...client.Object) *provider {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, postgresqlv1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	objects = append(objects, config("default"), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "login"}, Data: map[string][]byte{"token": []byte(token)},
	})
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&postgresqlv1alpha1.PGDatabase{}, index.PGDatabaseByBaoSecret, func(client.Object) []string { return nil }).Build()
	p := &provider{kube: kube}
	p.restart()
	return p
}

// restart the provider: what it held in memory is gone.
func (p *provider) restart() {
	p.wire = &wire{}
	secrets := connect.NewSecrets(p.kube, p.kube)
	o := setup.Options{ControlPlane: "here", Secrets: secrets, OpenBao: connect.NewOpenBao(p.kube, secrets, nil)}
	w := p.wire
	o.OpenBao.Adjust = func(c *openbao.Config) {
		c.WrapTransport = func(base http.RoundTripper) http.RoundTripper {
			w.base = base
			return w
		}
	}
	p.connector = baosecret.NewConnector(o, p.kube, p.kube, quiet{})
}

// record is a BaoSecret with a fixed and a generated value.
func record(t *testing.T, path string, mods ...func(*v1alpha1.BaoSecret)) *v1alpha1.BaoSecret {
	t.Helper()
	user := "shop"
	s := &v1alpha1.BaoSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: types.UID("uid of " + path)}}
	s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	s.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: connect.KindClusterProviderConfig, Name: "default"}
	s.Spec.ForProvider.Path = path
	s.Spec.ForProvider.Data = []v1alpha1.DataItem{{Key: "user", Value: &user}, generated("password")}
	for _, m := range mods {
		m(s)
	}
	return s
}

func generated(key string) v1alpha1.DataItem {
	return v1alpha1.DataItem{Key: key, Generate: &v1alpha1.Generate{Length: 32}}
}

func trigger(s *v1alpha1.BaoSecret, to string) {
	s.Spec.ForProvider.Rotation = &v1alpha1.Rotation{Trigger: to}
}

// going is the same object while it is being deleted.
func going(s *v1alpha1.BaoSecret, p commonv1alpha1.DeletionPolicy) *v1alpha1.BaoSecret {
	s = s.DeepCopy()
	now := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s.DeletionTimestamp = &now
	s.Spec.ForProvider.DeletionPolicy = p
	return s
}

// reborn is the same object as a backup brings it back, or as it is applied again: it has no status and no annotations. With a new uid it is
// another object of the same name.
func reborn(s *v1alpha1.BaoSecret, uid types.UID) *v1alpha1.BaoSecret {
	n := &v1alpha1.BaoSecret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, UID: uid}}
	n.Spec = *s.Spec.DeepCopy()
	return n
}

// apply an object to the cluster.
func (p *provider) apply(t *testing.T, s *v1alpha1.BaoSecret) {
	t.Helper()
	s.ResourceVersion = ""
	_ = p.kube.Delete(t.Context(), s.DeepCopy())
	if err := p.kube.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// adopt lets an admin write an adoption.
func (p *provider) adopt(t *testing.T, a ...v1alpha1.Adoption) {
	t.Helper()
	pc := &v1alpha1.ClusterProviderConfig{}
	if err := p.kube.Get(t.Context(), types.NamespacedName{Name: "default"}, pc); err != nil {
		t.Fatal(err)
	}
	pc.Spec.Adoptions = a
	if err := p.kube.Update(t.Context(), pc); err != nil {
		t.Fatal(err)
	}
}

func handOver(path, from string, recreate bool) v1alpha1.Adoption {
	return v1alpha1.Adoption{Path: "kv/" + path, AdoptionTarget: commonv1alpha1.AdoptionTarget{From: from, To: "shop/orders", Recreate: recreate}}
}

// pass does what the reconciler does with an object once. It returns whether an object that is being deleted may go.
func (p *provider) pass(ctx context.Context, s *v1alpha1.BaoSecret) (gone bool, err error) {
	e, err := p.connector.Connect(ctx, s)
	if err != nil {
		return false, err
	}
	o, err := e.Observe(ctx, s)
	switch {
	case err != nil:
		return false, err
	case meta.WasDeleted(s):
		if !o.ResourceExists {
			return true, nil
		}
		_, err = e.Delete(ctx, s)
	case !o.ResourceExists:
		if _, err = e.Create(ctx, s); err == nil {
			meta.SetExternalCreateSucceeded(s, time.Unix(0, 0))
		}
	case !o.ResourceUpToDate:
		_, err = e.Update(ctx, s)
	}
	return false, err
}

// passes makes several passes, all of which have to succeed.
func (p *provider) passes(t *testing.T, s *v1alpha1.BaoSecret, n int) {
	t.Helper()
	for range n {
		if _, err := p.pass(t.Context(), s); err != nil {
			t.Fatalf("a pass failed: %v", err)
		}
	}
}

// ready makes passes until an object is Ready, and returns its record.
func (p *provider) ready(t *testing.T, s *v1alpha1.BaoSecret) *found {
	t.Helper()
	p.passes(t, s, 2)
	is(t, s, xpv2.ReasonAvailable)
	return look(t, s.Spec.ForProvider.Path)
}

// is fails unless an object's Ready has a reason.
func is(t *testing.T, s *v1alpha1.BaoSecret, want xpv2.ConditionReason) {
	t.Helper()
	c := s.GetCondition(xpv2.TypeReady)
	if c.Reason != want || (c.Status == corev1.ConditionTrue) != (want == xpv2.ReasonAvailable) {
		t.Errorf("Ready is %s %s (%s), want reason %s", c.Status, c.Reason, c.Message, want)
	}
}

// stays fails when passes change anything outside, or when Ready's reason is another than the one that is wanted.
func (p *provider) stays(t *testing.T, s *v1alpha1.BaoSecret, want xpv2.ConditionReason, was *found) {
	t.Helper()
	p.wire.seen()
	p.passes(t, s, 3)
	is(t, s, want)
	if w := p.wire.writes(); len(w) > 0 {
		t.Errorf("something was written: %v", w)
	}
	if was == nil {
		if look(t, s.Spec.ForProvider.Path) != nil {
			t.Error("there is a record now")
		}
		return
	}
	same(t, s.Spec.ForProvider.Path, was)
}
