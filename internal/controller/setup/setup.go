// Package setup is the one place that wires a managed resource's controller: options, logging, events, metrics, rate limits and what
// all kinds have in common. It knows no kind.
package setup

import (
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"

	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
)

// Options of every controller.
type Options struct {
	controller.Options

	// ControlPlane is the uid of the kube-system namespace: the identity of this control plane in ownership records.
	ControlPlane string
	// VerifyInterval is how often logins and extensions of an unchanged database are verified again.
	VerifyInterval time.Duration
	// Timeout of all calls of one reconcile.
	Timeout time.Duration
	// Secrets reads Secrets.
	Secrets *connect.Secrets
	// Postgres and OpenBao are the clients that all controllers share.
	Postgres *connect.Postgres
	OpenBao  *connect.OpenBao
	// Terdut shares connections to on-call servers, Credentials keeps the keys for them, in the provider's own namespace, and Oncall finds
	// the way to them through provider configs.
	Terdut      *connect.Terdut
	Credentials *credential.Store
	Oncall      *connect.Oncall

	// ExternalSecretVersions are the API versions of ExternalSecrets that contracts may name.
	ExternalSecretVersions []string
	// SecretGrants says that a SecretCheck is made only with a SecretAccessGrant.
	SecretGrants bool
	// ContractMetrics says that each SecretCheck has metrics of its own.
	ContractMetrics bool
	// Patience with on-call servers that do not answer for objects that are being deleted.
	Patience *Patience
}

// A Kind of managed resource and how it is reconciled.
type Kind[T Object] struct {
	GVK       schema.GroupVersionKind
	Object    T
	List      resource.ManagedList
	Connector managed.TypedExternalConnector[T]
	// Soon, when set, says that an object waits for something that nothing tells about, and is to be looked at again within seconds.
	Soon func(T) bool
	// Reconciler has what is particular to the kind. It comes after what is common.
	Reconciler []managed.ReconcilerOption
}

// soon is how long it takes until an object is looked at again that waits for something outside.
const soon = 5 * time.Second

// Options are the reconciler options of a kind.
func (k Kind[T]) options(mgr ctrl.Manager, o Options, went *gone, made *created) []managed.ReconcilerOption {
	name := managed.ControllerName(k.GVK.GroupKind().String())
	log := o.Logger.WithValues("controller", name)
	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor(name), o.EventFilterFunctions...)
	opts := []managed.ReconcilerOption{
		managed.WithTypedExternalConnector[T](&connector[T]{
			TypedExternalConnector: k.Connector,
			release:                &releaser{live: mgr.GetAPIReader(), kind: k.GVK.Kind, recorder: recorder, log: log},
			gone:                   went,
			created:                made,
		}),
		// External names are not the object's name by default: connectors set them.
		managed.WithInitializers(),
		// Names are chosen here and every create is recognised and finished by Observe, so an interrupted one never blocks.
		managed.WithDeterministicExternalName(true),
		// The systems behind our kinds are consistent: what a create made is there for the next observation.
		managed.WithCreationGracePeriod(0),
		managed.WithCriticalAnnotationUpdater(&annotationPatcher{client: mgr.GetClient()}),
		managed.WithTimeout(o.Timeout),
		managed.WithPollInterval(o.PollInterval),
		managed.WithMinPollInterval(time.Second),
		managed.WithLogger(log),
		managed.WithRecorder(recorder),
	}
	if k.Soon != nil {
		opts = append(opts, managed.WithPollIntervalHook(func(mg resource.Managed, interval time.Duration) time.Duration {
			if o, ok := mg.(T); ok && k.Soon(o) {
				return min(interval, soon)
			}
			return interval
		}))
	}
	if o.Features.Enabled(feature.EnableBetaManagementPolicies) {
		opts = append(opts, managed.WithManagementPolicies())
	}
	if o.MetricOptions != nil && o.MetricOptions.MRMetrics != nil {
		opts = append(opts, managed.WithMetricRecorder(o.MetricOptions.MRMetrics))
	}
	return append(opts, k.Reconciler...)
}

// Managed starts a controller of a kind. The watches wake objects of the kind for changes elsewhere.
func Managed[T Object](mgr ctrl.Manager, o Options, k Kind[T], watches ...func(*builder.Builder)) error {
	if m := o.MetricOptions; m != nil && m.MRStateMetrics != nil {
		r := statemetrics.NewMRStateRecorder(mgr.GetClient(), o.Logger, m.MRStateMetrics, k.List, m.PollStateMetricInterval)
		if err := mgr.Add(r); err != nil {
			return fmt.Errorf("cannot register state metrics of %s: %w", k.GVK.Kind, err)
		}
	}

	// A counter that appears with its first count has not risen as far as Prometheus knows.
	released.WithLabelValues(k.GVK.Kind)
	name := managed.ControllerName(k.GVK.GroupKind().String())
	b := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(o.ForControllerRuntime()).
		// On For alone: as an event filter it would silence the other watches, whose objects change in other ways.
		For(k.Object, builder.WithPredicates(resource.DesiredStateChanged()))
	for _, w := range watches {
		w(b)
	}
	went := &gone{}
	made := &created{policies: o.Features.Enabled(feature.EnableBetaManagementPolicies)}
	r := managed.NewReconciler(made.manager(mgr), resource.ManagedKind(k.GVK), k.options(mgr, o, went, made)...)
	if err := b.Complete(ratelimiter.NewReconciler(name, went.soon(made.pass(r)), o.GlobalRateLimiter)); err != nil {
		return fmt.Errorf("cannot set up controller of %s: %w", k.GVK.Kind, err)
	}
	return nil
}

// Gated calls a set-up function once all the kinds it needs are served, or at once when there is no gate. A controller that cannot start
// afterwards would leave a provider that looks healthy and does nothing, so that is a panic.
func Gated(o Options, setup func() error, kinds ...schema.GroupVersionKind) error {
	if o.Gate == nil {
		return setup()
	}
	o.Gate.Register(func() {
		if err := setup(); err != nil {
			names := make([]string, len(kinds))
			for i := range kinds {
				names[i] = kinds[i].GroupKind().String()
			}
			panic(fmt.Sprintf("cannot start controllers of %s: %v", strings.Join(names, ", "), err))
		}
	}, kinds...)
	return nil
}
