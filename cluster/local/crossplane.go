package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/cluster/local/process"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// Names that Crossplane's Helm chart fixes.
const (
	crossplaneName     = "crossplane"
	rbacManagerName    = "rbac-manager"
	rootCASecret       = "crossplane-root-ca"
	serverTLSSecret    = "crossplane-tls-server"
	clientTLSSecret    = "crossplane-tls-client"
	allowedClusterRole = "crossplane:allowed-provider-permissions"
)

// Names of Crossplane's processes and so of their logs.
const (
	crossplaneProcess     = "crossplane"
	crossplaneInitProcess = "crossplane-init"
	rbacManagerProcess    = "crossplane-rbac-manager"
)

// initAttempts is how often Crossplane's initialisation may run. It fails when the API server does not yet serve a CRD that it has
// just installed; in a cluster the kubelet restarts the init container.
const initAttempts = 5

// crossplane is what Crossplane's processes are started with.
type crossplane struct {
	env                  []string
	readyURL, metricsURL string
	// certs is the folder with the certificate that functions are called with.
	certs string
	// noCRDs is an empty folder.
	noCRDs string
}

// startCrossplane does what installing the Helm chart does, and runs what its Deployments would run.
func (p *Plane) startCrossplane(ctx context.Context) error {
	module, err := toolchain.ModuleDir(ctx, toolchain.CrossplaneModule)
	if err != nil {
		return err
	}
	crds, err := readDir(filepath.Join(module, "cluster", "crds"))
	if err != nil {
		return err
	}
	chart, err := renderChart(filepath.Join(module, "cluster", "charts", "crossplane"))
	if err != nil {
		return err
	}
	install, ictx := errgroup.WithContext(ctx)
	install.Go(func() error { return p.createCRDs(ictx, crds...) })
	install.Go(func() error {
		if err := p.createNamespace(ictx, SystemNamespace); err != nil {
			return err
		}
		return p.Apply(ictx, chart)
	})
	if err := install.Wait(); err != nil {
		return err
	}
	if err := p.configureCrossplane(ctx); err != nil {
		return err
	}
	// The core needs its certificate, which is the first thing that the initialisation makes. The rest may take its time.
	run, rctx := errgroup.WithContext(ctx)
	run.Go(func() error { return p.startRBACManager(rctx) })
	run.Go(func() error { return p.initCrossplane(rctx) })
	run.Go(func() error {
		if err := p.writeClientCertificate(rctx); err != nil {
			return err
		}
		return p.startCore(rctx)
	})
	return run.Wait()
}

// configureCrossplane sets the environment that the Helm chart gives Crossplane, with free ports and folders of the plane.
func (p *Plane) configureCrossplane(ctx context.Context) error {
	kubeconfig, err := p.ServiceAccountKubeconfig(ctx, SystemNamespace, crossplaneName)
	if err != nil {
		return err
	}
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	dir := filepath.Join(p.Dir, "crossplane")
	p.crossplane = crossplane{
		readyURL:   local("http", ports[0]) + "/readyz",
		metricsURL: local("http", ports[1]) + "/metrics",
		certs:      filepath.Join(dir, "tls-client"),
		noCRDs:     filepath.Join(dir, "no-crds"),
	}
	cache := filepath.Join(dir, "xpkg")
	for _, d := range []string{p.crossplane.certs, p.crossplane.noCRDs, cache} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return fmt.Errorf("cannot create folder of crossplane: %w", err)
		}
	}
	p.crossplane.env = []string{
		"KUBECONFIG=" + kubeconfig,
		"POD_NAMESPACE=" + SystemNamespace,
		"POD_SERVICE_ACCOUNT=" + crossplaneName,
		"ENABLE_WEBHOOKS=false",
		"TLS_CA_SECRET_NAME=" + rootCASecret,
		"TLS_SERVER_SECRET_NAME=" + serverTLSSecret,
		"TLS_CLIENT_SECRET_NAME=" + clientTLSSecret,
		"TLS_CLIENT_CERTS_DIR=" + p.crossplane.certs,
		"CRDS_PATH=" + p.crossplane.noCRDs,
		"XPKG_CACHE_DIR=" + cache,
		fmt.Sprintf("HEALTH_PROBE_PORT=%d", ports[0]),
		fmt.Sprintf("METRICS_PORT=%d", ports[1]),
	}
	return nil
}

// CrossplaneMetrics is the URL of the metrics of Crossplane's core.
func (p *Plane) CrossplaneMetrics() string { return p.crossplane.metricsURL }

// RestartCrossplane kills Crossplane's core as a crash would, starts it again and waits until it is ready.
func (p *Plane) RestartCrossplane(ctx context.Context) error {
	p.mu.Lock()
	core := p.processes[crossplaneProcess]
	p.mu.Unlock()
	core.Kill()
	return p.startCore(ctx)
}

// startCore starts Crossplane's core with its default flags, but for who runs the packages.
func (p *Plane) startCore(ctx context.Context) error {
	core, err := p.run(crossplaneProcess, toolchain.Crossplane, p.crossplane.env, "core", "start", "--package-runtime=External")
	if err != nil {
		return err
	}
	if err := core.Wait(ctx, func(ctx context.Context) error { return get(ctx, p.crossplane.readyURL) }); err != nil {
		return err
	}
	p.ready("crossplane")
	return nil
}

// startRBACManager starts the process that gives Crossplane access to the kinds that packages bring. It has no health endpoint.
func (p *Plane) startRBACManager(ctx context.Context) error {
	kubeconfig, err := p.ServiceAccountKubeconfig(ctx, SystemNamespace, rbacManagerName)
	if err != nil {
		return err
	}
	_, err = p.run(rbacManagerProcess, toolchain.Crossplane, []string{"KUBECONFIG=" + kubeconfig},
		"rbac", "start", "--provider-clusterrole="+allowedClusterRole)
	return err
}

// initCrossplane fills Crossplane's TLS Secrets and creates the objects that Crossplane expects to exist. The CRDs, which it would
// install one after the other and then be too impatient to use, are there already.
func (p *Plane) initCrossplane(ctx context.Context) error {
	if err := p.waitForAggregation(ctx); err != nil {
		return err
	}
	var proc *process.Process
	for range initAttempts {
		var err error
		if proc, err = p.run(crossplaneInitProcess, toolchain.Crossplane, p.crossplane.env, "core", "init"); err != nil {
			return err
		}
		select {
		case <-proc.Done():
		case <-ctx.Done():
			return fmt.Errorf("%s did not end, see %s: %w", crossplaneInitProcess, proc.LogFile(), ctx.Err())
		}
		p.forget(crossplaneInitProcess)
		// The default runtime config is the last object that the initialisation makes.
		last := &unstructured.Unstructured{}
		last.SetGroupVersionKind(schema.GroupVersionKind{Group: "pkg.crossplane.io", Version: "v1beta1", Kind: "DeploymentRuntimeConfig"})
		if err = p.client.Get(ctx, types.NamespacedName{Name: "default"}, last); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s failed %d times, see %s", crossplaneInitProcess, initAttempts, proc.LogFile())
}

// waitForAggregation waits until the controller manager has put the rules of Crossplane's aggregated role together.
func (p *Plane) waitForAggregation(ctx context.Context) error {
	return poll(ctx, func(ctx context.Context) error {
		role := &rbacv1.ClusterRole{}
		if err := p.client.Get(ctx, types.NamespacedName{Name: crossplaneName}, role); err != nil {
			return fmt.Errorf("cannot get ClusterRole %q: %w", crossplaneName, err)
		}
		if len(role.Rules) == 0 {
			return fmt.Errorf("no rules were aggregated into ClusterRole %q", crossplaneName)
		}
		return nil
	})
}

// writeClientCertificate waits for the certificate that Crossplane calls functions with and writes it to a folder, as a Secret volume
// would.
func (p *Plane) writeClientCertificate(ctx context.Context) error {
	s := &corev1.Secret{}
	if err := poll(ctx, func(ctx context.Context) error {
		if err := p.client.Get(ctx, types.NamespacedName{Namespace: SystemNamespace, Name: clientTLSSecret}, s); err != nil {
			return fmt.Errorf("cannot get Secret %q: %w", clientTLSSecret, err)
		}
		if len(s.Data) == 0 {
			return fmt.Errorf("cannot use Secret %q: it is empty", clientTLSSecret)
		}
		return nil
	}); err != nil {
		return err
	}
	for key, data := range s.Data {
		if err := os.WriteFile(filepath.Join(p.crossplane.certs, key), data, 0o600); err != nil {
			return fmt.Errorf("cannot write certificate: %w", err)
		}
	}
	return nil
}

// createNamespace creates a namespace if it does not exist.
func (p *Plane) createNamespace(ctx context.Context, name string) error {
	ns := &corev1.Namespace{}
	ns.SetName(name)
	if err := client.IgnoreAlreadyExists(p.client.Create(ctx, ns)); err != nil {
		return fmt.Errorf("cannot create Namespace %q: %w", name, err)
	}
	return nil
}
