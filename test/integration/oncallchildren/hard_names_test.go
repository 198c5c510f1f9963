package oncallchildren

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// namesake makes by hand, in the team of "ops", what has an object's name. It returns its id.
func (w *world) namesake(o setup.Object) int64 {
	w.t.Helper()
	id := int64(1)
	w.edit(func(s *terdutserver.State) {
		switch o.(type) {
		case *v1alpha1.DeadmanSwitch:
			s.Sequences["switch"]++
			id = s.Sequences["switch"]
			s.Switches = append(s.Switches, terdutserver.Switch{ID: id, TeamID: 1, Name: o.GetName(), Matcher: "a=b", Timeout: "1m0s", Severity: "info"})
		case *v1alpha1.Integration:
			s.Sequences["integration"]++
			id = s.Sequences["integration"]
			s.Integrations = append(s.Integrations, terdutserver.Integration{ID: id, TeamID: 1, Kind: "alertmanager", Name: o.GetName()})
		}
	})
	if _, ok := o.(*v1alpha1.EscalationPolicy); ok {
		w.policyByHand()
	}
	return id
}

// TestH28NameTaken holds that what has an object's name and was made by hand is not touched: the object says Conflict and its id, writes
// nothing, and leaves it when it goes. An external name set by hand takes it over, also after an object that let go of it.
func TestH28NameTaken(t *testing.T) {
	kind(t, func(t *testing.T, o setup.Object) {
		w := newWorld(t)
		w.byHand()
		id := w.namesake(o)
		was := w.rows()
		w.apply(o)
		w.settle(o)
		w.is(o, v1alpha1.ReasonConflict)
		if m := o.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, fmt.Sprint(id)) {
			t.Errorf("the message does not name %d: %s", id, m)
		}
		w.events.once(t, "Warning Conflict")
		w.quiet(3, o)
		w.remove(o)
		w.settle(o)
		w.gone(o)
		if diff := same(was, w.rows()); diff != "" || len(w.wire.sent()) > 0 {
			t.Errorf("something was written: %s", diff)
		}

		o = children()[indexOf(o)]
		meta.SetExternalName(o, fmt.Sprint(id))
		w.apply(o)
		w.settle(o)
		if i, ok := o.(*v1alpha1.Integration); ok {
			// Nobody knows its webhook any more.
			w.is(i, v1alpha1.ReasonWebhookSecretLost)
		} else {
			w.is(o, xpv2.ReasonAvailable)
		}
		if w.externalName(o) != fmt.Sprint(id) || w.named(o) > 1 {
			t.Error("it was not taken over")
		}
		w.remove(o)
		w.settle(o)
		w.gone(o)
		if w.named(o) != 0 {
			t.Error("it was not deleted")
		}
	})
}

func indexOf(o setup.Object) int {
	for i, c := range children() {
		if kindOf(c) == kindOf(o) {
			return i
		}
	}
	return -1
}

// TestH28NotAnID holds that an external name that cannot be an id is reported, and nothing is created beside it.
func TestH28NotAnID(t *testing.T) {
	for _, o := range children()[1:] {
		for _, name := range []string{"watchdog", "-1", "0", "1x", "99999999999999999999"} {
			w := newWorld(t)
			o := children()[indexOf(o)]
			meta.SetExternalName(o, name)
			w.apply(o)
			w.settle(o)
			w.is(o, v1alpha1.ReasonExternalNameInvalid)
			w.quiet(2, o)
			w.remove(o)
			w.settle(o)
			w.gone(o)
		}
	}
}

// TestH28Copied holds that an object that was made from another one, annotations included, does not share what that has.
func TestH28Copied(t *testing.T) {
	for _, o := range children()[1:] {
		w := newWorld(t)
		w.apply(o)
		w.settle(o)
		second := children()[indexOf(o)]
		second.SetName("second")
		second.SetUID("uid of second")
		second.SetAnnotations(o.GetAnnotations())
		second.SetCreationTimestamp(metav1.NewTime(second.GetCreationTimestamp().AddDate(0, 0, 1)))
		if i, ok := second.(*v1alpha1.Integration); ok {
			i.Spec.ForProvider.SecretName = "second-webhook"
		}
		meta.SetExternalName(second, w.externalName(o))
		was := w.rows()
		w.apply(second)
		w.settle(o, second)
		w.is(o, xpv2.ReasonAvailable)
		w.is(second, v1alpha1.ReasonConflict)
		w.remove(second)
		w.settle(o, second)
		w.gone(second)
		if diff := same(was, w.rows()); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	}
}

// TestH31LongLists holds that an object's own is found on the last of many pages, and that names are compared as a whole.
func TestH31LongLists(t *testing.T) {
	kind(t, func(t *testing.T, o setup.Object) {
		w := newWorld(t)
		w.srv.SetModes(terdutserver.Modes{PageSize: 7, Shuffle: true, PrefixSearch: true})
		w.edit(func(s *terdutserver.State) {
			for i := range 250 {
				s.Sequences["switch"]++
				s.Sequences["integration"]++
				s.Sequences["user"]++
				name := fmt.Sprintf("%s-%d", o.GetName(), i)
				if i%2 == 0 {
					name = "x-" + o.GetName()
				}
				s.Switches = append(s.Switches, terdutserver.Switch{ID: s.Sequences["switch"], TeamID: 1, Name: name, Matcher: "a=b", Timeout: "1m0s"})
				s.Integrations = append(s.Integrations, terdutserver.Integration{ID: s.Sequences["integration"], TeamID: 1, Kind: "alertmanager", Name: name})
				s.Users = append(s.Users, terdutserver.User{ID: s.Sequences["user"], Username: fmt.Sprintf("alice%d", i)})
			}
		})
		w.apply(o)
		w.settle(o)
		w.is(o, xpv2.ReasonAvailable)
		if n := w.named(o); n > 1 {
			t.Errorf("there are %d", n)
		}
		w.quiet(20, o)
		w.remove(o)
		w.settle(o)
		if s := w.state(); len(s.Switches) != 250 || len(s.Integrations) != 250 {
			t.Errorf("want the others left, got %d and %d", len(s.Switches), len(s.Integrations))
		}
	})
}

// TestH31TwoMatches holds that of two that could be what an interrupted create left, neither is taken.
func TestH31TwoMatches(t *testing.T) {
	for _, o := range children()[1:] {
		w := newWorld(t)
		list, _ := routes(o)
		w.srv.Inject(terdutserver.Fault{Method: http.MethodPost, Route: list, Commit: true, Drop: true, Times: 1})
		w.apply(o)
		if w.pass(o) == nil {
			t.Fatal("the create did not fail")
		}
		w.edit(func(s *terdutserver.State) {
			for _, v := range s.Switches {
				v.ID = 70
				s.Switches = append(s.Switches, v)
			}
			for _, v := range s.Integrations {
				v.ID = 70
				s.Integrations = append(s.Integrations, v)
			}
		})
		w.settle(o)
		w.is(o, v1alpha1.ReasonConflict)
		w.quiet(2, o)
		w.edit(func(s *terdutserver.State) {
			s.Switches, s.Integrations = s.Switches[:min(1, len(s.Switches))], s.Integrations[:min(1, len(s.Integrations))]
		})
		w.settle(o)
		w.is(o, xpv2.ReasonAvailable)
		if w.named(o) != 1 {
			t.Errorf("there are %d", w.named(o))
		}
	}
}

// TestH42ForeignSecret holds that a Secret of that name which is not the Integration's is never written, and that no integration is made
// whose webhook it could not take.
func TestH42ForeignSecret(t *testing.T) {
	for name, mod := range map[string]func(*corev1.Secret){
		"NoOwner":      func(*corev1.Secret) {},
		"OtherOwner":   func(s *corev1.Secret) { s.OwnerReferences[0].UID = "other" },
		"NoController": func(s *corev1.Secret) { s.OwnerReferences[0].Controller = nil },
		"Immutable":    func(s *corev1.Secret) { yes := true; s.Immutable = &yes },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			o := webhook("alerts")
			s := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: namespace, Name: o.Spec.ForProvider.SecretName,
					OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(o, v1alpha1.IntegrationGroupVersionKind)},
				},
				Data: map[string][]byte{"theirs": []byte("x")},
			}
			if name == "NoOwner" {
				s.OwnerReferences = nil
			}
			mod(s)
			if err := w.kube.Create(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			w.apply(o)
			w.recover1(o)
			w.own(load(w, o), v1alpha1.ReasonConflict)
			if n := w.state().Sequences["integration"]; n != 0 {
				t.Errorf("%d integrations were made", n)
			}
			if w.secret(o).ResourceVersion != s.ResourceVersion {
				t.Error("the Secret was written")
			}
			if err := w.kube.Delete(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			w.settle(o)
			w.is(o, xpv2.ReasonAvailable)
		})
	}
}

// recover1 makes passes that may fail.
func (w *world) recover1(o setup.Object) {
	w.t.Helper()
	for range 3 {
		_ = w.pass(o)
	}
}
