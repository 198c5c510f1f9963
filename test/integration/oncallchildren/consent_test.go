package oncallchildren

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// TestH41ChildrenAsk holds that consent which the server's config takes back stops an object although its Team does not notice: the Team is paused,
// or was led to another config before. It may still be deleted, and goes on when there is consent again.
func TestH41ChildrenAsk(t *testing.T) {
	for name, c := range map[string]struct {
		team   func(*v1alpha1.Team)
		config credential.Owner
	}{
		"Paused": {
			team: func(m *v1alpha1.Team) {
				meta.AddAnnotations(m, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
			},
			config: credential.Owner{Kind: "ProviderConfig", Namespace: "ops", Name: "terdut"},
		},
		"LedElsewhere": {
			team: func(m *v1alpha1.Team) {
				m.Spec.ForProvider.ServerRef = nil
				m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "missing"}
			},
			config: credential.Owner{Kind: "ProviderConfig", Namespace: "ops", Name: "terdut"},
		},
		"Legacy": {team: func(*v1alpha1.Team) {}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "terdut"}}
			pc.Spec.AllowedTeams.Namespaces.From = v1alpha1.NamespacesAll
			if err := w.kube.Create(t.Context(), pc); err != nil {
				t.Fatal(err)
			}
			admit := func(from v1alpha1.NamespacesFrom) {
				t.Helper()
				pc.Spec.AllowedTeams.Namespaces.From = from
				if err := w.kube.Update(t.Context(), pc); err != nil {
					t.Fatal(err)
				}
			}
			team, ops := w.liveTeam("ops"), "ops"
			team.Spec.ForProvider.ServerRef = &v1alpha1.ServerReference{Name: "terdut", Namespace: &ops}
			c.team(team)
			if err := w.kube.Update(t.Context(), team); err != nil {
				t.Fatal(err)
			}
			w.credential("ops", func(cr *credential.Credential) { cr.Config = c.config })
			kind(t, func(t *testing.T, o setup.Object) {
				admit(v1alpha1.NamespacesAll)
				w.apply(o)
				w.settle(o)
				w.is(o, xpv2.ReasonAvailable)
				admit(v1alpha1.NamespacesNone)
				was := w.rows()
				w.differ(o)
				w.settle(o)
				w.is(o, v1alpha1.ReasonWaitingForTeam)
				if m := o.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, "allowedTeams") {
					t.Errorf("the message does not say why: %s", m)
				}
				if diff := same(was, w.rows()); diff != "" {
					t.Errorf("something was written: %s", diff)
				}
				admit(v1alpha1.NamespacesAll)
				w.settle(o)
				w.is(o, xpv2.ReasonAvailable)
				admit(v1alpha1.NamespacesNone)
				w.remove(o)
				w.settle(o)
				w.gone(o)
			})
		})
	}
}

// differ changes the spec of an object, so that there is something to write.
func (w *world) differ(o setup.Object) {
	w.t.Helper()
	name := "changed"
	change(w, o, func(o setup.Object) {
		switch o := o.(type) {
		case *v1alpha1.EscalationPolicy:
			o.Spec.ForProvider.FallbackTopic = name
		case *v1alpha1.DeadmanSwitch:
			o.Spec.ForProvider.Severity = "info"
		case *v1alpha1.Integration:
			o.Spec.ForProvider.Name = &name
		}
	})
}
