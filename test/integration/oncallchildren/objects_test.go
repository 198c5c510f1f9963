package oncallchildren

import (
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// errAbsent is what the reconciler reports of an object that only looks at what is not there.
var errAbsent = errors.New("external resource does not exist")

func objectMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID("uid of " + name), Generation: 1,
		CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
	}
}

func ofTeam(name string) v1alpha1.TeamParameters {
	return v1alpha1.TeamParameters{TeamRef: &v1alpha1.TeamReference{Name: name}}
}

func all() xpv2.ManagementPolicies {
	return xpv2.ManagementPolicies{xpv2.ManagementActionAll}
}

// policy pages who is on call, then alice and bob.
func policy(name string, mods ...func(*v1alpha1.EscalationPolicy)) *v1alpha1.EscalationPolicy {
	o := &v1alpha1.EscalationPolicy{ObjectMeta: objectMeta(name)}
	o.Spec.ManagementPolicies = all()
	o.Spec.ForProvider = v1alpha1.EscalationPolicyParameters{
		TeamParameters: ofTeam("ops"), RepeatCount: 2, FallbackTopic: "ops-fallback",
		Levels: []v1alpha1.EscalationLevel{
			{Timeout: "5m", Targets: []v1alpha1.EscalationTarget{{Kind: v1alpha1.TargetOnCall}}},
			{Timeout: "90s", Targets: []v1alpha1.EscalationTarget{user("alice"), user("bob"), {Kind: v1alpha1.TargetOnCall}}},
		},
	}
	for _, m := range mods {
		m(o)
	}
	return o
}

func user(name string) v1alpha1.EscalationTarget {
	return v1alpha1.EscalationTarget{Kind: v1alpha1.TargetUser, Username: &name}
}

func watchdog(name string, mods ...func(*v1alpha1.DeadmanSwitch)) *v1alpha1.DeadmanSwitch {
	o := &v1alpha1.DeadmanSwitch{ObjectMeta: objectMeta(name)}
	o.Spec.ManagementPolicies = all()
	o.Spec.ForProvider = v1alpha1.DeadmanSwitchParameters{
		TeamParameters: ofTeam("ops"), Name: &name, Matcher: "cluster=prod, alertname=Watchdog", Timeout: "90s", Severity: "critical",
	}
	for _, m := range mods {
		m(o)
	}
	return o
}

func webhook(name string, mods ...func(*v1alpha1.Integration)) *v1alpha1.Integration {
	o := &v1alpha1.Integration{ObjectMeta: objectMeta(name)}
	o.Spec.ManagementPolicies = all()
	o.Spec.ForProvider = v1alpha1.IntegrationParameters{
		TeamParameters: ofTeam("ops"), Kind: v1alpha1.IntegrationKindAlertmanager, SecretName: name + "-webhook",
	}
	for _, m := range mods {
		m(o)
	}
	return o
}

// children are one object of each kind.
func children() []setup.Object {
	return []setup.Object{policy("policy"), watchdog("watchdog"), webhook("alerts")}
}

// kindOf an object, for the names of tests.
func kindOf(o setup.Object) string {
	switch o.(type) {
	case *v1alpha1.EscalationPolicy:
		return v1alpha1.EscalationPolicyKind
	case *v1alpha1.DeadmanSwitch:
		return v1alpha1.DeadmanSwitchKind
	}
	return v1alpha1.IntegrationKind
}

// apply a new object.
func (w *world) apply(objects ...setup.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.kube.Create(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
	}
}

// load what the cluster has of an object. It is false when it is gone.
func (w *world) load(o setup.Object) bool {
	w.t.Helper()
	err := w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)
	if err != nil && !kerrors.IsNotFound(err) {
		w.t.Fatal(err)
	}
	return err == nil
}

// change an object as its owner does.
func change[T setup.Object](w *world, o T, f func(T)) {
	w.t.Helper()
	if !w.load(o) {
		w.t.Fatalf("%s is gone", o.GetName())
	}
	f(o)
	o.SetGeneration(o.GetGeneration() + 1)
	if err := w.kube.Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// remove an object, as kubectl delete does.
func (w *world) remove(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.kube.Delete(w.t.Context(), o); err != nil && !kerrors.IsNotFound(err) {
			w.t.Fatal(err)
		}
	}
}

// settle makes passes that all have to succeed.
func (w *world) settle(objects ...setup.Object) {
	w.t.Helper()
	for range 3 {
		for _, o := range objects {
			if err := w.pass(o); err != nil {
				w.t.Fatalf("a pass of %s failed: %v", o.GetName(), err)
			}
		}
	}
}

// recover makes passes, some of which may fail, until one after another succeeds.
func (w *world) recover(objects ...setup.Object) {
	w.t.Helper()
	for range 8 {
		for _, o := range objects {
			_ = w.pass(o)
		}
	}
	w.settle(objects...)
}

// is fails unless an object's Ready and its own condition have a reason.
func (w *world) is(o setup.Object, want xpv2.ConditionReason) {
	w.t.Helper()
	if !w.load(o) {
		w.t.Errorf("%s is gone, want reason %s", o.GetName(), want)
		return
	}
	c := o.GetCondition(xpv2.TypeReady)
	if c.Reason != want || (c.Status == corev1.ConditionTrue) != (want == xpv2.ReasonAvailable) {
		w.t.Errorf("Ready of %s is %s %s (%s), want reason %s", o.GetName(), c.Status, c.Reason, c.Message, want)
	}
	w.own(o, want)
}

// own fails unless an object's own condition has a reason.
func (w *world) own(o setup.Object, want xpv2.ConditionReason) {
	w.t.Helper()
	if want == xpv2.ReasonAvailable {
		want = v1alpha1.ReasonInSync
	}
	types := map[string]xpv2.ConditionType{
		v1alpha1.EscalationPolicyKind: v1alpha1.TypePolicyReady, v1alpha1.DeadmanSwitchKind: v1alpha1.TypeSwitchReady, v1alpha1.IntegrationKind: v1alpha1.TypeIntegrationReady,
	}
	if c := o.GetCondition(types[kindOf(o)]); c.Reason != want {
		w.t.Errorf("%s of %s is %s %s (%s), want reason %s", c.Type, o.GetName(), c.Status, c.Reason, c.Message, want)
	}
}

func (w *world) gone(o setup.Object) {
	w.t.Helper()
	if w.load(o) {
		w.t.Errorf("%s is still there: %v", o.GetName(), o.GetCondition(xpv2.TypeSynced).Message)
	}
}

// quiet fails when passes write anything to the server, to Secrets, or any of the objects.
func (w *world) quiet(passes int, objects ...setup.Object) {
	w.t.Helper()
	versions := func() (v []string) {
		for _, o := range objects {
			w.load(o)
			v = append(v, o.GetResourceVersion())
		}
		return v
	}
	was := versions()
	w.wire.forget()
	for range passes {
		for _, o := range objects {
			if err := w.pass(o); err != nil {
				w.t.Fatalf("a pass of %s failed: %v", o.GetName(), err)
			}
		}
	}
	n := w.wire.count()
	if sent := w.wire.sent(); n > 0 {
		w.t.Errorf("there were %d writes at rest, to the server: %v", n, sent)
	}
	for i, v := range versions() {
		if v != was[i] {
			w.t.Errorf("%s was written at rest", objects[i].GetName())
		}
	}
}

// externalName of an object.
func (w *world) externalName(o setup.Object) string {
	w.t.Helper()
	w.load(o)
	return meta.GetExternalName(o)
}

func kind(t *testing.T, f func(t *testing.T, o setup.Object)) {
	t.Helper()
	for _, o := range children() {
		t.Run(kindOf(o), func(t *testing.T) { f(t, o) })
	}
}
