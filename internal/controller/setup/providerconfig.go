package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/conditions"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ryuvia/provider-terdut/internal/connect"
)

const (
	// configFinalizer keeps a provider config while managed resources refer to it.
	configFinalizer = "in-use.terdut.ryuvia.com"

	probeInterval      = 5 * time.Minute
	probeRetryInterval = 30 * time.Second
	probeTimeout       = 20 * time.Second
)

// A ProviderConfigKind is one of the two kinds of provider config of a group.
type ProviderConfigKind struct {
	GVK schema.GroupVersionKind
	// New returns an empty config, NewList an empty list of configs.
	New     func() resource.ProviderConfig
	NewList func() client.ObjectList
	// Users are empty lists of the kinds of managed resource that may refer to the config.
	Users []resource.ManagedList
	// UserKinds are empty objects of the same kinds.
	UserKinds []resource.ModernManaged
	// Secrets that the config names.
	Secrets func(resource.ProviderConfig) []types.NamespacedName
	// Version, when set, changes when something else does that a probe should look at.
	Version func(context.Context, resource.ProviderConfig) (string, error)
	// Watch, when set, wakes configs for such changes.
	Watch func(*builder.Builder)
	// Probe looks at the server, reports on the config's status and returns whether the config is healthy.
	Probe func(context.Context, resource.ProviderConfig) bool
	// Forget the clients of a config that is gone.
	Forget func(types.UID)
}

// ProviderConfig starts a controller of one kind of provider config. It counts the managed resources that refer to a config, keeps the
// config while there are any, and probes the server when the config or its Secrets change and every five minutes.
//
// Managed resources are counted, not usage records: no record can be made in a namespace that is being deleted.
func ProviderConfig(mgr ctrl.Manager, o Options, k ProviderConfigKind) error {
	r := &configReconciler{kube: mgr.GetClient(), live: mgr.GetAPIReader(), kind: k, secrets: o.Secrets, probed: map[types.UID]probe{}}
	b := ctrl.NewControllerManagedBy(mgr).
		Named(providerconfig.ControllerName(k.GVK.GroupKind().String())).
		WithOptions(o.ForControllerRuntime()).
		For(k.New(), builder.WithPredicates(predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, deletionPredicate())))
	for _, user := range k.UserKinds {
		b.Watches(user, handler.EnqueueRequestsFromMapFunc(r.configOfUser), builder.WithPredicates(comesOrGoes()))
	}
	WatchSecrets(r.configsOfSecret)(b)
	if k.Watch != nil {
		k.Watch(b)
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("cannot set up controller of %s: %w", k.GVK.GroupKind(), err)
	}
	return nil
}

// probe remembers what was probed and when.
type probe struct {
	version string
	at      time.Time
	healthy bool
}

type configReconciler struct {
	kube    client.Client
	live    client.Reader
	kind    ProviderConfigKind
	secrets *connect.Secrets

	mu     sync.Mutex
	probed map[types.UID]probe
}

func (r *configReconciler) Reconcile(ctx context.Context, req reconcile.Request) (res reconcile.Result, err error) {
	defer func() { res, err = errors.SilentlyRequeueOnConflict(res, err) }()

	pc := r.kind.New()
	if err := r.kube.Get(ctx, req.NamespacedName, pc); err != nil {
		return reconcile.Result{}, errors.Wrap(client.IgnoreNotFound(err), "cannot get provider config")
	}
	users, err := r.users(ctx, pc)
	if err != nil {
		return reconcile.Result{}, err
	}
	was := pc.DeepCopyObject()
	pc.SetUsers(int64(len(users)))

	if meta.WasDeleted(pc) {
		needed, err := r.needed(ctx, pc, users)
		if err != nil {
			return reconcile.Result{}, err
		}
		if !needed {
			return reconcile.Result{}, r.release(ctx, pc)
		}
		c := providerconfig.Terminating().WithMessage("managed resources still refer to this config: delete them first")
		conditions.ObservedGenerationPropagationManager{}.For(pc).MarkConditions(c)
		// That the namespace is deleted too is told by nothing.
		return reconcile.Result{RequeueAfter: probeRetryInterval}, r.report(ctx, was, pc)
	}

	if controllerutil.AddFinalizer(pc, configFinalizer) {
		if err := r.kube.Update(ctx, pc); err != nil {
			return reconcile.Result{}, errors.Wrap(err, "cannot add finalizer")
		}
	}
	after, err := r.probe(ctx, pc)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.report(ctx, was, pc); err != nil {
		// What the probe saw is not reported, so it has to be seen again.
		r.forget(pc)
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: after}, nil
}

// report the status of a config if it is news. Between probes it repeats what the last one said, as far as the cache knows of that. So unlike
// a managed resource's status it is written only over the version that it was computed from: a cache that lags would take Healthy away.
func (r *configReconciler) report(ctx context.Context, was runtime.Object, pc resource.ProviderConfig) error {
	before, _ := statusOf(was)
	after, _ := statusOf(pc)
	if equality.Semantic.DeepEqual(before.Interface(), after.Interface()) {
		return nil
	}
	base, ok := was.(client.Object)
	if !ok {
		return errors.Errorf("%T is not an object", was)
	}
	// The finalizer may have been added since.
	base.SetResourceVersion(pc.GetResourceVersion())
	patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	return errors.Wrap(r.kube.Status().Patch(ctx, pc, patch), "cannot update status")
}

// probe the server if it is time to, and return when it will be again.
func (r *configReconciler) probe(ctx context.Context, pc resource.ProviderConfig) (time.Duration, error) {
	v, err := r.version(ctx, pc)
	if err != nil {
		return 0, err
	}
	r.mu.Lock()
	last := r.probed[pc.GetUID()]
	r.mu.Unlock()

	if last.version == v {
		if left := time.Until(last.at.Add(interval(last.healthy))); left > 0 {
			return left, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	now := probe{version: v, healthy: r.kind.Probe(ctx, pc), at: time.Now()}

	r.mu.Lock()
	r.probed[pc.GetUID()] = now
	r.mu.Unlock()
	return interval(now.healthy), nil
}

func interval(healthy bool) time.Duration {
	if healthy {
		return probeInterval
	}
	return probeRetryInterval
}

func (r *configReconciler) version(ctx context.Context, pc resource.ProviderConfig) (string, error) {
	v := []string{fmt.Sprint(pc.GetGeneration())}
	for _, n := range r.kind.Secrets(pc) {
		sv, err := r.secrets.Version(ctx, n)
		if err != nil {
			return "", err
		}
		v = append(v, sv)
	}
	if r.kind.Version != nil {
		more, err := r.kind.Version(ctx, pc)
		if err != nil {
			return "", err
		}
		v = append(v, more)
	}
	return strings.Join(v, " "), nil
}

func (r *configReconciler) release(ctx context.Context, pc resource.ProviderConfig) error {
	r.kind.Forget(pc.GetUID())
	r.forget(pc)
	if !controllerutil.RemoveFinalizer(pc, configFinalizer) {
		return nil
	}
	err := r.kube.Update(ctx, pc)
	if kerrors.IsNotFound(err) {
		return nil
	}
	return errors.Wrap(err, "cannot remove finalizer")
}

// forget when the config was probed.
func (r *configReconciler) forget(pc resource.ProviderConfig) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.probed, pc.GetUID())
}

// configsOfSecret returns the configs that name a Secret.
func (r *configReconciler) configsOfSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	l := r.kind.NewList()
	if err := r.kube.List(ctx, l); err != nil {
		return nil
	}
	var rs []reconcile.Request
	_ = apimeta.EachListItem(l, func(o runtime.Object) error {
		pc, ok := o.(resource.ProviderConfig)
		if ok && slices.Contains(r.kind.Secrets(pc), client.ObjectKeyFromObject(secret)) {
			rs = append(rs, Keys[client.Object](pc)...)
		}
		return nil
	})
	return rs
}

// deletionPredicate lets through the update that marks an object as deleted, which need not change its generation.
func deletionPredicate() predicate.Funcs {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
		},
	}
}
