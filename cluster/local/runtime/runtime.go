// Package runtime runs Crossplane packages as processes of this machine.
//
// It is an external package runtime: Crossplane, started with --package-runtime=External, fetches and unpacks packages and leaves
// running them to somebody else. For each active revision of a Provider or Function this package does what Crossplane's own runtime
// does with a Service, Secrets and a Deployment: it makes certificates signed by Crossplane's certificate authority, runs the program
// of the package's image, and reports both in the status of the revision.
package runtime

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/source"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
)

// stopGrace is how long a process may take to end when asked to, before it is killed.
const stopGrace = 5 * time.Second

// pollInterval is how often Restart looks for the new process.
const pollInterval = 20 * time.Millisecond

// Options of a runtime.
type Options struct {
	// Config of a client that may read and update package revisions, and manage the Secrets of Namespace.
	Config *rest.Config
	// Namespace of Crossplane.
	Namespace string
	// Dir holds programs and certificates. It is made when missing.
	Dir string
	// Logs is the folder of the log files, one per package, named like it.
	Logs string
	// ProviderKubeconfig returns the path of the kubeconfig that a provider gets. It is called each time before the provider starts.
	ProviderKubeconfig func(ctx context.Context, pkg string) (string, error)
	// Packages says what a package gets beside what Crossplane gives every package. Packages are named by the last part of their
	// repository, for example "provider-terdut".
	Packages map[string]Package
}

// A Package says what a package's process gets in addition.
type Package struct {
	// Args come after the runtime's own, so that they win.
	Args []string
	// Env entries, NAME=value, win over the runtime's own.
	Env []string
}

// A Runtime runs packages until it is stopped.
type Runtime struct {
	o      Options
	cancel context.CancelFunc
	done   chan struct{} // Closed when the controllers have ended, with err.
	err    error

	mu        sync.Mutex
	instances map[string]*instance
}

// Start a runtime. It returns when it watches for revisions; what goes wrong with one of them is in that revision's RuntimeHealthy
// condition.
func Start(ctx context.Context, o Options) (*Runtime, error) {
	scheme := kruntime.NewScheme()
	for _, add := range []func(*kruntime.Scheme) error{clientgoscheme.AddToScheme, pkgv1.SchemeBuilder.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("cannot build scheme: %w", err)
		}
	}
	mgr, err := ctrl.NewManager(o.Config, ctrl.Options{
		Scheme:  scheme,
		Logger:  logr.Discard(),
		Metrics: server.Options{BindAddress: "0"},
		Client:  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		// Several runtimes may live in one process, each with controllers of the same name.
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot create package runtime: %w", err)
	}

	run, cancel := context.WithCancel(context.Background())
	r := &Runtime{o: o, cancel: cancel, done: make(chan struct{}), instances: map[string]*instance{}}
	for kind, newRevision := range map[string]func() pkgv1.PackageRevisionWithRuntime{
		"provider": func() pkgv1.PackageRevisionWithRuntime { return &pkgv1.ProviderRevision{} },
		"function": func() pkgv1.PackageRevisionWithRuntime { return &pkgv1.FunctionRevision{} },
	} {
		ended := make(chan event.GenericEvent)
		rec := &reconciler{kind: kind, newRevision: newRevision, client: mgr.GetClient(), runtime: r, ended: ended, run: run}
		if err := ctrl.NewControllerManagedBy(mgr).
			Named(kind).
			For(newRevision()).
			WatchesRawSource(source.Channel(ended, &handler.EnqueueRequestForObject{})).
			Complete(rec); err != nil {
			cancel()
			return nil, fmt.Errorf("cannot create package runtime: %w", err)
		}
	}

	go func() {
		defer close(r.done)
		r.err = mgr.Start(run)
	}()
	synced := make(chan bool, 1)
	go func() { synced <- mgr.GetCache().WaitForCacheSync(run) }()
	select {
	case <-synced:
		return r, nil
	case <-r.done:
		err = r.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	r.Stop()
	return nil, fmt.Errorf("cannot watch package revisions: %w", err)
}

// Stop the runtime and everything that it runs. It may be called more than once.
func (r *Runtime) Stop() {
	r.cancel()
	<-r.done // No reconcile is under way any more: nothing is started from now on.
	r.mu.Lock()
	all := r.instances
	r.instances = map[string]*instance{}
	r.mu.Unlock()
	var wg sync.WaitGroup
	for _, i := range all {
		wg.Go(func() { i.stop() })
	}
	wg.Wait()
}

// An Instance is a running package.
type Instance struct {
	// Package is the last part of the package's repository, Revision the name of its revision.
	Package, Revision string
	PID               int
	LogFile           string
	// MetricsAddress and HealthAddress are what the process was told to listen on, host and port.
	MetricsAddress, HealthAddress string
	// Address is where a function answers, host and port.
	Address string
}

// Instances that are running, ordered by package.
func (r *Runtime) Instances() []Instance {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Instance
	for _, i := range r.instances {
		if info, ok := i.running(); ok {
			out = append(out, info)
		}
	}
	slices.SortFunc(out, compare)
	return out
}

// Kill the processes of a package without notice, as a crash would. They are started again at once.
func (r *Runtime) Kill(pkg string) error {
	_, err := r.end(pkg, (*instance).kill)
	return err
}

// Restart a package: ask it to end, and wait until another process has taken its place.
func (r *Runtime) Restart(ctx context.Context, pkg string) error {
	old, err := r.end(pkg, (*instance).terminate)
	if err != nil {
		return err
	}
	t := time.NewTicker(pollInterval)
	defer t.Stop()
	for {
		for _, i := range r.Instances() {
			if i.Package == pkg && !slices.Contains(old, i.PID) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("package %q did not start again: %w", pkg, ctx.Err())
		case <-t.C:
		}
	}
}

// end the running processes of a package in a given way, and return their ids.
func (r *Runtime) end(pkg string, how func(*instance)) ([]int, error) {
	r.mu.Lock()
	var ids []int
	var found []*instance
	for _, i := range r.instances {
		if info, ok := i.running(); ok && info.Package == pkg {
			ids, found = append(ids, info.PID), append(found, i)
		}
	}
	r.mu.Unlock()
	if len(found) == 0 {
		return nil, fmt.Errorf("package %q is not running", pkg)
	}
	for _, i := range found {
		how(i)
	}
	return ids, nil
}
