package e2e

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// teams as the provider's controller is named.
const teams = "team.oncall.terdut.ryuvia.com"

// passesOver waits until the provider has looked n more times at each Team, as many as there are.
func passesOver(t *testing.T, kind string, n int) {
	t.Helper()
	l := &oncallv1alpha1.TeamList{}
	if err := p.Client.List(t.Context(), l); err != nil {
		t.Fatalf("cannot list Teams: %v", err)
	}
	until := reconciles(t, kind) + n*max(len(l.Items), 1)
	eventually(t, fmt.Sprintf("%d passes over %s", n, kind), func(context.Context) error {
		if now := reconciles(t, kind); now < until {
			return fmt.Errorf("%d passes are missing", until-now)
		}
		return nil
	})
}

// onCallServer is a server of a test's own. Start it before there are namespaces: what is in them is deleted first then.
func onCallServer(t *testing.T) *terdutserver.Server {
	t.Helper()
	s, err := terdutserver.Start(terdutserver.Options{})
	if err != nil {
		t.Fatalf("cannot start on-call server: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

func serverState(t *testing.T, s *terdutserver.Server) *terdutserver.State {
	t.Helper()
	st, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatalf("cannot look at the on-call server: %v", err)
	}
	return st
}

func newBootstrap(ns, endpoint string) *oncallv1alpha1.Bootstrap {
	b := &oncallv1alpha1.Bootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "terdut"}}
	b.Spec.ForProvider = oncallv1alpha1.BootstrapParameters{
		Endpoint: endpoint, AdminUsername: "admin", AdminEmail: "admin@terdut.example", DeletionPolicy: commonv1alpha1.DeletionDelete,
	}
	return b
}

func newOnCallConfig(ns string) *oncallv1alpha1.ProviderConfig {
	c := &oncallv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "terdut"}}
	c.Spec.BootstrapRef = &oncallv1alpha1.BootstrapReference{Name: "terdut"}
	return c
}

func newTeam(ns, name, serverNamespace string) *oncallv1alpha1.Team {
	m := &oncallv1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	m.Spec.ForProvider.ServerRef = &oncallv1alpha1.ServerReference{Name: "terdut"}
	if serverNamespace != ns {
		m.Spec.ForProvider.ServerRef.Namespace = &serverNamespace
	}
	return m
}

func isReady(t *testing.T, objects ...conditioned) {
	t.Helper()
	for _, o := range objects {
		becomes(t, o, xpv2.TypeReady, corev1.ConditionTrue, "")
		becomes(t, o, xpv2.TypeSynced, corev1.ConditionTrue, "")
	}
}

// on the server, teams as they look, in the end.
func teamsAre(t *testing.T, s *terdutserver.Server, want ...terdutserver.Team) {
	t.Helper()
	eventually(t, "the server's teams", func(context.Context) error {
		got := serverState(t, s).Teams
		for i := range got {
			got[i].ID = 0
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("they are %+v, want %+v", got, want)
		}
		return nil
	})
}

// onCallSecrets are the credentials in the provider's namespace of objects of a namespace.
func onCallSecrets(t *testing.T, ns string) []corev1.Secret {
	t.Helper()
	l := &corev1.SecretList{}
	if err := p.Client.List(t.Context(), l, client.InNamespace(local.SystemNamespace)); err != nil {
		t.Fatalf("cannot list Secrets: %v", err)
	}
	var found []corev1.Secret
	for _, s := range l.Items {
		if s.Annotations["terdut.ryuvia.com/owner-namespace"] == ns {
			found = append(found, s)
		}
	}
	return found
}

func noCredentials(t *testing.T, ns string) {
	t.Helper()
	if n := len(onCallSecrets(t, ns)); n > 0 {
		t.Errorf("there are still %d credentials", n)
	}
}
