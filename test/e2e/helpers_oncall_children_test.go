package e2e

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// A callServer is an on-call server outside the cluster, with the users alice and bob, and a config in a namespace of its own that lets
// Teams of all namespaces use it.
type callServer struct {
	*terdutserver.Server

	namespace string
	// account is what the config's key is of. It reaches teams and service accounts.
	account int64
}

func newCallServer(t *testing.T) *callServer {
	t.Helper()
	srv, err := terdutserver.Start(terdutserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &callServer{Server: srv}
	// Before the namespace, so that it ends after it.
	t.Cleanup(srv.Close)
	s.namespace = namespace(t)
	for _, u := range []string{"alice", "bob"} {
		if _, err := srv.AddUser(t.Context(), u, u+"@terdut.example"); err != nil {
			t.Fatal(err)
		}
	}
	key, err := srv.AddAdmin(t.Context(), "root")
	if err != nil {
		t.Fatal(err)
	}
	admin, err := terdut.New(terdut.Config{Endpoint: srv.URL(), Token: terdut.Secret(key)})
	if err != nil {
		t.Fatal(err)
	}
	a, err := admin.CreateServiceAccount(t.Context(), "provider", terdut.ScopeInstance, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.account = a.ID
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "server-key"}, StringData: map[string]string{"token": string(a.Key.Key)},
	})
	url := srv.URL()
	pc := &oncallv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "server"}}
	pc.Spec.Endpoint, pc.Spec.SecretRef = &url, &commonv1alpha1.LocalSecretKeySelector{Name: "server-key", Key: "token"}
	pc.Spec.AllowedTeams.Namespaces.From = oncallv1alpha1.NamespacesAll
	create(t, pc)
	return s
}

// state of the server. It can be called while a check is repeated.
func (s *callServer) state(t *testing.T) *terdutserver.State {
	t.Helper()
	st, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// revoke the keys of the config's account.
func (s *callServer) revoke(t *testing.T) {
	t.Helper()
	if err := s.Edit(t.Context(), func(st *terdutserver.State) {
		st.Keys = slices.DeleteFunc(st.Keys, func(k terdutserver.Key) bool { return k.AccountID == s.account })
	}); err != nil {
		t.Fatal(err)
	}
}

// team makes a Team in a namespace.
func (s *callServer) team(t *testing.T, ns, name string) *oncallv1alpha1.Team {
	t.Helper()
	display := name + " of " + ns
	o := &oncallv1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	o.Spec.ForProvider.DisplayName = &display
	o.Spec.ForProvider.ServerRef = &oncallv1alpha1.ServerReference{Name: "server", Namespace: &s.namespace}
	create(t, o)
	return o
}

func ofTeam(name string) oncallv1alpha1.TeamParameters {
	return oncallv1alpha1.TeamParameters{TeamRef: &oncallv1alpha1.TeamReference{Name: name}}
}

func newPolicy(ns, team string) *oncallv1alpha1.EscalationPolicy {
	alice := "alice"
	o := &oncallv1alpha1.EscalationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "policy"}}
	o.Spec.ForProvider = oncallv1alpha1.EscalationPolicyParameters{TeamParameters: ofTeam(team), RepeatCount: 1, Levels: []oncallv1alpha1.EscalationLevel{
		{Timeout: "5m", Targets: []oncallv1alpha1.EscalationTarget{{Kind: oncallv1alpha1.TargetOnCall}}},
		{Timeout: "90s", Targets: []oncallv1alpha1.EscalationTarget{{Kind: oncallv1alpha1.TargetUser, Username: &alice}}},
	}}
	return o
}

func newSwitch(ns, team, name string) *oncallv1alpha1.DeadmanSwitch {
	o := &oncallv1alpha1.DeadmanSwitch{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	o.Spec.ForProvider = oncallv1alpha1.DeadmanSwitchParameters{TeamParameters: ofTeam(team), Name: &name, Matcher: "alertname=Watchdog", Timeout: "15m", Severity: "critical"}
	return o
}

func newIntegration(ns, team, name string) *oncallv1alpha1.Integration {
	o := &oncallv1alpha1.Integration{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	o.Spec.ForProvider = oncallv1alpha1.IntegrationParameters{TeamParameters: ofTeam(team), Kind: oncallv1alpha1.IntegrationKindAlertmanager, SecretName: name + "-webhook"}
	return o
}

// ready waits until objects are Ready.
func ready(t *testing.T, objects ...conditioned) {
	t.Helper()
	for _, o := range objects {
		becomes(t, o, xpv2.TypeReady, corev1.ConditionTrue, "")
	}
}
