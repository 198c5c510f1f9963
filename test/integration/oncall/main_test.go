// Package oncall proves on the stand-in for the on-call server what the controllers of Bootstraps and Teams decide: what they write, what they
// leave alone, and what they say. They are called as the reconciler calls them, with a cluster in memory, and die at each write.
package oncall

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/bootstrap"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/team"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// own is the provider's own namespace.
const own = "system"

// errCut is what requests to the API server end with once the provider is dead. It is one that nothing retries.
var errCut = kerrors.NewForbidden(schema.GroupResource{}, "", nil)

// A world is a cluster, a server, and one life of the provider after the other.
type world struct {
	t      *testing.T
	server *terdutserver.Server
	kube   client.WithWatch

	// What one life of the provider consists of.
	bootstraps managed.TypedExternalConnector[*v1alpha1.Bootstrap]
	teams      managed.TypedExternalConnector[*v1alpha1.Team]
	store      *credential.Store
	events     *events

	// patience with a server that does not answer, when it is another than the usual one. It takes effect with the next life.
	patience time.Duration

	// polls that rest is judged over.
	polls int

	mu sync.Mutex
	// writes counts what this life wrote, to the server and to Secrets. The provider dies at write number dieAt, before it or after it.
	writes int
	dieAt  int
	after  bool
	dead   bool
}

// newWorld starts a server, and a provider with a cluster that holds some objects.
func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	s, err := terdutserver.Start(terdutserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{t: t, server: s, polls: 5}
	for _, n := range []string{own, "ops", "shop"} {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n}})
	}
	w.kube = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.Bootstrap{}, &v1alpha1.Team{}, &v1alpha1.ProviderConfig{}).
		WithIndex(&v1alpha1.Team{}, connect.IndexConfig, connect.ConfigKeyOf).
		WithIndex(&v1alpha1.ProviderConfig{}, index.ConfigByBootstrap, index.BootstrapOf).
		WithIndex(&v1alpha1.Bootstrap{}, index.BootstrapBySecret, index.AdminKeySecretOf).Build()
	w.restart()
	return w
}

// restart the provider: what it held in memory is gone.
func (w *world) restart() {
	w.mu.Lock()
	w.writes, w.dieAt, w.dead = 0, 0, false
	w.mu.Unlock()

	kube := w.mortal()
	w.events = &events{}
	w.store = credential.NewStore(kube, own)
	secrets, t := connect.NewSecrets(kube, kube), connect.NewTerdut()
	t.Adjust = func(c *terdut.Config) {
		c.WrapTransport = func(base http.RoundTripper) http.RoundTripper { return &wire{world: w, base: base} }
	}
	o := setup.Options{
		ControlPlane: "here", Secrets: secrets, Terdut: t, Credentials: w.store, Patience: &setup.Patience{Limit: w.patience},
		Oncall: connect.NewOncall(kube, secrets, w.store, t, nil),
	}
	w.bootstraps = bootstrap.NewConnector(o, kube, kube, w.events)
	w.teams = team.NewConnector(o, kube, w.events)
}

// write is called around each write of the provider. It fails when the provider is dead.
func (w *world) write(do func() error) error {
	w.mu.Lock()
	if w.dead {
		w.mu.Unlock()
		return errCut
	}
	w.writes++
	die := w.writes == w.dieAt
	w.dead = die
	after := w.after
	w.mu.Unlock()
	if die && !after {
		return errCut
	}
	if err := do(); err != nil {
		return err
	}
	if die {
		return errCut
	}
	return nil
}

func (w *world) isDead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

// mortal is the cluster as the provider sees it.
func (w *world) mortal() client.Client {
	read := func(do func() error) error {
		if w.isDead() {
			return errCut
		}
		return do()
	}
	return interceptor.NewClient(w.kube, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return read(func() error { return c.Get(ctx, k, o, opts...) })
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			return read(func() error { return c.List(ctx, l, opts...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return w.write(func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return w.write(func() error { return c.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return w.write(func() error { return c.Patch(ctx, o, p, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return w.write(func() error { return c.Delete(ctx, o, opts...) })
		},
	})
}

// wire is between the provider and the server.
type wire struct {
	world *world
	base  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (x *wire) RoundTrip(r *http.Request) (rsp *http.Response, err error) {
	if x.world.isDead() {
		return nil, errCut
	}
	if r.Method == http.MethodGet {
		return x.base.RoundTrip(r)
	}
	var failed error
	err = x.world.write(func() error {
		rsp, failed = x.base.RoundTrip(r) //nolint:bodyclose // The caller of this transport closes it, or the lines below do.
		return failed
	})
	if err != nil && rsp != nil {
		_ = rsp.Body.Close()
		rsp = nil
	}
	return rsp, err
}

// finalizer is what the runtime's keeps an object with.
const finalizer = "finalizer.managedresource.crossplane.io"

// A resource is a managed resource of any kind.
type resource interface {
	setup.Object
	client.Object
}

// pass does what the reconciler does with an object once: the object is read, acted on, and written. It returns what the pass ended with.
func pass[T resource](w *world, c managed.TypedExternalConnector[T], mg T) error {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.kube.Get(ctx, client.ObjectKeyFromObject(mg), mg); err != nil {
		return client.IgnoreNotFound(err)
	}
	may := func(a xpv2.ManagementAction) bool {
		p := mg.GetManagementPolicies()
		return slices.Contains(p, a) || slices.Contains(p, xpv2.ManagementActionAll)
	}
	if meta.WasDeleted(mg) && !may(xpv2.ManagementActionDelete) {
		meta.RemoveFinalizer(mg, finalizer)
		return w.kube.Update(ctx, mg)
	}
	e, err := c.Connect(ctx, mg)
	if err != nil {
		return err
	}
	o, err := e.Observe(ctx, mg)
	if err == nil && meta.WasDeleted(mg) && !o.ResourceExists {
		meta.RemoveFinalizer(mg, finalizer)
		return w.kube.Update(ctx, mg)
	}
	status := func() { _ = w.kube.Status().Update(ctx, mg) } // A dead provider reports nothing, and nothing hangs on it.
	if err != nil {
		status()
		return err
	}
	annotate := func(set func()) {
		w.t.Helper()
		if w.isDead() {
			return
		}
		kept := mg.DeepCopyObject()
		set()
		if err := w.kube.Update(ctx, mg); err != nil {
			w.t.Fatalf("cannot update annotations: %v", err)
		}
		restore(mg, kept)
	}
	switch {
	case meta.WasDeleted(mg):
		_, err = e.Delete(ctx, mg)
	case !o.ResourceExists && may(xpv2.ManagementActionCreate):
		annotate(func() {
			meta.AddFinalizer(mg, finalizer)
			meta.SetExternalCreatePending(mg, time.Now())
		})
		_, err = e.Create(ctx, mg)
		annotate(func() {
			if err != nil {
				meta.SetExternalCreateFailed(mg, time.Now())
			} else {
				meta.SetExternalCreateSucceeded(mg, time.Now())
			}
		})
	case o.ResourceExists && !o.ResourceUpToDate && may(xpv2.ManagementActionUpdate):
		annotate(func() { meta.AddFinalizer(mg, finalizer) })
		_, err = e.Update(ctx, mg)
	}
	if !w.isDead() {
		status()
	}
	return err
}

// restore the status that an update has overwritten.
func restore(mg, kept runtime.Object) {
	switch m := mg.(type) {
	case *v1alpha1.Bootstrap:
		m.Status = kept.(*v1alpha1.Bootstrap).Status
	case *v1alpha1.Team:
		m.Status = kept.(*v1alpha1.Team).Status
	}
}
