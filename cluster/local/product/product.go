// Package product runs the whole product on a local control plane: it builds the packages of this repository, installs them through
// Crossplane's package manager from a local registry, runs what was installed, and configures it to use the plane's PostgreSQL and
// OpenBao, as a platform admin would.
package product

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/ryuvia/provider-terdut/apis"
	"github.com/ryuvia/provider-terdut/cluster/images"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/packages"
	packageruntime "github.com/ryuvia/provider-terdut/cluster/local/runtime"
	"github.com/ryuvia/provider-terdut/cluster/local/servers"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Names of the packages as the package runtime knows them.
const (
	Provider             = "provider-terdut"
	FunctionTenant       = "function-tenant"
	FunctionTerdutServer = "function-terdutserver"
	FunctionContract     = "function-secretcontract"
	Configuration        = "configuration-terdut"
	ConfigurationClaims  = "configuration-terdut-claims"
)

// A Flavour is how the kinds are offered to application teams. Their manifests are the same in both.
type Flavour string

// Flavours, of which one is installed.
const (
	// FlavourComposites offers them as namespaced composite resources.
	FlavourComposites Flavour = "composites"
	// FlavourClaims offers them as claims of composite resources of cluster scope.
	FlavourClaims Flavour = "claims"
)

// configuration is the package that offers the kinds in this flavour.
func (f Flavour) configuration() (string, error) {
	switch f {
	case FlavourComposites, "":
		return Configuration, nil
	case FlavourClaims:
		return ConfigurationClaims, nil
	}
	return "", fmt.Errorf("there is no flavour %q: it is %s or %s", f, FlavourComposites, FlavourClaims)
}

// Version that the packages are installed as.
const Version = "v0.1.0"

// Options of a product.
type Options struct {
	// Plane are options of the control plane.
	Plane local.Options
	// ProviderArgs are flags of the provider beside those that the runtime gives.
	ProviderArgs []string
	// ProviderConfig, when set, changes how the provider reaches the API server. It is called each time before the provider starts.
	ProviderConfig func(*rest.Config) error
	// FunctionArgs are flags of the functions beside those that the runtime gives.
	FunctionArgs []string
	// MaxConnections of the ClusterProviderConfig of PostgreSQL; 0 leaves the default.
	MaxConnections int
	// Flavour that is installed; FlavourComposites when it is empty.
	Flavour Flavour
	// Source of what is installed. The default is this repository as it is.
	Source *Source
}

// A Product is installed on a running control plane.
type Product struct {
	Plane   *local.Plane
	Runtime *packageruntime.Runtime
	// Servers are the on-call servers that TerdutServers ask for.
	Servers *servers.Servers
	// Client of the administrator, which knows the product's kinds.
	Client client.Client

	registry *packages.Registry
	options  Options
	root     string
	source   Source
	// configuration is the package of the flavour.
	configuration string
}

// Start a control plane, install the product and wait until it is ready for Tenants. When it fails nothing is left running.
func Start(ctx context.Context, o Options) (*Product, error) {
	if o.Plane.Progress == nil {
		o.Plane.Progress = io.Discard
	}
	own, err := Own(ctx)
	if err != nil {
		return nil, err
	}
	configuration, err := o.Flavour.configuration()
	if err != nil {
		return nil, err
	}
	source := own
	if o.Source != nil {
		source = *o.Source
	}
	// Before the packages are built, so that two cores build one thing at a time.
	if _, err := toolchain.Ensure(ctx, local.Tools, o.Plane.Progress); err != nil {
		return nil, err
	}
	p := &Product{options: o, root: own.Dir, source: source, configuration: configuration}
	if err := p.start(ctx); err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

func (p *Product) start(ctx context.Context) error {
	var refs map[string]string
	var standIn string
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		p.Plane, err = local.Start(gctx, p.options.Plane)
		return err
	})
	g.Go(func() (err error) {
		refs, standIn, err = p.push(gctx)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}

	var err error
	if p.Client, err = client.New(p.Plane.Config(), client.Options{Scheme: scheme()}); err != nil {
		return fmt.Errorf("cannot create client: %w", err)
	}
	if err := p.applyRoles(ctx, p.source); err != nil {
		return err
	}
	p.Servers, err = servers.Start(ctx, servers.Options{
		Config: p.Plane.Config(), Binary: standIn, Dir: filepath.Join(p.Plane.Dir, "servers"), Logs: p.Plane.Logs,
	})
	if err != nil {
		return err
	}
	p.Runtime, err = packageruntime.Start(ctx, packageruntime.Options{
		Config:    p.Plane.Config(),
		Namespace: local.SystemNamespace,
		Dir:       filepath.Join(p.Plane.Dir, "packages"),
		Logs:      p.Plane.Logs,
		ProviderKubeconfig: func(ctx context.Context, pkg string) (string, error) {
			return p.Plane.ServiceAccountKubeconfig(ctx, local.SystemNamespace, pkg, p.providerConfig)
		},
		Packages: map[string]packageruntime.Package{
			// On-call servers have names in the cluster, which nothing else resolves here. Loopback addresses never go through a proxy.
			Provider:             {Args: p.options.ProviderArgs, Env: []string{"HTTP_PROXY=" + p.Servers.ProxyURL().String()}},
			FunctionTenant:       {Args: p.options.FunctionArgs},
			FunctionTerdutServer: {Args: p.options.FunctionArgs},
			FunctionContract:     {Args: p.options.FunctionArgs},
		},
	})
	if err != nil {
		return err
	}
	if err := p.install(ctx, p.configuration, refs[p.configuration]); err != nil {
		return err
	}
	return p.configure(ctx)
}

// providerConfig changes the provider's client configuration as the options say.
func (p *Product) providerConfig(cfg *rest.Config) error {
	if p.options.ProviderConfig == nil {
		return nil
	}
	return p.options.ProviderConfig(cfg)
}

// push builds the packages and pushes them to a registry of our own. It also builds the stand-in for the on-call server, of which there is
// no image, and returns its path.
func (p *Product) push(ctx context.Context) (refs map[string]string, standIn string, err error) {
	cache, err := toolchain.CacheDir()
	if err != nil {
		return nil, "", err
	}
	// Layers are named by their digests, so all planes share the folder.
	if p.registry, err = packages.Start(filepath.Join(cache, "registry")); err != nil {
		return nil, "", err
	}
	if refs, err = p.pushSource(ctx, p.source); err != nil {
		return nil, "", err
	}
	b, err := builder(p.root)
	if err != nil {
		return nil, "", err
	}
	standIn, err = b.Binary(ctx, images.Package{Name: servers.AppName, Main: "test/terdutserver/cmd/terdut-server"})
	return refs, standIn, err
}

// pushSource builds the packages of a source and pushes them to the registry.
func (p *Product) pushSource(ctx context.Context, s Source) (refs map[string]string, err error) {
	b, err := builder(s.Dir)
	if err != nil {
		return nil, err
	}
	if refs, err = p.registry.PushAll(ctx, b, s.Version, s.Packages); err != nil {
		return nil, err
	}
	p.report("packages are built and pushed as %s", s.Version)
	return refs, nil
}

// builder of programs for this machine from the source in a folder.
func builder(source string) (*images.Builder, error) {
	cache, err := toolchain.CacheDir()
	if err != nil {
		return nil, err
	}
	return &images.Builder{
		Source: source, Cache: filepath.Join(cache, "images"), Platform: v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH},
	}, nil
}

// Stop everything. It may be called more than once, and after a failed start.
func (p *Product) Stop() {
	if p.Runtime != nil {
		p.Runtime.Stop()
	}
	if p.Servers != nil {
		p.Servers.Stop()
	}
	if p.Plane != nil {
		p.Plane.Stop()
	}
	if p.registry != nil {
		p.registry.Stop()
	}
}

// Apply YAML documents as the administrator.
func (p *Product) Apply(ctx context.Context, documents []byte) error {
	return p.Plane.Apply(ctx, documents)
}

// ApplyFile applies a file of the repository as the administrator.
func (p *Product) ApplyFile(ctx context.Context, path string) error {
	documents, err := os.ReadFile(filepath.Join(p.root, path))
	if err != nil {
		return fmt.Errorf("cannot read manifest: %w", err)
	}
	return p.Plane.Apply(ctx, documents)
}

func (p *Product) report(format string, args ...any) {
	_, _ = fmt.Fprintf(p.options.Plane.Progress, "        "+format+"\n", args...)
}

// scheme knows the kinds of Kubernetes, of Crossplane's packages and of the product.
func scheme() *kruntime.Scheme {
	s := kruntime.NewScheme()
	for _, add := range []func(*kruntime.Scheme) error{
		clientgoscheme.AddToScheme, extv1.AddToScheme, apis.AddToScheme, pkgv1.SchemeBuilder.AddToScheme, pkgv1beta1.SchemeBuilder.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err) // Kinds that are registered twice: a mistake in the program.
		}
	}
	return s
}
