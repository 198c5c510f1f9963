package setup

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// TestProbe holds when a server is probed: when the config or a Secret that it names changed, and when it is time to, but not each time
// that somebody starts or stops to use the config.
func TestProbe(t *testing.T) {
	pc := config(connect.KindProviderConfig)
	c := newConfigs(t, connect.KindProviderConfig, pc)
	ctx := t.Context()
	write := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "login"}}
	// passed lets time pass since the last probe.
	passed := func(d time.Duration) {
		p := c.probed[configUID]
		p.at = p.at.Add(-d)
		c.probed[configUID] = p
	}

	steps := []struct {
		reason string
		change func()
		probe  bool
		// within bounds when the config is looked at again.
		within time.Duration
	}{
		{"A new config is probed.", func() {}, true, probeInterval},
		{"Nothing changed.", func() {}, false, probeInterval},
		{"The users changed.", func() { write(c.kube.Create(ctx, using("shop", "a", connect.KindProviderConfig, "default"))) }, false, probeInterval},
		{"The Secret came.", func() { write(c.kube.Create(ctx, secret)) }, true, probeInterval},
		{"The Secret stays.", func() {}, false, probeInterval},
		{"The Secret changed.", func() { secret.Labels = map[string]string{"l": "v"}; write(c.kube.Update(ctx, secret)) }, true, probeInterval},
		{"The Secret went.", func() { write(c.kube.Delete(ctx, secret)) }, true, probeInterval},
		{"The spec changed.", func() { o := c.get(t, pc); o.SetGeneration(2); write(c.kube.Update(ctx, o)) }, true, probeInterval},
		{"It is not time yet.", func() { passed(probeInterval - time.Minute) }, false, time.Minute},
		{"It is time.", func() { c.healthy = false; passed(time.Minute) }, true, probeRetryInterval},
		{"A server that is ill is not asked all the time.", func() {}, false, probeRetryInterval},
		{"A server that is ill is asked more often.", func() { c.healthy = true; passed(probeRetryInterval) }, true, probeInterval},
	}
	for _, s := range steps {
		s.change()
		before := c.probes
		res, err := c.reconcile(t, pc)
		if err != nil {
			t.Fatalf("%s: %v", s.reason, err)
		}
		if got := c.probes - before; got > 1 || (got == 1) != s.probe {
			t.Errorf("%s: want a probe: %t, got %d", s.reason, s.probe, got)
		}
		if res.RequeueAfter <= 0 || res.RequeueAfter > s.within {
			t.Errorf("%s: want to be looked at again within %s, got %s", s.reason, s.within, res.RequeueAfter)
		}
		if got := c.get(t, pc).GetCondition(v1alpha1.TypeHealthy).Status; got != corev1.ConditionTrue {
			t.Errorf("%s: what the probe saw must stay reported, got %s", s.reason, got)
		}
	}
	if got := c.get(t, pc).GetUsers(); got != 1 {
		t.Errorf("want 1 user, got %d", got)
	}
}

// TestProbeUnreported holds that a probe whose result could not be written is done again.
func TestProbeUnreported(t *testing.T) {
	pc := config(connect.KindProviderConfig)
	c := newConfigs(t, connect.KindProviderConfig, pc)
	c.errs.SubResourcePatch = func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
		return errBoom
	}
	if _, err := c.reconcile(t, pc); !errors.Is(err, errBoom) {
		t.Fatalf("want errBoom, got %v", err)
	}
	c.errs.SubResourcePatch = nil
	if _, err := c.reconcile(t, pc); err != nil {
		t.Fatal(err)
	}
	if got := c.get(t, pc).GetCondition(v1alpha1.TypeHealthy).Status; got != corev1.ConditionTrue {
		t.Errorf("the probe's result was lost: Healthy is %s", got)
	}
}
