package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestOncallChildren holds the life of each kind that belongs to a Team: it is made on the server, follows a change, is put back when
// somebody changes it there, and is gone from there afterwards. From the moment that the Team is Ready the key that reaches the whole server
// is revoked: the children need the Team's own alone.
func TestOncallChildren(t *testing.T) {
	t.Parallel()
	s := newCallServer(t)
	ns := namespace(t)
	// Children that come first wait, without an error.
	policy, dog, alerts := newPolicy(ns, "ops"), newSwitch(ns, "ops", "watchdog"), newIntegration(ns, "ops", "alerts")
	for _, o := range []conditioned{policy, dog, alerts} {
		create(t, o)
		becomes(t, o, xpv2.TypeReady, corev1.ConditionFalse, oncallv1alpha1.ReasonWaitingForTeam)
		becomes(t, o, xpv2.TypeSynced, corev1.ConditionTrue, "")
	}
	team := s.team(t, ns, "ops")
	ready(t, team, policy, dog, alerts)
	s.revoke(t)
	s.ResetRequests()

	st := s.state(t)
	id := team.Status.AtProvider.TeamID
	if p := st.Policies[id]; p.RepeatCount != 1 || len(p.Levels) != 2 || p.Levels[0].Timeout != "5m0s" || p.Levels[1].Targets[0] != (terdutserver.Target{Kind: "user", UserID: 1}) {
		t.Errorf("the policy is %v", p)
	}
	if want := (terdutserver.Switch{ID: dog.Status.AtProvider.SwitchID, TeamID: id, Name: "watchdog", Matcher: "alertname=Watchdog", Timeout: "15m0s", Severity: "critical"}); len(st.Switches) != 1 || st.Switches[0] != want {
		t.Errorf("the switches are %v", st.Switches)
	}
	if len(st.Integrations) != 1 || st.Integrations[0].TeamID != id || st.Integrations[0].Name != "alerts" || st.Integrations[0].ID != alerts.Status.AtProvider.IntegrationID {
		t.Errorf("the integrations are %v", st.Integrations)
	}
	post(t, s, ns, "alerts-webhook", alerts.Status.AtProvider.IntegrationID)

	// Changes.
	change(t, client.ObjectKeyFromObject(policy), policy, func() { policy.Spec.ForProvider.RepeatCount = 0 })
	change(t, client.ObjectKeyFromObject(dog), dog, func() { dog.Spec.ForProvider.Severity = "warning" })
	renamed := "production"
	change(t, client.ObjectKeyFromObject(alerts), alerts, func() { alerts.Spec.ForProvider.Name = &renamed })
	as := func(st *terdutserver.State) error {
		switch {
		case st.Policies[id].RepeatCount != 0 || len(st.Policies[id].Levels) != 2:
			return fmt.Errorf("the policy is %v", st.Policies[id])
		case len(st.Switches) != 1 || st.Switches[0].Severity != "warning" || st.Switches[0].ID != dog.Status.AtProvider.SwitchID:
			return fmt.Errorf("the switches are %v", st.Switches)
		case len(st.Integrations) != 1 || st.Integrations[0].Name != renamed || st.Integrations[0].ID != alerts.Status.AtProvider.IntegrationID:
			return fmt.Errorf("the integrations are %v", st.Integrations)
		}
		return nil
	}
	eventually(t, "the changes to be on the server", func(context.Context) error { return as(s.state(t)) })

	// Drift.
	if err := s.Edit(t.Context(), func(st *terdutserver.State) {
		p := st.Policies[id]
		p.RepeatCount, p.Levels = 7, nil
		st.Policies[id] = p
		st.Switches[0].Severity, st.Integrations[0].Name = "info", "by hand"
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what was changed by hand to be put back", func(context.Context) error { return as(s.state(t)) })
	more := newSwitch(ns, "ops", "second")
	create(t, more)
	ready(t, more)
	post(t, s, ns, "alerts-webhook", alerts.Status.AtProvider.IntegrationID)

	for _, r := range s.Requests() {
		if strings.HasPrefix(r.Route, "/api/teams/{team}/") && r.Credential == "service-account/provider" {
			t.Errorf("%s %s was sent with the key that reaches the whole server", r.Method, r.Route)
		}
	}

	for _, o := range []client.Object{policy, dog, alerts, more} {
		remove(t, o)
	}
	for _, o := range []client.Object{policy, dog, alerts, more} {
		isGone(t, o)
	}
	st = s.state(t)
	if len(st.Switches)+len(st.Integrations)+len(st.Policies[id].Levels) != 0 {
		t.Errorf("something is left: %v %v %v", st.Switches, st.Integrations, st.Policies)
	}
	eventually(t, "the Secret to be gone", func(ctx context.Context) error {
		return gone(ctx, &corev1.Secret{}, types.NamespacedName{Namespace: ns, Name: "alerts-webhook"})
	})
	// The Team cannot go without the key. That is what the hatch is for.
	change(t, client.ObjectKeyFromObject(team), team, func() {
		team.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	})
}

// post an alert to the webhook in a Secret, and see that the integration has it.
func post(t *testing.T, s *callServer, ns, secret string, integration int64) {
	t.Helper()
	taken := func() int {
		for _, i := range s.state(t).Integrations {
			if i.ID == integration {
				return i.Alerts
			}
		}
		return -1
	}
	was := taken()
	rsp, err := http.Post(string(secretData(t, ns, secret)["url"]), "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal("the webhook does not answer") // The error would repeat the URL.
	}
	_ = rsp.Body.Close()
	if taken() != was+1 {
		t.Error("the integration did not take the alert")
	}
}

// TestH29ChildrenAndTeam holds that a Team and its children that are deleted together always go, in any order and with any delays, also with
// their namespace, and that nothing of them stays on a server outside it.
func TestH29ChildrenAndTeam(t *testing.T) {
	t.Parallel()
	s := newCallServer(t)
	const runs = 20
	t.Run("runs", func(t *testing.T) {
		for run := range runs {
			t.Run(fmt.Sprint(run), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(uint64(run), 0))
				ns := namespace(t)
				team := s.team(t, ns, "ops")
				children := []conditioned{newPolicy(ns, "ops"), newSwitch(ns, "ops", "watchdog"), newIntegration(ns, "ops", "alerts")}
				for _, o := range children {
					create(t, o)
				}
				if run%4 != 3 { // Each fourth is deleted while it is made.
					ready(t, append(children, team)...)
				}
				all := append([]conditioned{team}, children...)
				if run%2 == 0 {
					remove(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
				} else {
					r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
					for _, o := range all {
						wait, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(400))*time.Millisecond)
						<-wait.Done()
						cancel()
						remove(t, o)
					}
				}
				for _, o := range all {
					isGone(t, o)
				}
			})
		}
	})
	st := s.state(t)
	if len(st.Teams)+len(st.Switches)+len(st.Integrations)+len(st.Policies) != 0 {
		t.Errorf("left on the server: %v %v %v %v", st.Teams, st.Switches, st.Integrations, st.Policies)
	}
	if accounts := slices.DeleteFunc(st.ServiceAccounts, func(a terdutserver.ServiceAccount) bool { return a.ID == s.account }); len(accounts) != 0 {
		t.Errorf("service accounts left on the server: %v", accounts)
	}
	keys := &corev1.SecretList{}
	if err := p.Client.List(t.Context(), keys, client.MatchingLabels{"app.kubernetes.io/managed-by": "provider-terdut"}); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys.Items {
		if string(k.Data["endpoint"]) == s.URL() {
			t.Errorf("the key in Secret %s was not deleted", k.Name)
		}
	}
}

// TestH34WebhookSecretLost holds that the loss of a webhook's Secret is seen at once, reported with an event, and mended by nobody but a
// person, who deletes the object and makes it again.
func TestH34WebhookSecretLost(t *testing.T) {
	t.Parallel()
	s := newCallServer(t)
	ns := namespace(t)
	team, alerts := s.team(t, ns, "ops"), newIntegration(ns, "ops", "alerts")
	create(t, alerts)
	ready(t, team, alerts)
	remove(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "alerts-webhook"}})
	becomes(t, alerts, xpv2.TypeReady, corev1.ConditionFalse, oncallv1alpha1.ReasonWebhookSecretLost)
	eventually(t, "the Warning event", func(ctx context.Context) error {
		l := &corev1.EventList{}
		if err := p.Client.List(ctx, l, client.InNamespace(ns)); err != nil {
			return err
		}
		for _, e := range l.Items {
			if e.Type == corev1.EventTypeWarning && e.Reason == string(oncallv1alpha1.ReasonWebhookSecretLost) {
				return nil
			}
		}
		return errors.New("there is none")
	})
	id := alerts.Status.AtProvider.IntegrationID
	remove(t, alerts)
	isGone(t, alerts)
	again := newIntegration(ns, "ops", "alerts")
	create(t, again)
	ready(t, again)
	if again.Status.AtProvider.IntegrationID == id || len(s.state(t).Integrations) != 1 {
		t.Errorf("the integrations are %v", s.state(t).Integrations)
	}
	post(t, s, ns, "alerts-webhook", again.Status.AtProvider.IntegrationID)
}
