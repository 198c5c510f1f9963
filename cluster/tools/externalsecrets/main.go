// Command external-secrets is the External Secrets controller cut down to what the local control plane needs: the reconcilers of
// SecretStore, ClusterSecretStore and ExternalSecret, with the vault and fake providers. The full controller links the SDK of every
// cloud it can talk to, which costs minutes of build time.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	genv1alpha1 "github.com/external-secrets/external-secrets/apis/generators/v1alpha1"
	ctrlcommon "github.com/external-secrets/external-secrets/pkg/controllers/common"
	"github.com/external-secrets/external-secrets/pkg/controllers/externalsecret"
	"github.com/external-secrets/external-secrets/pkg/controllers/externalsecret/esmetrics"
	ctrlmetrics "github.com/external-secrets/external-secrets/pkg/controllers/metrics"
	"github.com/external-secrets/external-secrets/pkg/controllers/secretstore"
	"github.com/external-secrets/external-secrets/pkg/controllers/secretstore/cssmetrics"
	"github.com/external-secrets/external-secrets/pkg/controllers/secretstore/ssmetrics"
	"github.com/external-secrets/external-secrets/pkg/feature"

	_ "github.com/external-secrets/external-secrets/pkg/provider/fake"
	_ "github.com/external-secrets/external-secrets/pkg/provider/vault"
)

// controllerClass is the class of stores and secrets that name none.
const controllerClass = "default"

func main() {
	metrics := flag.String("metrics-bind-address", "0", "Address of the metrics endpoint; 0 turns it off.")
	health := flag.String("health-probe-bind-address", "0", "Address of the health endpoints; 0 turns them off.")
	concurrent := flag.Int("concurrent", 4, "Number of objects of one kind reconciled at a time.")
	storeInterval := flag.Duration("store-requeue-interval", 5*time.Minute, "How often a healthy store is validated again.")
	flag.Parse() // The --kubeconfig flag is controller-runtime's.

	if err := run(*metrics, *health, *concurrent, *storeInterval); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(metrics, health string, concurrent int, storeInterval time.Duration) error {
	ctrl.SetLogger(zap.New())

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, esv1.AddToScheme, genv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("cannot build scheme: %w", err)
		}
	}

	cfg, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("cannot load kubeconfig: %w", err)
	}
	// The limits of the full controller.
	cfg.QPS, cfg.Burst = 50, 100

	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: metrics},
		HealthProbeBindAddress: health,
		Client:                 client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}},
	})
	if err != nil {
		return fmt.Errorf("cannot create manager: %w", err)
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("cannot add readiness check: %w", err)
	}
	if err := setup(mgr, concurrent, storeInterval); err != nil {
		return err
	}
	for _, f := range feature.Features() {
		if f.Initialize != nil {
			f.Initialize()
		}
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

// setup adds the three reconcilers, configured as the full controller configures them.
func setup(mgr ctrl.Manager, concurrent int, storeInterval time.Duration) error {
	ctrlmetrics.SetUpLabelNames(false)
	esmetrics.SetUpMetrics()
	ssmetrics.SetUpMetrics()
	cssmetrics.SetUpMetrics()

	options := func() controller.Options {
		return controller.Options{MaxConcurrentReconciles: concurrent, RateLimiter: ctrlcommon.BuildRateLimiter()}
	}
	if err := (&secretstore.StoreReconciler{
		Client: mgr.GetClient(), Log: ctrl.Log.WithName("SecretStore"), Scheme: mgr.GetScheme(),
		ControllerClass: controllerClass, RequeueInterval: storeInterval,
	}).SetupWithManager(mgr, options()); err != nil {
		return fmt.Errorf("cannot set up SecretStore controller: %w", err)
	}
	if err := (&secretstore.ClusterStoreReconciler{
		Client: mgr.GetClient(), Log: ctrl.Log.WithName("ClusterSecretStore"), Scheme: mgr.GetScheme(),
		ControllerClass: controllerClass, RequeueInterval: storeInterval,
	}).SetupWithManager(mgr, options()); err != nil {
		return fmt.Errorf("cannot set up ClusterSecretStore controller: %w", err)
	}

	secrets, err := ctrlcommon.BuildManagedSecretClient(mgr, "")
	if err != nil {
		return fmt.Errorf("cannot create client for managed secrets: %w", err)
	}
	if err := (&externalsecret.Reconciler{
		Client: mgr.GetClient(), SecretClient: secrets, Log: ctrl.Log.WithName("ExternalSecret"), Scheme: mgr.GetScheme(),
		RestConfig: mgr.GetConfig(), ControllerClass: controllerClass, RequeueInterval: time.Hour,
		ClusterSecretStoreEnabled: true, EnableFloodGate: true,
	}).SetupWithManager(mgr, options()); err != nil {
		return fmt.Errorf("cannot set up ExternalSecret controller: %w", err)
	}
	return nil
}
