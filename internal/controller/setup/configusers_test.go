package setup

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// team makes a Team that refers to the config "terdut" of a namespace by serverRef, and to another one by what every object has.
func team(namespace, server string, mods ...func(*v1alpha1.Team)) *v1alpha1.Team {
	m := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "platform"}}
	m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: connect.KindClusterProviderConfig, Name: "default"}
	m.Spec.ForProvider.ServerRef = &v1alpha1.ServerReference{Name: "terdut"}
	if server != namespace {
		m.Spec.ForProvider.ServerRef.Namespace = &server
	}
	for _, f := range mods {
		f(m)
	}
	return m
}

// TestConfigNeeded holds that a config stays for Teams of other namespaces as well, and that one in a namespace that is being deleted does not wait
// for a Team elsewhere that nobody deletes.
func TestConfigNeeded(t *testing.T) {
	going := func(m *v1alpha1.Team) {
		m.DeletionTimestamp, m.Finalizers = &deleted, []string{"keep"}
	}
	for name, tc := range map[string]struct {
		reason      string
		teams       []client.Object
		terminating bool
		want        bool
	}{
		"Nobody":               {reason: "Nothing refers to it."},
		"Own":                  {reason: "A Team of the same namespace does.", teams: []client.Object{team("ops", "ops")}, want: true},
		"OwnTerminating":       {reason: "It goes with the namespace, and needs the config to go.", teams: []client.Object{team("ops", "ops")}, terminating: true, want: true},
		"Foreign":              {reason: "A Team of another namespace counts as much.", teams: []client.Object{team("shop", "ops")}, want: true},
		"ForeignTerminating":   {reason: "Nobody deletes it, and the namespace has to end.", teams: []client.Object{team("shop", "ops")}, terminating: true},
		"ForeignGoing":         {reason: "It needs the config to go.", teams: []client.Object{team("shop", "ops", going)}, terminating: true, want: true},
		"OtherServer":          {reason: "It refers to a config of its own namespace.", teams: []client.Object{team("shop", "shop")}},
		"ProviderConfigRefToo": {reason: "With a serverRef, providerConfigRef does not count.", teams: []client.Object{team("shop", "bank")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme} {
				if err := add(s); err != nil {
					t.Fatal(err)
				}
			}
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}}
			if tc.terminating {
				ns.DeletionTimestamp, ns.Finalizers = &deleted, []string{"kubernetes"}
			}
			pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ops", Name: "terdut", DeletionTimestamp: &deleted, Finalizers: []string{configFinalizer},
			}}
			kube := fake.NewClientBuilder().WithScheme(s).WithObjects(ns, pc).WithObjects(tc.teams...).WithStatusSubresource(pc).
				WithIndex(&v1alpha1.Team{}, connect.IndexConfig, connect.ConfigKeyOf).Build()
			r := &configReconciler{kube: kube, live: kube, probed: map[types.UID]probe{}, kind: ProviderConfigKind{
				GVK:    v1alpha1.SchemeGroupVersion.WithKind(connect.KindProviderConfig),
				New:    func() resource.ProviderConfig { return &v1alpha1.ProviderConfig{} },
				Users:  []resource.ManagedList{&v1alpha1.TeamList{}},
				Forget: func(types.UID) {},
			}}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pc)}); err != nil {
				t.Fatal(err)
			}
			if got := kube.Get(t.Context(), client.ObjectKeyFromObject(pc), pc) == nil; got != tc.want {
				t.Errorf("%s: the config is there: %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

// TestConfigOfTeam holds that the config of a Team's serverRef is woken, wherever it is, and when the Team begins to go.
func TestConfigOfTeam(t *testing.T) {
	r := &configReconciler{kind: ProviderConfigKind{GVK: v1alpha1.SchemeGroupVersion.WithKind(connect.KindProviderConfig)}}
	want := types.NamespacedName{Namespace: "ops", Name: "terdut"}
	if got := r.configOfUser(t.Context(), team("shop", "ops")); len(got) != 1 || got[0].NamespacedName != want {
		t.Errorf("woken is %v, want %v", got, want)
	}
	r.kind.GVK.Kind = connect.KindClusterProviderConfig
	if got := r.configOfUser(t.Context(), team("shop", "ops")); len(got) != 0 {
		t.Errorf("woken is %v", got)
	}
	going := team("shop", "ops", func(m *v1alpha1.Team) { m.DeletionTimestamp = &deleted })
	if !comesOrGoes().Update(event.UpdateEvent{ObjectOld: team("shop", "ops"), ObjectNew: going}) {
		t.Error("a Team that begins to go wakes nobody")
	}
	if comesOrGoes().Update(event.UpdateEvent{ObjectOld: going, ObjectNew: going}) {
		t.Error("a Team that goes on going wakes its config")
	}
}
