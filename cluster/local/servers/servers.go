// Package servers runs the on-call servers of TerdutServers as processes of this machine.
//
// A control plane without nodes has Deployments, and the controller manager makes Pods of them, but nobody runs them. For Pods of on-call
// servers this package does what a kubelet does: it starts the stand-in for the server with the Pod's environment, Secrets resolved, asks
// it for its health, reports that in the Pod's status, and ends it when the Pod goes. Everything else about rollouts is Kubernetes' own.
// It also does what the cluster's DNS and Services do: a forward proxy leads requests for http://NAME.NAMESPACE.svc:PORT to a ready Pod.
package servers

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// LabelName and AppName are the label that Pods of on-call servers are known by.
const (
	LabelName = "app.kubernetes.io/name"
	AppName   = "terdut-server"
)

// stopGrace is how long a server may take to end when asked to, before it is killed.
const stopGrace = 5 * time.Second

// Options of Servers.
type Options struct {
	// Config of a client that may read Pods, Services, Secrets and ConfigMaps, and update the status of Pods.
	Config *rest.Config
	// Binary is the path of the stand-in.
	Binary string
	// Dir holds the files of Pods. It is made when missing.
	Dir string
	// Logs is the folder of the log files, one per Pod.
	Logs string
}

// Servers run until they are stopped.
type Servers struct {
	o      Options
	client client.Client
	cancel context.CancelFunc
	done   chan struct{} // Closed when the controller has ended, with err.
	err    error
	proxy  *http.Server
	url    *url.URL

	mu   sync.Mutex
	pods map[types.NamespacedName]*pod
	next int
}

// Start to run servers. It returns when it watches for Pods and the proxy listens.
func Start(ctx context.Context, o Options) (*Servers, error) {
	scheme := kruntime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("cannot build scheme: %w", err)
	}
	selector := labels.SelectorFromSet(labels.Set{LabelName: AppName})
	mgr, err := ctrl.NewManager(o.Config, ctrl.Options{
		Scheme:  scheme,
		Logger:  logr.Discard(),
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Label: selector}}},
		Client:  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}},
		// Several planes may live in one process, each with controllers of the same name.
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot create runner of on-call servers: %w", err)
	}
	run, cancel := context.WithCancel(context.Background())
	s := &Servers{o: o, client: mgr.GetClient(), cancel: cancel, done: make(chan struct{}), pods: map[types.NamespacedName]*pod{}}
	if err := ctrl.NewControllerManagedBy(mgr).Named("on-call-servers").For(&corev1.Pod{}).Complete(s); err != nil {
		cancel()
		return nil, fmt.Errorf("cannot create runner of on-call servers: %w", err)
	}
	// The proxy looks Services up.
	if _, err := mgr.GetCache().GetInformer(ctx, &corev1.Service{}); err != nil {
		cancel()
		return nil, fmt.Errorf("cannot watch Services: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	s.url = &url.URL{Scheme: "http", Host: l.Addr().String()}
	s.proxy = &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.proxy.Serve(l) }() // It ends with Stop.

	go func() {
		defer close(s.done)
		s.err = mgr.Start(run)
	}()
	synced := make(chan bool, 1)
	go func() { synced <- mgr.GetCache().WaitForCacheSync(run) }()
	select {
	case <-synced:
		return s, nil
	case <-s.done:
		err = s.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.Stop()
	return nil, fmt.Errorf("cannot watch Pods: %w", err)
}

// Stop all servers. It may be called more than once.
func (s *Servers) Stop() {
	_ = s.proxy.Close()
	s.cancel()
	<-s.done // No reconcile is under way any more: nothing is started from now on.
	s.mu.Lock()
	all := s.pods
	s.pods = map[types.NamespacedName]*pod{}
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(p.stop)
	}
	wg.Wait()
}

// ProxyURL of the proxy that leads to the servers under their names in the cluster. Other requests it passes on to where they go anyway.
func (s *Servers) ProxyURL() *url.URL { return s.url }

// Client of servers under their names in the cluster.
func (s *Servers) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(s.url)}}
}

// An Instance is a running server.
type Instance struct {
	// Pod that it stands for.
	Pod types.NamespacedName
	// URL of the server, and Control that of the stand-in's own handler (test/terdutserver).
	URL, Control string
}

// Instances that are ready, of a Service.
func (s *Servers) Instances(ctx context.Context, service types.NamespacedName) ([]Instance, error) {
	svc := &corev1.Service{}
	if err := s.client.Get(ctx, service, svc); err != nil {
		return nil, fmt.Errorf("cannot get Service %q: %w", service, err)
	}
	l := &corev1.PodList{}
	if err := s.client.List(ctx, l, client.InNamespace(service.Namespace), client.MatchingLabels(svc.Spec.Selector)); err != nil {
		return nil, fmt.Errorf("cannot list Pods: %w", err)
	}
	var out []Instance
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range l.Items {
		n := client.ObjectKeyFromObject(&l.Items[i])
		if p := s.pods[n]; p != nil && p.isReady() {
			out = append(out, Instance{Pod: n, URL: "http://" + p.address, Control: "http://" + p.control})
		}
	}
	return out, nil
}
