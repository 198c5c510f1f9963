// Package local runs a whole Crossplane control plane as processes of this machine: etcd, kube-apiserver, the controller manager,
// Crossplane with its RBAC manager, the External Secrets controller, PostgreSQL and a key-value server that speaks OpenBao's API. There
// is no kubelet, so no pod ever runs; packages are run by an external package runtime.
//
// Crossplane runs as it does in a cluster: with the token of its own ServiceAccount, the roles of its Helm chart and its default
// flags. Several planes run side by side, each with a folder and ports of its own, and Stop leaves nothing running.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/process"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// SystemNamespace is where Crossplane and what it installs have their ServiceAccounts and Secrets.
const SystemNamespace = "crossplane-system"

// startTimeout bounds how long a plane whose executables are built may take to start, on a slow machine that does other things too.
const startTimeout = 3 * time.Minute

// stopGrace is how long a process may take to end when asked to, before it is killed.
const stopGrace = 5 * time.Second

// Tools are the executables that Start needs, in the order in which it needs them.
var Tools = []string{
	toolchain.Etcd, toolchain.KubeAPIServer, toolchain.KubeControllerManager, toolchain.Crossplane, toolchain.KVServer,
	toolchain.ExternalSecrets,
}

// Options of a plane. The zero value is useful.
type Options struct {
	// Dir holds the state of the plane: keys, kubeconfigs, logs and data. It must be empty or missing. The default is a new folder
	// in the system's temporary folder.
	Dir string
	// Keep leaves Dir in place when the plane stops. Without it Dir is removed, unless Start failed: the logs are then still needed.
	Keep bool
	// Progress receives a line for each part that is built or has become ready. The default discards them.
	Progress io.Writer
	// Postgres are options of the PostgreSQL server. Its default folder is postgres in Dir.
	Postgres postgres.Options
	// APIServerArgs are flags of kube-apiserver beside those that it is run with.
	APIServerArgs []string
}

// A Plane is a running control plane.
type Plane struct {
	// Dir holds the state of the plane.
	Dir string
	// Logs is the folder with one log file per process.
	Logs string
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string
	// Postgres is the PostgreSQL server.
	Postgres *postgres.Server
	// OpenBao is the key-value server. The ClusterSecretStore named SecretStore reads from it.
	OpenBao *openbao.Server

	keep     bool
	progress io.Writer
	started  time.Time
	bin      map[string]string
	config   *rest.Config
	client   client.Client

	crossplane crossplane

	mu        sync.Mutex
	stopped   bool
	processes map[string]*process.Process
}

// Start a plane and wait until all of its parts are ready. Executables that are missing are built first, which takes minutes. When
// Start fails nothing is left running, and the error names the folder of the logs and, if one process is to blame, its log file.
func Start(ctx context.Context, o Options) (*Plane, error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	bin, err := toolchain.Ensure(ctx, Tools, o.Progress)
	if err != nil {
		return nil, err
	}
	dir, err := stateDir(o.Dir)
	if err != nil {
		return nil, err
	}
	p := &Plane{
		Dir: dir, Logs: filepath.Join(dir, "logs"), Kubeconfig: filepath.Join(dir, "kubeconfig"),
		keep: o.Keep, progress: &syncWriter{w: o.Progress}, started: time.Now(),
		bin: bin, processes: map[string]*process.Process{},
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.start(ctx, o); err != nil {
		p.keep = true
		p.Stop()
		return nil, fmt.Errorf("cannot start the control plane, its logs are in %s: %w", p.Logs, err)
	}
	return p, nil
}

// start the parts, each as soon as what it needs is there.
func (p *Plane) start(ctx context.Context, o Options) error {
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return p.startControlPlane(gctx, o) })
	g.Go(func() error {
		if o.Postgres.Dir == "" {
			o.Postgres.Dir = filepath.Join(p.Dir, "postgres")
		}
		var err error
		if p.Postgres, err = postgres.Start(gctx, o.Postgres); err != nil {
			return err
		}
		p.ready("postgresql")
		return nil
	})
	g.Go(func() error {
		var err error
		if p.OpenBao, err = openbao.Start(gctx, openbao.Options{Dir: p.Logs, Binary: p.bin[toolchain.KVServer]}); err != nil {
			return err
		}
		p.ready("openbao")
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if err := p.enableKubernetesAuth(ctx); err != nil {
		return err
	}
	return p.createSecretStore(ctx)
}

// startControlPlane starts what belongs to Kubernetes.
func (p *Plane) startControlPlane(ctx context.Context, o Options) error {
	if err := p.startAPIServer(ctx, o.APIServerArgs); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, extv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("cannot build scheme: %w", err)
		}
	}
	var err error
	if p.client, err = client.New(p.Config(), client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("cannot create client of the control plane: %w", err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return p.startControllerManager(ctx) })
	g.Go(func() error { return p.startCrossplane(ctx) })
	g.Go(func() error { return p.startExternalSecrets(ctx) })
	return g.Wait()
}

// Config returns a copy of the administrator's client configuration, without a client-side rate limit.
func (p *Plane) Config() *rest.Config { return rest.CopyConfig(p.config) }

// Check fails when a process of the plane has ended or Crossplane does not answer. The error names the log file.
func (p *Plane) Check(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return errors.New("the control plane was stopped")
	}
	for name, proc := range p.processes {
		select {
		case <-proc.Done():
			return fmt.Errorf("%s has ended, see %s", name, proc.LogFile())
		default:
		}
	}
	if err := get(ctx, p.crossplane.readyURL); err != nil {
		return fmt.Errorf("crossplane is not ready, see %s: %w", p.processes[crossplaneProcess].LogFile(), err)
	}
	return nil
}

// Stop all processes of the plane and remove its folder unless it is to be kept. It may be called more than once.
func (p *Plane) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	p.stopped = true

	// Controllers first: they would otherwise fill their logs with refused connections.
	var wg sync.WaitGroup
	for name, proc := range p.processes {
		if name != toolchain.Etcd && name != toolchain.KubeAPIServer {
			wg.Go(func() { proc.Stop(stopGrace) })
		}
	}
	if p.Postgres != nil {
		wg.Go(p.Postgres.Stop)
	}
	if p.OpenBao != nil {
		wg.Go(p.OpenBao.Stop)
	}
	wg.Wait()
	// The API server drains connections for up to a minute when asked to end, and nothing that it or etcd holds is used again.
	for _, name := range []string{toolchain.KubeAPIServer, toolchain.Etcd} {
		if proc, ok := p.processes[name]; ok {
			proc.Kill()
		}
	}
	if !p.keep {
		_ = os.RemoveAll(p.Dir)
	}
}
