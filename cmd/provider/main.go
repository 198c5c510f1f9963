// Command provider runs the controllers of provider-terdut.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"
	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ryuvia/provider-terdut/apis"
	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	tcontroller "github.com/ryuvia/provider-terdut/internal/controller"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/internal/version"
)

// leaderElectionID names the lease that one of several providers holds.
const leaderElectionID = "provider-terdut.terdut.ryuvia.com"

type cli struct {
	Debug bool `help:"Log debug messages." short:"d" env:"DEBUG"`

	PollInterval            time.Duration `default:"1m" env:"POLL_INTERVAL" help:"How often an unchanged managed resource is compared with what it manages."`
	VerifyInterval          time.Duration `default:"10m" env:"VERIFY_INTERVAL" help:"How often logins and extensions of an unchanged database are verified again. A provider config can set its own."`
	ReconcileTimeout        time.Duration `default:"1m" env:"RECONCILE_TIMEOUT" help:"How long all calls of one reconcile may take together."`
	Concurrency             int           `default:"10" env:"CONCURRENCY" help:"How many resources of a kind are reconciled at a time."`
	MaxReconcileRate        int           `default:"100" env:"MAX_RECONCILE_RATE" help:"How many reconciles are started per second, over all kinds."`
	WatchNamespaces         []string      `env:"WATCH_NAMESPACES" help:"Namespaces whose objects are reconciled, separated by commas, beside the provider's own, where Secrets of cluster provider configs must be then. Default: all." sep:","`
	LeaderElection          bool          `env:"LEADER_ELECTION" help:"Let one of several providers work, the others stand by."`
	PodNamespace            string        `default:"crossplane-system" env:"POD_NAMESPACE" help:"Namespace that the provider runs in."`
	SecretAuthorization     string        `default:"trusted-authors" enum:"trusted-authors,grants" env:"SECRET_AUTHORIZATION" help:"Who may have a Secret checked: trusted-authors, whoever may write contracts; grants, only contracts that a SecretAccessGrant names."`
	ExternalSecretsVersions []string      `default:"external-secrets.io/v1" env:"EXTERNAL_SECRETS_VERSIONS" help:"API versions of ExternalSecrets that contracts may name, separated by commas." sep:","`
	ContractMetrics         bool          `env:"CONTRACT_METRICS" help:"Publish metrics of each SecretCheck by namespace and name, beside those of all together."`

	SafeStart         bool          `default:"true" env:"SAFE_START" help:"Wait for the kinds to be served before their controllers start." negatable:""`
	MetricsAddress    string        `default:":8080" env:"METRICS_ADDRESS" help:"Address that metrics are served at; 0 for none."`
	HealthAddress     string        `default:":8081" env:"HEALTH_ADDRESS" help:"Address that /healthz and /readyz are served at; 0 for none."`
	MetricsSecure     bool          `env:"METRICS_SECURE" help:"Serve metrics with TLS, and only to those whom the API server knows by their token and lets get /metrics."`
	MetricsCertDir    string        `env:"METRICS_CERT_DIR" help:"Folder with the certificate and key that metrics are served with (tls.crt, tls.key), which may be renewed there. Default: a self-signed certificate of each start's own."`
	StateMetricsEvery time.Duration `default:"1m" env:"STATE_METRICS_INTERVAL" help:"How often managed resources are counted by state for metrics."`

	Version kong.VersionFlag `help:"Print the version and exit."`
}

func main() {
	c := cli{}
	ctx := kong.Parse(&c, kong.Name("provider"), kong.Description("Crossplane provider of provider-terdut."), kong.Vars{"version": version.Version})
	ctx.FatalIfErrorf(c.run(ctrl.SetupSignalHandler()))
}

func (c *cli) run(ctx context.Context) error {
	zl := zap.New(zap.UseDevMode(c.Debug))
	log := logging.NewLogrLogger(zl.WithName("provider-terdut"))
	// Also for klog and client-go, whose request logs would hold bodies at high verbosity: they stay at the default.
	ctrl.SetLogger(zl)

	cfg, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("cannot find how to reach the API server: %w", err)
	}
	// Crossplane's finalizer is one of which the API server warns at each write.
	cfg.WarningHandlerWithContext = ctrllog.NewKubeAPIWarningLogger(ctrllog.KubeAPIWarningLoggerOptions{Deduplicate: true})
	mgr, err := c.manager(ctx, cfg, log)
	if err != nil {
		return err
	}
	o, err := c.options(ctx, mgr, log)
	if err != nil {
		return err
	}
	if c.SafeStart {
		g := new(gate.Gate[schema.GroupVersionKind])
		o.Gate = g
		if err := customresourcesgate.Setup(mgr, o.Options); err != nil {
			return fmt.Errorf("cannot set up the gate for custom resource definitions: %w", err)
		}
	}
	if err := tcontroller.Setup(mgr, o); err != nil {
		return err
	}
	for _, add := range []func(string, healthz.Checker) error{mgr.AddHealthzCheck, mgr.AddReadyzCheck} {
		if err := add("ping", healthz.Ping); err != nil {
			return fmt.Errorf("cannot add health check: %w", err)
		}
	}
	return mgr.Start(ctx)
}

func (c *cli) manager(ctx context.Context, cfg *rest.Config, log logging.Logger) (ctrl.Manager, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, apis.AddToScheme} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("cannot build scheme: %w", err)
		}
	}
	m, err := c.metrics()
	if err != nil {
		return nil, err
	}
	kube, err := client.New(cfg, client.Options{Scheme: s})
	if err != nil {
		return nil, fmt.Errorf("cannot create client: %w", err)
	}
	watched, without, err := rights(ctx, kube, c.WatchNamespaces)
	if err != nil {
		return nil, err
	}
	if len(without) > 0 {
		log.Info("No rights in some of the namespaces that are to be watched: they are left out", "namespaces", without)
		// None that is watched would be all.
		watched = append(watched, c.PodNamespace)
	}
	o := ctrl.Options{
		Scheme:                        s,
		LeaderElection:                c.LeaderElection,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionNamespace:       c.PodNamespace,
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       m,
		HealthProbeBindAddress:        c.HealthAddress,
		Cache:                         cacheOptions(c.PodNamespace, watched...),
		// Secrets are read from the API server when they are needed and never kept.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		NewClient: func(cfg *rest.Config, o client.Options) (client.Client, error) {
			cl, err := client.New(cfg, o)
			if err != nil {
				return nil, err
			}
			return setup.NewClient(cl), nil
		},
	}
	mgr, err := ctrl.NewManager(ratelimiter.LimitRESTConfig(cfg, c.MaxReconcileRate), o)
	if err != nil {
		return nil, fmt.Errorf("cannot create manager: %w", err)
	}
	if len(without) > 0 {
		if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return awaitRights(ctx, kube, rightsInterval, without) })); err != nil {
			return nil, fmt.Errorf("cannot wait for rights: %w", err)
		}
	}
	return mgr, nil
}

// metrics says how metrics are served. Nothing else is served with them, profiles least of all: those hold what went through memory.
func (c *cli) metrics() (server.Options, error) {
	o := server.Options{BindAddress: c.MetricsAddress, SecureServing: c.MetricsSecure, CertDir: c.MetricsCertDir}
	if !c.MetricsSecure {
		if c.MetricsCertDir != "" {
			return o, errors.New("a certificate for metrics is of use with --metrics-secure only")
		}
		return o, nil
	}
	o.FilterProvider = filters.WithAuthenticationAndAuthorization
	if c.MetricsCertDir != "" {
		// The server would put a self-signed one in the place of a certificate that is not there, and nobody could tell why it is refused.
		if _, err := tls.LoadX509KeyPair(filepath.Join(c.MetricsCertDir, corev1.TLSCertKey), filepath.Join(c.MetricsCertDir, corev1.TLSPrivateKeyKey)); err != nil {
			// The cause may quote from the key.
			return o, fmt.Errorf("cannot load certificate for metrics: folder %q has no tls.crt and tls.key that can be read and belong together", c.MetricsCertDir)
		}
	}
	return o, nil
}

func (c *cli) options(ctx context.Context, mgr ctrl.Manager, log logging.Logger) (setup.Options, error) {
	mr, state := managed.NewMRMetricRecorder(), statemetrics.NewMRStateMetrics()
	metrics.Registry.MustRegister(mr, state)

	f := &feature.Flags{}
	f.Enable(feature.EnableBetaManagementPolicies)

	system := &corev1.Namespace{}
	if err := mgr.GetAPIReader().Get(ctx, types.NamespacedName{Name: "kube-system"}, system); err != nil {
		return setup.Options{}, fmt.Errorf("cannot identify the control plane by its kube-system namespace: %w", err)
	}
	secrets := connect.NewSecrets(mgr.GetCache(), mgr.GetAPIReader())
	kube := mgr.GetClient()
	credentials, terdut := credential.NewStore(kube, c.PodNamespace), connect.NewTerdut()
	return setup.Options{
		Options: controller.Options{
			Logger:                  log,
			MaxConcurrentReconciles: c.Concurrency,
			PollInterval:            c.PollInterval,
			GlobalRateLimiter:       ratelimiter.NewGlobal(c.MaxReconcileRate),
			Features:                f,
			MetricOptions:           &controller.MetricOptions{PollStateMetricInterval: c.StateMetricsEvery, MRMetrics: mr, MRStateMetrics: state},
		},
		ControlPlane:   string(system.UID),
		VerifyInterval: c.VerifyInterval,
		Timeout:        c.ReconcileTimeout,
		Secrets:        secrets,
		Postgres:       connect.NewPostgres(kube, secrets, resource.NewProviderConfigUsageTracker(kube, &postgresqlv1alpha1.ProviderConfigUsage{})),
		OpenBao:        connect.NewOpenBao(kube, secrets, resource.NewProviderConfigUsageTracker(kube, &openbaov1alpha1.ProviderConfigUsage{})),
		Terdut:         terdut,
		Credentials:    credentials,
		Patience:       &setup.Patience{},
		Oncall:         connect.NewOncall(kube, secrets, credentials, terdut, resource.NewProviderConfigUsageTracker(kube, &oncallv1alpha1.ProviderConfigUsage{})),

		ExternalSecretVersions: c.ExternalSecretsVersions,
		SecretGrants:           c.SecretAuthorization == "grants",
		ContractMetrics:        c.ContractMetrics,
	}, nil
}
