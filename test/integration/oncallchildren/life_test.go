package oncallchildren

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// wantPolicy is what policy asks for. Users are root, alice and bob.
func wantPolicy() terdutserver.Policy {
	return terdutserver.Policy{RepeatCount: 2, FallbackTopic: "ops-fallback", Levels: []terdutserver.Level{
		{Position: 1, Timeout: "5m0s", Targets: []terdutserver.Target{{Kind: "oncall"}}},
		{Position: 2, Timeout: "1m30s", Targets: []terdutserver.Target{{Kind: "user", UserID: 2}, {Kind: "user", UserID: 3}, {Kind: "oncall"}}},
	}}
}

// TestH43Rest holds that nothing is written over 20 polls of all kinds together, whatever order the server lists in, what is somebody else's
// included.
func TestH43Rest(t *testing.T) {
	w := newWorld(t)
	w.srv.SetModes(terdutserver.Modes{Shuffle: true, PageSize: 1})
	objects := append(children(), watchdog("second"), webhook("more"))
	w.apply(objects...)
	w.settle(objects...)
	for _, o := range objects {
		w.is(o, xpv2.ReasonAvailable)
	}
	was := w.state()
	w.quiet(20, objects...)
	if diff := cmp.Diff(was, w.state()); diff != "" {
		t.Errorf("the server changed at rest: -was, +is:\n%s", diff)
	}
}

// TestPolicyLife holds create, change, drift and delete of a policy.
func TestPolicyLife(t *testing.T) {
	w := newWorld(t)
	o, team := policy("policy"), w.teamID("ops")
	w.apply(o)
	w.settle(o)
	w.is(o, xpv2.ReasonAvailable)
	if diff := cmp.Diff(wantPolicy(), w.state().Policies[team]); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"PUT teams/1/escalation"}, w.wire.sent()); diff != "" {
		t.Errorf("created with other writes: -want, +got:\n%s", diff)
	}
	w.quiet(3, o)

	change(w, o, func(o *v1alpha1.EscalationPolicy) { o.Spec.ForProvider.RepeatCount = 0 })
	w.settle(o)
	w.edit(func(s *terdutserver.State) {
		p := s.Policies[team]
		p.Levels = p.Levels[:1]
		s.Policies[team] = p
	})
	w.settle(o)
	want := wantPolicy()
	want.RepeatCount = 0
	if diff := cmp.Diff(want, w.state().Policies[team]); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if sent := w.wire.sent(); len(sent) != 2 {
		t.Errorf("a change and a drift are two writes, got %v", sent)
	}

	w.remove(o)
	w.settle(o)
	w.gone(o)
	if p := w.state().Policies[team]; len(p.Levels) != 0 || p.RepeatCount != 0 || p.FallbackTopic != "" {
		t.Errorf("the policy is not empty: %v", p)
	}
}

// TestSwitchLife holds create, change, drift and delete of a switch.
func TestSwitchLife(t *testing.T) {
	w := newWorld(t)
	o := watchdog("watchdog")
	w.apply(o)
	w.settle(o)
	w.is(o, xpv2.ReasonAvailable)
	want := terdutserver.Switch{ID: 1, TeamID: 1, Name: "watchdog", Matcher: "cluster=prod, alertname=Watchdog", Timeout: "1m30s", Severity: "critical"}
	if diff := cmp.Diff([]terdutserver.Switch{want}, w.state().Switches); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	w.quiet(3, o)

	change(w, o, func(o *v1alpha1.DeadmanSwitch) { o.Spec.ForProvider.Timeout = "2m" })
	w.settle(o)
	w.edit(func(s *terdutserver.State) { s.Switches[0].Name = "renamed by hand" })
	w.settle(o)
	want.Timeout = "2m0s"
	if diff := cmp.Diff([]terdutserver.Switch{want}, w.state().Switches); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if sent := w.wire.sent(); len(sent) != 2 {
		t.Errorf("a change and a drift are two writes, got %v", sent)
	}
	w.edit(func(s *terdutserver.State) { s.Switches = nil })
	w.settle(o)
	if s := w.state().Switches; len(s) != 1 || s[0].ID != 2 || w.externalName(o) != "2" {
		t.Errorf("a switch that vanished was to be made again: %v", s)
	}

	w.remove(o)
	w.settle(o)
	w.gone(o)
	if s := w.state().Switches; len(s) != 0 {
		t.Errorf("switches are left: %v", s)
	}
}

// secret that an Integration's webhook is in.
func (w *world) secret(o *v1alpha1.Integration) *corev1.Secret {
	w.t.Helper()
	s := &corev1.Secret{}
	if err := w.kube.Get(w.t.Context(), types.NamespacedName{Namespace: namespace, Name: o.Spec.ForProvider.SecretName}, s); err != nil {
		return nil
	}
	return s
}

// TestIntegrationLife holds create, rename, drift and delete of an integration, and that what its Secret holds takes alerts.
func TestIntegrationLife(t *testing.T) {
	w := newWorld(t)
	o := webhook("alerts")
	w.apply(o)
	w.settle(o)
	w.is(o, xpv2.ReasonAvailable)
	w.takes(o)
	first := w.secret(o)
	w.quiet(3, o)

	name := "production"
	change(w, o, func(o *v1alpha1.Integration) { o.Spec.ForProvider.Name = &name })
	w.settle(o)
	w.edit(func(s *terdutserver.State) { s.Integrations[0].Name = "renamed by hand" })
	w.settle(o)
	if i := w.state().Integrations; len(i) != 1 || i[0].ID != 1 || i[0].Name != name {
		t.Errorf("want integration 1 called %q, got %v", name, i)
	}
	w.wire.sent()
	if s := w.secret(o); s.ResourceVersion != first.ResourceVersion {
		t.Error("a rename wrote the Secret")
	}
	w.takes(o)

	w.remove(o)
	w.settle(o)
	w.gone(o)
	if i := w.state().Integrations; len(i) != 0 {
		t.Errorf("integrations are left: %v", i)
	}
}
