package oncallchildren

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestH34NoLeak holds that the webhook is in the integration's Secret and nowhere else, and the Team's key nowhere but in the provider's
// namespace: not in an object, its annotations, its status, an event or an error, also not when everything fails.
func TestH34NoLeak(t *testing.T) {
	w := newWorld(t)
	objects := children()
	w.apply(objects...)
	w.settle(objects...)
	i := objects[2].(*v1alpha1.Integration)
	secrets := []string{string(w.secret(i).Data["key"]), string(w.secret(i).Data["url"])}
	keys := &corev1.SecretList{}
	if err := w.kube.List(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	for _, s := range keys.Items {
		if s.Namespace == system {
			secrets = append(secrets, string(s.Data["token"]))
		}
	}
	if len(secrets) != 3 {
		t.Fatalf("want three secrets to look for, got %d", len(secrets))
	}
	var texts []string
	look := func() {
		for _, o := range objects {
			w.load(o)
			b, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(b))
		}
		for _, s := range keys.Items {
			b, err := json.Marshal(s.ObjectMeta)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(b))
		}
	}
	look()
	// The server repeats in its errors what it was asked with.
	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError} {
		cancel := w.srv.Inject(terdutserver.Fault{Status: status, Body: `{"error":"` + strings.Join(secrets, " ") + `"}`})
		for _, o := range objects {
			if err := w.pass(o); err == nil {
				t.Error("a pass did not fail")
			} else {
				texts = append(texts, err.Error())
			}
		}
		look()
		cancel()
	}
	texts = append(texts, w.events.texts...)
	for _, text := range texts {
		for n, s := range secrets {
			if strings.Contains(text, s) || strings.Contains(text, s[len(s)-32:]) {
				t.Errorf("secret %d is in a text that others read", n)
			}
		}
	}
}

// TestH34SecretLost holds that a lost Secret is reported once, that nothing is made again by itself, and that a person's way out works:
// delete the object and make it again.
func TestH34SecretLost(t *testing.T) {
	for name, lose := range map[string]func(w *world, s *corev1.Secret) error{
		"Deleted": func(w *world, s *corev1.Secret) error { return w.kube.Delete(w.t.Context(), s) },
		"Emptied": func(w *world, s *corev1.Secret) error {
			s.Data = nil
			return w.kube.Update(w.t.Context(), s)
		},
		"KeyRemoved": func(w *world, s *corev1.Secret) error {
			delete(s.Data, "key")
			return w.kube.Update(w.t.Context(), s)
		},
		"OtherOwner": func(w *world, s *corev1.Secret) error {
			s.OwnerReferences = nil
			return w.kube.Update(w.t.Context(), s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			o := webhook("alerts")
			w.apply(o)
			w.settle(o)
			if err := lose(w, w.secret(o)); err != nil {
				t.Fatal(err)
			}
			w.settle(o)
			w.is(o, v1alpha1.ReasonWebhookSecretLost)
			w.events.once(t, "Warning WebhookSecretLost")
			w.quiet(3, o)
			if s := w.secret(o); s != nil && name == "Deleted" {
				t.Error("the Secret was made again")
			}
			if n := w.state().Sequences["integration"]; n != 1 {
				t.Errorf("%d integrations were made", n)
			}

			w.remove(o)
			w.settle(o)
			w.gone(o)
			if s := w.secret(o); s != nil {
				// The garbage collector does so to what is the object's; a person to what is not.
				w.remove(s)
			}
			again := webhook("alerts", func(o *v1alpha1.Integration) { o.UID = "another" })
			w.apply(again)
			w.settle(again)
			w.is(again, xpv2.ReasonAvailable)
			w.takes(again)
			if n := len(w.state().Integrations); n != 1 {
				t.Errorf("%d integrations are left", n)
			}
		})
	}
}

// TestH34HalfMade holds that an integration whose create was cut off before its webhook was in the Secret is replaced, since nobody can
// have that webhook, and that one whose Secret was filled is not.
func TestH34HalfMade(t *testing.T) {
	w := newWorld(t)
	o := webhook("alerts")
	w.apply(o)
	w.srv.Inject(terdutserver.Fault{Method: http.MethodPost, Route: "/api/teams/{team}/integrations", Commit: true, Drop: true, Times: 1})
	if w.pass(o) == nil {
		t.Fatal("the create did not fail")
	}
	if s := w.secret(o); s == nil || len(s.Data) != 0 {
		t.Fatal("the Secret is not reserved")
	}
	w.settle(o)
	w.is(o, xpv2.ReasonAvailable)
	w.takes(o)
	if i := w.state().Integrations; len(i) != 1 || i[0].ID != 2 {
		t.Errorf("want integration 2 alone, got %v", i)
	}
}

// TestIntegrationKindChanged holds that an integration that is of another kind than the spec says is replaced, with an event that says
// that its webhook has ended. The schema has one kind, so it is the server's that changes here.
func TestIntegrationKindChanged(t *testing.T) {
	w := newWorld(t)
	o := webhook("alerts")
	w.apply(o)
	w.settle(o)
	old := string(w.secret(o).Data["key"])
	w.edit(func(s *terdutserver.State) { s.Integrations[0].Kind = "grafana" })
	w.settle(o)
	w.is(o, xpv2.ReasonAvailable)
	w.events.once(t, "Warning WebhookReplaced")
	if i := w.state().Integrations; len(i) != 1 || i[0].ID != 2 || i[0].Kind != "alertmanager" {
		t.Errorf("want integration 2 alone, got %v", i)
	}
	if string(w.secret(o).Data["key"]) == old {
		t.Error("the Secret holds the old key")
	}
	w.takes(o)
}

// TestIntegrationVanished holds that an integration that somebody deleted on the server is made again, and its Secret gets the new webhook.
func TestIntegrationVanished(t *testing.T) {
	w := newWorld(t)
	o := webhook("alerts")
	w.apply(o)
	w.settle(o)
	w.edit(func(s *terdutserver.State) { s.Integrations = nil })
	w.settle(o)
	w.is(o, xpv2.ReasonAvailable)
	w.takes(o)
	if i := w.state().Integrations; len(i) != 1 || i[0].ID != 2 {
		t.Errorf("want integration 2 alone, got %v", i)
	}
}

// TestH40Policies holds that what the policies and the pause do not allow is not done.
func TestH40Policies(t *testing.T) {
	observe := xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	kind(t, func(t *testing.T, o setup.Object) {
		w := newWorld(t)
		o.SetManagementPolicies(observe)
		w.apply(o)
		w.recover1(o)
		if _, ok := o.(*v1alpha1.EscalationPolicy); !ok {
			if w.pass(o) == nil {
				t.Error("what is not there is no error")
			}
		}
		if sent := w.wire.sent(); len(sent) > 0 {
			t.Errorf("it wrote %v", sent)
		}

		// An import by id, under another name, with another content.
		w = newWorld(t)
		w.byHand()
		w.policyByHand()
		o = children()[indexOf(o)]
		o.SetManagementPolicies(observe)
		o.SetAnnotations(map[string]string{"crossplane.io/external-name": "1"})
		w.apply(o)
		was := w.rows()
		w.settle(o)
		w.is(o, xpv2.ReasonAvailable)
		w.quiet(3, o)
		switch o := o.(type) {
		case *v1alpha1.EscalationPolicy:
			if o.Status.AtProvider.Levels != 1 || o.Status.AtProvider.TeamID != 1 {
				t.Errorf("observed %v", o.Status.AtProvider)
			}
		case *v1alpha1.DeadmanSwitch:
			if o.Status.AtProvider.Name != "by hand" {
				t.Errorf("observed %v", o.Status.AtProvider)
			}
		case *v1alpha1.Integration:
			if o.Status.AtProvider.Name != "by hand" || w.secret(o) != nil {
				t.Errorf("observed %v", o.Status.AtProvider)
			}
		}
		w.remove(o)
		w.settle(o)
		w.gone(o)
		if diff := same(was, w.rows()); diff != "" {
			t.Errorf("it wrote: -want, +got:\n%s", diff)
		}

		// Without Delete what was made stays.
		w = newWorld(t)
		o = children()[indexOf(o)]
		o.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate})
		w.apply(o)
		w.settle(o)
		was = w.rows()
		w.remove(o)
		w.settle(o)
		w.gone(o)
		if diff := same(was, w.rows()); diff != "" {
			t.Errorf("it deleted: -want, +got:\n%s", diff)
		}
	})
}
