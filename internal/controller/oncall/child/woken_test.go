package child

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// A looker tells which objects a controller looks at, and finds nothing to do.
type looker struct{ looked chan string }

func (l *looker) Connect(context.Context, *v1alpha1.EscalationPolicy) (managed.TypedExternalClient[*v1alpha1.EscalationPolicy], error) {
	return managed.TypedExternalClientFns[*v1alpha1.EscalationPolicy]{
		ObserveFn: func(_ context.Context, mg *v1alpha1.EscalationPolicy) (managed.ExternalObservation, error) {
			l.looked <- mg.GetName()
			return UpToDate, nil
		},
		DisconnectFn: func(context.Context) error { return nil },
	}, nil
}

// next waits until an object is looked at.
func (l *looker) next(t *testing.T, name string) {
	t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		select {
		case got := <-l.looked:
			if got == name {
				return
			}
		case <-timeout:
			t.Fatalf("%s is not looked at", name)
		}
	}
}

// An informer tells of what it is told to.
type informer struct {
	controllertest.FakeInformer

	mu       sync.Mutex
	handlers []toolscache.ResourceEventHandler
}

func (i *informer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handlers = append(i.handlers, h)
	return i.FakeInformer.AddEventHandlerWithOptions(h, o)
}

func (i *informer) tell(f func(toolscache.ResourceEventHandler)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, h := range i.handlers {
		f(h)
	}
}

// TestSiblingsWake runs a controller and tells it of changes of one object: another one of the same Team is looked at, too, when the first one
// goes, and when its spec changes.
func TestSiblingsWake(t *testing.T) {
	policy := func(name, team string, generation int64) *v1alpha1.EscalationPolicy {
		o := &v1alpha1.EscalationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), Generation: generation}}
		o.Spec.ForProvider.TeamRef = &v1alpha1.TeamReference{Name: team}
		return o
	}
	l := &looker{looked: make(chan string)}
	first := policy("first", "other", 1)
	policies := start(t, l, first, policy("has", "ops", 2), policy("waits", "ops", 1))
	// It hears nothing before it has started all its watches, and looks at nothing before.
	end := time.Now().Add(30 * time.Second)
	for started := false; !started && time.Now().Before(end); {
		policies.tell(func(h toolscache.ResourceEventHandler) { h.OnAdd(first, false) })
		select {
		case <-l.looked:
			started = true
		case <-time.After(50 * time.Millisecond):
		}
	}

	policies.tell(func(h toolscache.ResourceEventHandler) { h.OnUpdate(policy("has", "ops", 1), policy("has", "ops", 2)) })
	l.next(t, "waits")
	policies.tell(func(h toolscache.ResourceEventHandler) { h.OnUpdate(policy("has", "ops", 2), policy("has", "dev", 3)) })
	l.next(t, "waits")
	policies.tell(func(h toolscache.ResourceEventHandler) { h.OnDelete(policy("has", "ops", 2)) })
	l.next(t, "waits")
}

// start a controller of EscalationPolicies in a cluster that has these objects. It learns of changes by what is returned, and of nothing else.
func start(t *testing.T, l *looker, objects ...client.Object) *informer {
	t.Helper()
	s := runtime.NewScheme()
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	for gvk := range s.AllKnownTypes() {
		mapper.Add(gvk, meta.RESTScopeNamespace)
	}
	kube := fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithStatusSubresource(objects...).
		WithIndex(&v1alpha1.EscalationPolicy{}, index.ChildByTeam, index.TeamNameOf).Build()
	policies := &informer{}
	informers := &informertest.FakeInformers{Scheme: s, InformersByGVK: map[schema.GroupVersionKind]toolscache.SharedIndexInformer{
		v1alpha1.EscalationPolicyGroupVersionKind: policies, v1alpha1.TeamGroupVersionKind: &informer{}, metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"): &informer{},
	}}
	for _, i := range informers.InformersByGVK {
		i.(*informer).Synced = true
	}
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{
		Scheme: s, Logger: logr.Discard(), Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
		NewCache:       func(*rest.Config, cache.Options) (cache.Cache, error) { return informers, nil },
		NewClient:      func(*rest.Config, client.Options) (client.Client, error) { return kube, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	o := setup.Options{
		Options: controller.Options{
			Logger: logging.NewNopLogger(), GlobalRateLimiter: ratelimiter.NewGlobal(1000), MaxConcurrentReconciles: 2, PollInterval: time.Hour, Features: &feature.Flags{},
		},
		Timeout: time.Minute, Credentials: credential.NewStore(kube, "system"),
	}
	kind := Kind[*v1alpha1.EscalationPolicy]{
		GVK: v1alpha1.EscalationPolicyGroupVersionKind, Object: &v1alpha1.EscalationPolicy{},
		NewList: func() resource.ManagedList { return &v1alpha1.EscalationPolicyList{} },
		Connector: func(setup.Options, client.Client, event.Recorder) managed.TypedExternalConnector[*v1alpha1.EscalationPolicy] {
			return l
		},
	}
	if err := Setup(mgr, o, kind); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- mgr.Start(t.Context()) }()
	t.Cleanup(func() {
		for {
			select {
			case <-l.looked:
			case err := <-ended:
				if err != nil {
					t.Errorf("the manager ended: %v", err)
				}
				return
			}
		}
	})
	return policies
}
