package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// A world is a control plane whose provider reaches everything through proxies. External Secrets, Crossplane and the run itself talk to
// the servers directly.
type world struct {
	p        *product.Product
	injector *injector
	pg       *pgProxy
	kv, api  *httpProxy
	watch    client.WithWatch
	// documented are all words that the operations page writes as code: reasons among them.
	documented map[string]bool
	patience   time.Duration

	mu        sync.Mutex
	observers map[string]*observer
}

// startWorld starts a plane in a folder that is left behind.
func startWorld(ctx context.Context, dir string, patience time.Duration) (*world, error) {
	w := &world{injector: newInjector(), observers: map[string]*observer{}, patience: patience}
	var once sync.Once
	var err error
	w.p, err = product.Start(ctx, product.Options{
		Plane:        local.Options{Dir: dir, Keep: true, Progress: os.Stderr},
		ProviderArgs: []string{"--debug", "--reconcile-timeout=" + reconcileTimeout.String()},
		FunctionArgs: []string{"--debug"},
		ProviderConfig: func(cfg *rest.Config) (err error) {
			once.Do(func() { w.api, err = apiProxy(w.injector, cfg) })
			if err != nil {
				return err
			}
			*cfg = *w.api.through(cfg)
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	if err := w.connect(ctx); err != nil {
		w.stop()
		return nil, err
	}
	return w, nil
}

// connect everything to the proxies.
func (w *world) connect(ctx context.Context) error {
	w.injector.kill = func() {
		// A process that is between two lives counts as killed.
		_ = w.p.Runtime.Kill(product.Provider)
	}
	w.injector.cut = w.api.CloseClientConnections
	page, err := os.ReadFile("docs/operations.md")
	if errors.Is(err, os.ErrNotExist) {
		page, err = os.ReadFile("../../docs/operations.md") // Tests run in their package's folder.
	}
	if err != nil {
		return fmt.Errorf("cannot read the operations page: %w", err)
	}
	w.documented = map[string]bool{}
	for _, m := range regexp.MustCompile("`([A-Z][A-Za-z]+)`").FindAllStringSubmatch(string(page), -1) {
		w.documented[m[1]] = true
	}

	server := w.p.Plane.Postgres
	if w.pg, err = startPGProxy(w.injector, net.JoinHostPort(server.HostAddr, strconv.Itoa(server.Port))); err != nil {
		return err
	}
	if w.kv, err = kvProxy(w.injector, w.p.Plane.OpenBao.Address); err != nil {
		return err
	}
	name := types.NamespacedName{Name: "default"}
	pg, bao := &postgresqlv1alpha1.ClusterProviderConfig{}, &openbaov1alpha1.ClusterProviderConfig{}
	for _, c := range []struct {
		object client.Object
		change func()
	}{
		{pg, func() {
			// Tenants are told of the server itself.
			port := pg.Spec.Port
			pg.Spec.Port, pg.Spec.Consumer = int32(w.pg.port()), &postgresqlv1alpha1.ConsumerEndpoint{Port: &port}
		}},
		{bao, func() { bao.Spec.Address = w.kv.URL }},
	} {
		if err := w.p.Client.Get(ctx, name, c.object); err != nil {
			return fmt.Errorf("cannot get provider config: %w", err)
		}
		was := c.object.DeepCopyObject().(client.Object)
		c.change()
		if err := w.p.Client.Patch(ctx, c.object, client.MergeFrom(was)); err != nil {
			return fmt.Errorf("cannot change provider config: %w", err)
		}
	}
	if err := w.p.WaitFor(ctx, "provider configs to be healthy behind proxies", func(ctx context.Context) error {
		for _, o := range []client.Object{pg, bao} {
			if err := w.p.Client.Get(ctx, name, o); err != nil {
				return err
			}
		}
		p, b := pg.GetCondition(postgresqlv1alpha1.TypeHealthy), bao.GetCondition(openbaov1alpha1.TypeHealthy)
		if p.Status != corev1.ConditionTrue || p.ObservedGeneration != pg.Generation || b.Status != corev1.ConditionTrue || b.ObservedGeneration != bao.Generation {
			return fmt.Errorf("PostgreSQL: %s %s, OpenBao: %s %s", p.Reason, p.Message, b.Reason, b.Message)
		}
		return nil
	}); err != nil {
		return err
	}
	if w.watch, err = client.NewWithWatch(w.p.Plane.Config(), client.Options{Scheme: w.p.Client.Scheme()}); err != nil {
		return fmt.Errorf("cannot create client: %w", err)
	}
	return w.observe(ctx)
}

func (w *world) stop() {
	w.p.Stop()
	if w.pg != nil {
		w.pg.close()
	}
	if w.kv != nil {
		w.kv.Close()
	}
	if w.api != nil {
		w.api.Close()
	}
}

// namespace makes a namespace.
func (w *world) namespace(ctx context.Context, name string) error {
	if err := w.p.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		return fmt.Errorf("cannot create namespace %q: %w", name, err)
	}
	return nil
}
