package oncall

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// elsewhere makes a Team one of namespace shop, on the server of namespace ops.
func elsewhere(m *v1alpha1.Team) {
	m.Namespace = "shop"
	m.Spec.ForProvider.ServerRef.Namespace = ptr("ops")
}

func allow(from v1alpha1.NamespacesFrom, labels map[string]string) func(*v1alpha1.ProviderConfig) {
	return func(c *v1alpha1.ProviderConfig) {
		c.Spec.AllowedTeams.Namespaces = v1alpha1.LocalTeamNamespaces{From: from}
		if labels != nil {
			c.Spec.AllowedTeams.Namespaces.Selector = &metav1.LabelSelector{MatchLabels: labels}
		}
	}
}

// TestH41Consent holds that a Team of another namespace is on a server only with the consent of the server's config, that a Team of the config's
// own namespace needs none, and that a config nobody can see is as good as none.
func TestH41Consent(t *testing.T) {
	for name, c := range map[string]struct {
		mod    func(*v1alpha1.ProviderConfig)
		labels map[string]string
		want   xpv2.ConditionReason
	}{
		"Unset":            {mod: func(*v1alpha1.ProviderConfig) {}, want: v1alpha1.ReasonRefNotPermitted},
		"None":             {mod: allow(v1alpha1.NamespacesNone, nil), want: v1alpha1.ReasonRefNotPermitted},
		"Same":             {mod: allow(v1alpha1.NamespacesSame, nil), want: v1alpha1.ReasonRefNotPermitted},
		"All":              {mod: allow(v1alpha1.NamespacesAll, nil), want: xpv2.ReasonAvailable},
		"Selected":         {mod: allow(v1alpha1.NamespacesSelector, map[string]string{"oncall": "yes"}), labels: map[string]string{"oncall": "yes"}, want: xpv2.ReasonAvailable},
		"NotSelected":      {mod: allow(v1alpha1.NamespacesSelector, map[string]string{"oncall": "yes"}), labels: map[string]string{"oncall": "no"}, want: v1alpha1.ReasonRefNotPermitted},
		"SelectorMissing":  {mod: allow(v1alpha1.NamespacesSelector, nil), want: v1alpha1.ReasonRefNotPermitted},
		"UnreadableValues": {mod: allow("Everybody", nil), want: v1alpha1.ReasonRefNotPermitted},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			b, here, there := newBootstrap(w), newTeam("here"), newTeam("there", elsewhere)
			w.create(b, newConfig(c.mod), here, there)
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
			change(w, ns, func(n *corev1.Namespace) { n.Labels = c.labels })
			w.ready(b, here)
			if err := w.passAll(3, there); err != nil {
				t.Fatal(err)
			}
			is(t, there, c.want)
			w.rest(b, here, there)
			teams := 1
			if c.want == xpv2.ReasonAvailable {
				teams = 2
			}
			if n := len(w.state().Teams); n != teams {
				t.Errorf("there are %d teams, want %d", n, teams)
			}
		})
	}
}

// TestH41Revoked holds that consent which is taken back stops changes at once, also those of the team's children, deletes nothing, and still lets
// the object delete its team.
func TestH41Revoked(t *testing.T) {
	w := newWorld(t)
	b, c, m := newBootstrap(w), newConfig(allow(v1alpha1.NamespacesSelector, map[string]string{"oncall": "yes"})), newTeam("there", elsewhere)
	w.create(b, c, m)
	label := func(v string) {
		t.Helper()
		change(w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, func(n *corev1.Namespace) { n.Labels = map[string]string{"oncall": v} })
	}
	label("yes")
	w.ready(b, m)
	suspended := func() string {
		t.Helper()
		cred, err := w.store.Team(t.Context(), m)
		if err != nil || !cred.Complete() {
			t.Fatalf("the credential is not complete: %v", err)
		}
		return cred.Suspended
	}

	label("no")
	change(w, m, func(m *v1alpha1.Team) { m.Spec.ForProvider.DisplayName = ptr("Renamed") })
	w.server.ResetRequests()
	if err := w.passAll(2, m); err != nil {
		t.Fatal(err)
	}
	is(t, m, v1alpha1.ReasonRefNotPermitted)
	w.rest(m)
	if n := len(w.server.Requests()); n > 0 {
		t.Errorf("%d requests without consent", n)
	}
	if suspended() == "" {
		t.Error("children are not told to stop")
	}
	label("yes")
	w.ready(m)
	if s := w.state(); len(s.Teams) != 1 || s.Teams[0].Name != "Renamed" || suspended() != "" {
		t.Errorf("the teams are %+v", s.Teams)
	}

	label("no")
	if err := w.passAll(1, m); err != nil {
		t.Fatal(err)
	}
	w.remove(m)
	if err := w.passAll(2, m); err != nil || w.exists(m) {
		t.Errorf("the object is still there: %v", err)
	}
	if n := len(w.state().Teams); n != 0 {
		t.Errorf("there are %d teams", n)
	}
}

// TestForgedStatus holds that nothing which users can write leads a key elsewhere: neither the status of a Team or a Bootstrap, nor a config that
// names another server.
func TestForgedStatus(t *testing.T) {
	w, b := withServer(t)
	other, err := terdutserver.Start(terdutserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	m, decoy := newTeam("platform"), newTeam("decoy")
	w.create(m, decoy)
	w.ready(m, decoy)
	id := m.Status.AtProvider.TeamID
	forge := func() {
		t.Helper()
		m.Status.AtProvider = v1alpha1.TeamObservation{
			TeamID: decoy.Status.AtProvider.TeamID, ServerEndpoint: other.URL(), ServiceAccountID: 1, KeyID: 1,
			CredentialsSecretRef: &v1alpha1.CredentialReference{Name: decoy.Status.AtProvider.CredentialsSecretRef.Name},
		}
		b.Status.AtProvider.CredentialsSecretRef.Name, b.Status.AtProvider.ServiceAccountID = "root", 7
		for _, o := range []client.Object{m, b} {
			if err := w.kube.Status().Update(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	forge()
	w.server.ResetRequests()
	w.ready(b, m)
	w.untouched()
	if m.Status.AtProvider.TeamID != id {
		t.Error("the status was believed")
	}
	forge()
	w.remove(m)
	if err := w.passAll(2, m); err != nil || w.exists(m) {
		t.Errorf("the object is still there: %v", err)
	}
	if s := w.state(); len(s.Teams) != 1 || s.Teams[0].Name != "decoy" {
		t.Errorf("the teams are %+v", s.Teams)
	}

	// Whoever may write a config has no way to the keys of a Team either.
	c := newConfig()
	change(w, c, func(c *v1alpha1.ProviderConfig) {
		c.Spec.BootstrapRef, c.Spec.Endpoint = nil, ptr(other.URL())
		c.Spec.SecretRef = &commonv1alpha1.LocalSecretKeySelector{Name: "mine", Key: "key"}
	})
	key, err := other.AddAdmin(t.Context(), "mallory")
	if err != nil {
		t.Fatal(err)
	}
	w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "mine"}, Data: map[string][]byte{"key": []byte(key)}})
	if err := w.passAll(2, decoy); err != nil {
		t.Fatal(err)
	}
	is(t, decoy, v1alpha1.ReasonServerChanged)
	for _, r := range other.Requests() {
		if r.IsWrite() || r.Credential != "user/mallory" {
			t.Errorf("the other server got %+v", r)
		}
	}
}

// TestNoCredentialElsewhere holds that no key is in any object outside the provider's namespace, nor in an event.
func TestNoCredentialElsewhere(t *testing.T) {
	w := newWorld(t)
	b, m := newBootstrap(w), newTeam("there", elsewhere)
	w.create(b, newConfig(allow(v1alpha1.NamespacesAll, nil)), m)
	seen := map[string]bool{}
	look := func() {
		t.Helper()
		for _, s := range w.credentials() {
			for _, k := range []string{"token", "adminToken"} {
				if v := string(s.Data[k]); v != "" {
					seen[v] = true
				}
			}
		}
		var text strings.Builder
		for _, l := range []client.ObjectList{&corev1.SecretList{}, &v1alpha1.BootstrapList{}, &v1alpha1.TeamList{}, &v1alpha1.ProviderConfigList{}} {
			if err := w.kube.List(context.Background(), l); err != nil {
				t.Fatal(err)
			}
			if secrets, ok := l.(*corev1.SecretList); ok {
				for _, s := range secrets.Items {
					if s.Namespace != own {
						fmt.Fprint(&text, s.Data, s.StringData)
					}
				}
				continue
			}
			j, err := json.Marshal(l)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(j)
		}
		for _, e := range w.events.all {
			text.WriteString(e.Message)
		}
		for key := range seen {
			if strings.Contains(text.String(), key[:16]) {
				t.Error("a key is where it must not be")
			}
		}
	}
	for range 4 {
		_ = w.passAll(1, b, m)
		look()
	}
	change(w, b, func(b *v1alpha1.Bootstrap) { b.Spec.ForProvider.KeyRotation = &v1alpha1.KeyRotation{Trigger: "2"} })
	change(w, m, func(m *v1alpha1.Team) { m.Spec.ForProvider.KeyRotation = &v1alpha1.KeyRotation{Trigger: "2"} })
	w.ready(b, m)
	look()
	if len(seen) != 4 {
		t.Errorf("%d keys were seen, want 4", len(seen))
	}
}

// TestClusterConfig holds that a Team without a serverRef is on the server of its providerConfigRef, and that a cluster config admits namespaces
// by their labels.
func TestClusterConfig(t *testing.T) {
	w := newWorld(t)
	key, err := w.server.AddAdmin(t.Context(), "root")
	if err != nil {
		t.Fatal(err)
	}
	c := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: uid()}}
	c.Spec.Endpoint = w.server.URL() + "/api/"
	c.Spec.SecretRef = commonv1alpha1.SecretKeySelector{Namespace: own, LocalSecretKeySelector: commonv1alpha1.LocalSecretKeySelector{Name: "login", Key: "key"}}
	m := newTeam("platform", func(m *v1alpha1.Team) {
		m.Spec.ForProvider.ServerRef = nil
		m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: connect.KindClusterProviderConfig, Name: "default"}
	})
	w.create(c, m)
	if err := w.passAll(2, m); err != nil {
		t.Fatal(err)
	}
	is(t, m, v1alpha1.ReasonConfigNotReady)
	w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: "login"}, Data: map[string][]byte{"key": []byte(key)}})
	w.ready(m)
	if meta.GetExternalName(m) == "" {
		t.Error("it has no external name")
	}
	change(w, c, func(c *v1alpha1.ClusterProviderConfig) {
		c.Spec.AllowedTeams.Namespaces = v1alpha1.TeamNamespaces{From: v1alpha1.NamespacesSelector, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"oncall": "yes"}}}
	})
	if err := w.passAll(2, m); err != nil {
		t.Fatal(err)
	}
	is(t, m, v1alpha1.ReasonRefNotPermitted)
}
