package setup

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
)

// users are the managed resources that refer to the config.
func (r *configReconciler) users(ctx context.Context, pc resource.ProviderConfig) ([]resource.Managed, error) {
	key := connect.ConfigKey(r.kind.GVK.Kind, pc.GetNamespace(), pc.GetName())
	var users []resource.Managed
	for _, u := range r.kind.Users {
		l, ok := u.DeepCopyObject().(resource.ManagedList)
		if !ok {
			return nil, errors.Errorf("%T is not a list of managed resources", u)
		}
		if err := r.kube.List(ctx, l, client.MatchingFields{connect.IndexConfig: key}); err != nil {
			return nil, errors.Wrap(err, "cannot list users of provider config")
		}
		users = append(users, l.GetItems()...)
	}
	return users, nil
}

// needed says whether a config has to stay, because managed resources refer to it. In a namespace that is being deleted, which has to end,
// those of other namespaces count only while they are being deleted themselves.
func (r *configReconciler) needed(ctx context.Context, pc resource.ProviderConfig, users []resource.Managed) (bool, error) {
	going := func(u resource.Managed) bool { return u.GetNamespace() == pc.GetNamespace() || meta.WasDeleted(u) }
	switch {
	case len(users) == 0:
		return false, nil
	case pc.GetNamespace() == "" || slices.ContainsFunc(users, going):
		return true, nil
	}
	terminating, err := owner.NamespaceTerminating(ctx, r.live, pc.GetNamespace())
	return !terminating, err
}

// configOfUser returns the config of this kind that a managed resource refers to.
func (r *configReconciler) configOfUser(_ context.Context, o client.Object) []reconcile.Request {
	kind, n, ok := connect.ConfigRef(o)
	if !ok || kind != r.kind.GVK.Kind {
		return nil
	}
	return []reconcile.Request{{NamespacedName: n}}
}

// comesOrGoes lets through what changes how many managed resources refer to which config.
func comesOrGoes() predicate.Funcs {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			return !slices.Equal(connect.ConfigKeyOf(e.ObjectOld), connect.ConfigKeyOf(e.ObjectNew)) ||
				meta.WasDeleted(e.ObjectOld) != meta.WasDeleted(e.ObjectNew)
		},
	}
}
