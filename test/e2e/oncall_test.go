package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestOnCallTeam holds the life of a server's account and of a team: made, changed, put back when somebody changes it on the server, made again
// when somebody deletes it there, given another key, and deleted with nothing left.
func TestOnCallTeam(t *testing.T) {
	t.Parallel()
	s, ns := onCallServer(t), namespace(t)
	b, c, m := newBootstrap(ns, s.URL()), newOnCallConfig(ns), newTeam(ns, "platform", ns)
	m.Spec.ForProvider.OIDC = &oncallv1alpha1.OIDCGroups{MemberGroup: ptr.To("members")}
	// The one that needs the others first.
	for _, o := range []client.Object{m, c, b} {
		create(t, o)
	}
	isReady(t, b, m)
	becomes(t, c, oncallv1alpha1.TypeHealthy, corev1.ConditionTrue, oncallv1alpha1.ReasonProbed)
	teamsAre(t, s, terdutserver.Team{Name: "platform", MemberGroup: "members"})
	keys := serverState(t, s).Keys

	// Nothing is written at rest.
	s.ResetRequests()
	was := m.DeepCopy()
	passesOver(t, teams, 10)
	if n := s.Writes(); n > 0 {
		t.Errorf("%d writes at rest", n)
	}
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil {
		t.Fatalf("cannot get Team: %v", err)
	}
	if diff := cmp.Diff(was, m); diff != "" {
		t.Errorf("the Team was written at rest: -was, +is:\n%s", diff)
	}

	edit(t, m, func(m *oncallv1alpha1.Team) {
		m.Spec.ForProvider.DisplayName = ptr.To("The Platform")
		m.Spec.ForProvider.OIDC = &oncallv1alpha1.OIDCGroups{MemberGroup: ptr.To(""), OwnerGroup: ptr.To("owners")}
	})
	teamsAre(t, s, terdutserver.Team{Name: "The Platform", OwnerGroup: "owners"})

	// What a person does on the server is put back.
	if err := s.Edit(t.Context(), func(st *terdutserver.State) { st.Teams[0].Name, st.Teams[0].OwnerGroup = "Mine", "mine" }); err != nil {
		t.Fatal(err)
	}
	teamsAre(t, s, terdutserver.Team{Name: "The Platform", OwnerGroup: "owners"})

	for _, rotate := range []func(){
		func() {
			edit(t, b, func(b *oncallv1alpha1.Bootstrap) {
				b.Spec.ForProvider.KeyRotation = &oncallv1alpha1.KeyRotation{Trigger: "2"}
			})
		},
		func() {
			edit(t, m, func(m *oncallv1alpha1.Team) {
				m.Spec.ForProvider.KeyRotation = &oncallv1alpha1.KeyRotation{Trigger: "2"}
			})
		},
	} {
		rotate()
	}
	eventually(t, "the old keys to be revoked", func(context.Context) error {
		now := serverState(t, s).Keys
		for _, k := range now {
			if k.AccountID != 0 && (k.ID == keys[1].ID || k.ID == keys[2].ID) {
				return fmt.Errorf("key %d is valid", k.ID)
			}
		}
		if len(now) != len(keys) {
			return fmt.Errorf("there are %d keys", len(now))
		}
		return nil
	})
	isReady(t, b, m)

	old := serverState(t, s).Teams[0].ID
	if err := s.Edit(t.Context(), func(st *terdutserver.State) { st.Teams = nil }); err != nil {
		t.Fatal(err)
	}
	teamsAre(t, s, terdutserver.Team{Name: "The Platform", OwnerGroup: "owners"})
	if id := serverState(t, s).Teams[0].ID; id == old {
		t.Errorf("the team has its old id %d", id)
	}
	isReady(t, m)

	// The config and the account stay for as long as the Team needs them.
	remove(t, c)
	remove(t, b)
	becomes(t, c, typeTerminating, corev1.ConditionTrue, "")
	becomes(t, b, oncallv1alpha1.TypeBootstrapped, corev1.ConditionFalse, oncallv1alpha1.ReasonInUse)
	remove(t, m)
	isGone(t, m)
	isGone(t, c)
	isGone(t, b)
	if st := serverState(t, s); len(st.Teams) != 0 || len(st.ServiceAccounts) != 0 || len(st.Users) != 1 {
		t.Errorf("left: %d teams, %d accounts, %d users", len(st.Teams), len(st.ServiceAccounts), len(st.Users))
	}
	noCredentials(t, ns)
}

// TestH41OnCallConsent holds that a Team of another namespace follows the consent of the server's config and the labels of its namespace at once,
// that no key leaves the provider's namespace, and that a forged status leads nowhere.
func TestH41OnCallConsent(t *testing.T) {
	t.Parallel()
	s, ns, tenant := onCallServer(t), namespace(t), namespace(t)
	b, c, m := newBootstrap(ns, s.URL()), newOnCallConfig(ns), newTeam(tenant, "shop", ns)
	for _, o := range []client.Object{b, c, m} {
		create(t, o)
	}
	isReady(t, b)
	becomes(t, m, xpv2.TypeReady, corev1.ConditionFalse, oncallv1alpha1.ReasonRefNotPermitted)
	edit(t, c, func(c *oncallv1alpha1.ProviderConfig) {
		c.Spec.AllowedTeams.Namespaces = oncallv1alpha1.LocalTeamNamespaces{
			From: oncallv1alpha1.NamespacesSelector, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"oncall": ns}},
		}
	})
	label := func(v string) {
		t.Helper()
		o := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenant}}
		edit(t, o, func(o *corev1.Namespace) { o.Labels["oncall"] = v })
	}
	label(ns)
	isReady(t, m)
	teamsAre(t, s, terdutserver.Team{Name: "shop"})

	// Everything of either namespace, the status included, and the provider's log.
	var text strings.Builder
	for _, l := range []client.ObjectList{&corev1.SecretList{}, &corev1.EventList{}, &oncallv1alpha1.BootstrapList{}, &oncallv1alpha1.TeamList{}, &oncallv1alpha1.ProviderConfigList{}} {
		for _, n := range []string{ns, tenant} {
			if err := p.Client.List(t.Context(), l, client.InNamespace(n)); err != nil {
				t.Fatalf("cannot list %T: %v", l, err)
			}
			if secrets, ok := l.(*corev1.SecretList); ok && len(secrets.Items) > 0 {
				t.Errorf("there are %d Secrets in namespace %s", len(secrets.Items), n)
			}
			j, err := json.Marshal(l)
			if err != nil {
				t.Fatalf("cannot encode %T", l)
			}
			text.Write(j)
		}
	}
	log, err := os.ReadFile(filepath.Join(p.Plane.Logs, "provider-terdut.log"))
	if err != nil {
		t.Fatalf("cannot read the provider's log: %v", err)
	}
	text.Write(log)
	held := append(onCallSecrets(t, ns), onCallSecrets(t, tenant)...)
	if len(held) != 2 {
		t.Errorf("there are %d credentials, want 2", len(held))
	}
	for _, k := range held {
		if v := string(k.Data["token"]); len(v) < 64 || strings.Contains(text.String(), v[:16]) {
			t.Errorf("a key is missing, or is where it must not be")
		}
	}

	// A status that says something else is put right, and nothing is sent there.
	other := onCallServer(t)
	m.Status.AtProvider.ServerEndpoint, m.Status.AtProvider.TeamID = other.URL(), 4711
	m.Status.AtProvider.CredentialsSecretRef.Name = "provider-terdut"
	if err := p.Client.Status().Update(t.Context(), m); err != nil {
		t.Fatalf("cannot forge the status: %v", err)
	}
	eventually(t, "the status to be put right", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
			return err
		}
		if m.Status.AtProvider.TeamID == 4711 {
			return fmt.Errorf("it is still forged")
		}
		return nil
	})
	if n := len(other.Requests()); n > 0 {
		t.Errorf("%d requests went to a forged address", n)
	}

	// Consent that is taken back stops changes and deletes nothing.
	label("no")
	becomes(t, m, xpv2.TypeReady, corev1.ConditionFalse, oncallv1alpha1.ReasonRefNotPermitted)
	s.ResetRequests()
	edit(t, m, func(m *oncallv1alpha1.Team) { m.Spec.ForProvider.DisplayName = ptr.To("renamed") })
	passesOver(t, teams, 2)
	if n := s.Writes(); n > 0 {
		t.Errorf("%d writes without consent", n)
	}
	teamsAre(t, s, terdutserver.Team{Name: "shop"})
	label(ns)
	teamsAre(t, s, terdutserver.Team{Name: "renamed"})
	edit(t, c, func(c *oncallv1alpha1.ProviderConfig) {
		c.Spec.AllowedTeams.Namespaces = oncallv1alpha1.LocalTeamNamespaces{From: oncallv1alpha1.NamespacesNone}
	})
	becomes(t, m, xpv2.TypeReady, corev1.ConditionFalse, oncallv1alpha1.ReasonRefNotPermitted)
	remove(t, m)
	isGone(t, m)
	teamsAre(t, s)
	for _, o := range []client.Object{c, b} {
		remove(t, o)
		isGone(t, o)
	}
	noCredentials(t, ns)
	noCredentials(t, tenant)
}

// TestH32OnCallRevoked holds that a key which is revoked is not taken for a team that is gone, and that the message says how the provider gets in
// again.
func TestH32OnCallRevoked(t *testing.T) {
	t.Parallel()
	s, ns := onCallServer(t), namespace(t)
	b, c, m := newBootstrap(ns, s.URL()), newOnCallConfig(ns), newTeam(ns, "platform", ns)
	for _, o := range []client.Object{b, c, m} {
		create(t, o)
	}
	isReady(t, b, m)
	if err := s.Edit(t.Context(), func(st *terdutserver.State) {
		for i := range st.Keys {
			if st.Keys[i].ID == b.Status.AtProvider.KeyID {
				st.Keys[i].Hash = "revoked"
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	message := becomes(t, b, xpv2.TypeReady, corev1.ConditionFalse, oncallv1alpha1.ReasonBootstrapStateLost)
	if !strings.Contains(message, "adminKeySecretRef") {
		t.Errorf("the message does not say what to do: %s", message)
	}
	becomes(t, m, xpv2.TypeReady, corev1.ConditionUnknown, oncallv1alpha1.ReasonUnauthorized)
	becomes(t, c, oncallv1alpha1.TypeHealthy, corev1.ConditionFalse, oncallv1alpha1.ReasonUnauthorized)
	key, err := s.AddAdmin(t.Context(), "root")
	if err != nil {
		t.Fatal(err)
	}
	edit(t, b, func(b *oncallv1alpha1.Bootstrap) {
		b.Spec.ForProvider.AdminKeySecretRef = &commonv1alpha1.LocalSecretKeySelector{Name: "root", Key: "key"}
	})
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "root"}, Data: map[string][]byte{"key": []byte(key)}})
	isReady(t, b, m)
	becomes(t, c, oncallv1alpha1.TypeHealthy, corev1.ConditionTrue, "")
	if st := serverState(t, s); len(st.Teams) != 1 || len(st.ServiceAccounts) != 2 {
		t.Errorf("there are %d teams and %d accounts", len(st.Teams), len(st.ServiceAccounts))
	}
}

// TestH39OnCallNamespace holds that a namespace with a server's account, its config and a Team ends, with the server answering and without, also
// when a Team of another namespace is on that server, and that the Team can be deleted afterwards.
func TestH39OnCallNamespace(t *testing.T) {
	for name, answers := range map[string]bool{"Answering": true, "Silent": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ns, tenant := onCallServer(t), namespace(t), namespace(t)
			b, c := newBootstrap(ns, s.URL()), newOnCallConfig(ns)
			c.Spec.AllowedTeams.Namespaces.From = oncallv1alpha1.NamespacesAll
			here, there := newTeam(ns, "here", ns), newTeam(tenant, "there", ns)
			for _, o := range []client.Object{b, c, here, there} {
				create(t, o)
			}
			isReady(t, b, here, there)
			if !answers {
				s.Close()
			}
			remove(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
			isGone(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
			becomes(t, there, xpv2.TypeReady, corev1.ConditionFalse, oncallv1alpha1.ReasonServerNotFound)
			remove(t, there)
			isGone(t, there)
			noCredentials(t, tenant)
			if answers {
				if st := serverState(t, s); len(st.Teams) != 1 || st.Teams[0].Name != "there" {
					t.Errorf("left on the server: %+v", st.Teams)
				}
				noCredentials(t, ns)
			}
		})
	}
}
