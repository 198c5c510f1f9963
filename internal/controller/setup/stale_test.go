package setup

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// lagging is a client whose cache knows an earlier version of a config.
type lagging struct {
	client.Client

	cached *v1alpha1.ProviderConfig
}

func (l *lagging) Get(ctx context.Context, n client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	pc, ok := o.(*v1alpha1.ProviderConfig)
	if !ok || l.cached == nil {
		return l.Client.Get(ctx, n, o, opts...)
	}
	l.cached.DeepCopyInto(pc)
	return nil
}

// A config that comes into use right after its probe is reconciled again, maybe before the cache has what the probe reported.
func TestLaggingCacheKeepsProbe(t *testing.T) {
	pc := config(connect.KindProviderConfig)
	c := newConfigs(t, connect.KindProviderConfig, pc)
	l := &lagging{Client: c.kube}
	c.kube = l
	req := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pc)}

	before := &v1alpha1.ProviderConfig{}
	if err := l.Get(t.Context(), req.NamespacedName, before); err != nil {
		t.Fatal(err)
	}
	before.Finalizers = []string{configFinalizer}
	if _, err := c.Reconcile(t.Context(), req); err != nil {
		t.Fatalf("Reconcile(...): unexpected error: %v", err)
	}

	if err := l.Create(t.Context(), using(pc.GetNamespace(), "a", connect.KindProviderConfig, pc.GetName())); err != nil {
		t.Fatal(err)
	}
	l.cached = before
	if _, err := c.Reconcile(t.Context(), req); err != nil {
		t.Fatalf("Reconcile(...): a conflict with a cache that lags is an error: %v", err)
	}
	l.cached = nil
	if got := c.get(t, pc).GetCondition(v1alpha1.TypeHealthy).Status; got != corev1.ConditionTrue {
		t.Errorf("Reconcile(...): Healthy is %s after a pass over a cache that lags", got)
	}

	if _, err := c.Reconcile(t.Context(), req); err != nil {
		t.Fatalf("Reconcile(...): unexpected error: %v", err)
	}
	got := c.get(t, pc)
	if got.GetCondition(v1alpha1.TypeHealthy).Status != corev1.ConditionTrue || got.GetUsers() != 1 {
		t.Errorf("Reconcile(...): Healthy is %s with %d users, want True with 1", got.GetCondition(v1alpha1.TypeHealthy).Status, got.GetUsers())
	}
}
