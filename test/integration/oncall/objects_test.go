package oncall

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// births counts objects, so that each one has another uid.
var births = make(chan int, 1)

func init() { births <- 0 }

func uid() types.UID {
	n := <-births + 1
	births <- n
	return types.UID(fmt.Sprintf("uid-%d", n))
}

// newBootstrap is a Bootstrap "terdut" of namespace ops.
func newBootstrap(w *world, mods ...func(*v1alpha1.Bootstrap)) *v1alpha1.Bootstrap {
	b := &v1alpha1.Bootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "terdut", UID: uid()}}
	b.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	b.Spec.ForProvider = v1alpha1.BootstrapParameters{
		Endpoint: w.server.URL(), AdminUsername: "admin", AdminEmail: "admin@terdut.example",
		ServiceAccountName: "provider-terdut", DeletionPolicy: commonv1alpha1.DeletionRetain,
	}
	for _, m := range mods {
		m(b)
	}
	return b
}

// newConfig is a ProviderConfig "terdut" of namespace ops that names that Bootstrap.
func newConfig(mods ...func(*v1alpha1.ProviderConfig)) *v1alpha1.ProviderConfig {
	c := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "terdut", UID: uid()}}
	c.Spec.BootstrapRef = &v1alpha1.BootstrapReference{Name: "terdut"}
	for _, m := range mods {
		m(c)
	}
	return c
}

// newTeam is a Team of namespace ops, on the server of that config.
func newTeam(name string, mods ...func(*v1alpha1.Team)) *v1alpha1.Team {
	t := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name, UID: uid()}}
	t.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	t.Spec.ForProvider.ServerRef = &v1alpha1.ServerReference{Name: "terdut"}
	for _, m := range mods {
		m(t)
	}
	return t
}

func ptr[T any](v T) *T { return &v }

// create objects in the cluster.
func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.kube.Create(context.Background(), o); err != nil {
			w.t.Fatal(err)
		}
	}
}

// change an object in the cluster as a person would.
func change[T client.Object](w *world, o T, f func(T)) {
	w.t.Helper()
	if err := w.kube.Get(context.Background(), client.ObjectKeyFromObject(o), o); err != nil {
		w.t.Fatal(err)
	}
	f(o)
	if err := w.kube.Update(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}
}

// remove an object from the cluster as a person would: it goes when its finalizers do.
func (w *world) remove(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.kube.Delete(context.Background(), o); err != nil {
			w.t.Fatal(err)
		}
	}
}

// exists says whether an object is in the cluster.
func (w *world) exists(o client.Object) bool {
	return w.kube.Get(context.Background(), client.ObjectKeyFromObject(o), o) == nil
}

// state of the server.
func (w *world) state() *terdutserver.State {
	w.t.Helper()
	s, err := w.server.Snapshot(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) passBootstrap(b *v1alpha1.Bootstrap) error {
	w.t.Helper()
	return pass(w, w.bootstraps, b)
}

func (w *world) passTeam(t *v1alpha1.Team) error { w.t.Helper(); return pass(w, w.teams, t) }

// passAll makes rounds of passes over objects, whatever they end with, and returns what the last one ended with.
func (w *world) passAll(rounds int, objects ...client.Object) (last error) {
	w.t.Helper()
	for range rounds {
		last = nil
		for _, o := range objects {
			var err error
			switch mg := o.(type) {
			case *v1alpha1.Bootstrap:
				err = w.passBootstrap(mg)
			case *v1alpha1.Team:
				err = w.passTeam(mg)
			default:
				w.t.Fatalf("%T is not reconciled", o)
			}
			if err != nil {
				last = err
			}
		}
	}
	return last
}

// ready makes passes until objects are Ready.
func (w *world) ready(objects ...client.Object) {
	w.t.Helper()
	if err := w.passAll(4, objects...); err != nil {
		w.t.Fatalf("a pass failed: %v", err)
	}
	for _, o := range objects {
		is(w.t, o.(resource), xpv2.ReasonAvailable)
	}
}

// is fails unless an object's Ready has a reason.
func is(t *testing.T, mg resource, want xpv2.ConditionReason) {
	t.Helper()
	c := mg.GetCondition(xpv2.TypeReady)
	if c.Reason != want || (c.Status == corev1.ConditionTrue) != (want == xpv2.ReasonAvailable) {
		t.Errorf("%T %s: Ready is %s %s (%s), want reason %s", mg, mg.GetName(), c.Status, c.Reason, c.Message, want)
	}
}

// says fails unless an object's own condition has a reason.
func says(t *testing.T, mg resource, want xpv2.ConditionReason) {
	t.Helper()
	typ := v1alpha1.TypeTeamReady
	if _, ok := mg.(*v1alpha1.Bootstrap); ok {
		typ = v1alpha1.TypeBootstrapped
	}
	if c := mg.GetCondition(typ); c.Reason != want {
		t.Errorf("%T %s: %s is %s %s (%s), want reason %s", mg, mg.GetName(), typ, c.Status, c.Reason, c.Message, want)
	}
}

// rest fails when passes write anything to the server or to the cluster, or find other words for what they say in a status.
func (w *world) rest(objects ...client.Object) {
	w.t.Helper()
	look := func() (seen []client.Object) {
		for _, o := range objects {
			c := o.DeepCopyObject().(client.Object)
			if err := w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(o), c); err != nil {
				w.t.Fatal(err)
			}
			c.SetResourceVersion("") // A status that is the same is written here, where nothing keeps it back.
			seen = append(seen, c)
		}
		return seen
	}
	was := look()
	w.server.ResetRequests()
	w.mu.Lock()
	w.writes = 0
	w.mu.Unlock()
	if err := w.passAll(w.polls, objects...); err != nil {
		w.t.Errorf("a pass failed: %v", err)
	}
	if n := w.server.Writes(); n > 0 {
		w.t.Errorf("%d writes to the server at rest: %v", n, w.server.Requests())
	}
	if w.writes > 0 {
		w.t.Errorf("%d writes at rest", w.writes)
	}
	if diff := cmp.Diff(was, look()); diff != "" {
		w.t.Errorf("objects changed at rest: -was, +is:\n%s", diff)
	}
}

// credentials are the Secrets of the provider's namespace.
func (w *world) credentials() []corev1.Secret {
	w.t.Helper()
	l := &corev1.SecretList{}
	if err := w.kube.List(context.Background(), l, client.InNamespace(own)); err != nil {
		w.t.Fatal(err)
	}
	return l.Items
}

// dropTeam deletes a team by hand, with all that belongs to it.
func (w *world) dropTeam(id int64) {
	w.t.Helper()
	key, err := w.server.AddAdmin(context.Background(), "by-hand")
	if err != nil {
		w.t.Fatal(err)
	}
	cl, err := terdut.New(terdut.Config{Endpoint: w.server.URL(), Token: terdut.Secret(key)})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cl.DeleteTeam(context.Background(), id); err != nil {
		w.t.Fatal(err)
	}
	err = w.server.Edit(context.Background(), func(s *terdutserver.State) {
		s.Users, s.Keys = s.Users[:len(s.Users)-1], s.Keys[:len(s.Keys)-1]
	})
	if err != nil {
		w.t.Fatal(err)
	}
}
