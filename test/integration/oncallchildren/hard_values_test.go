package oncallchildren

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestH35AtRest holds that a switch is not written while nothing differs, that a change goes out once and to the same switch, and that a
// create whose answer is lost leaves one.
func TestH35AtRest(t *testing.T) {
	w := newWorld(t)
	w.srv.SetModes(terdutserver.Modes{Shuffle: true, PageSize: 1})
	o, others := watchdog("watchdog"), []setup.Object{watchdog("second"), watchdog("third")}
	w.srv.Inject(terdutserver.Fault{Method: http.MethodPost, Commit: true, Drop: true, Times: 1})
	w.apply(append(others, o)...)
	if w.pass(o) == nil {
		t.Fatal("the create did not fail")
	}
	w.settle(append(others, o)...)
	w.quiet(20, append(others, o)...)
	change(w, o, func(o *v1alpha1.DeadmanSwitch) { o.Spec.ForProvider.Severity = "warning" })
	w.settle(append(others, o)...)
	if sent := w.wire.sent(); len(sent) != 1 || sent[0] != "PUT teams/1/deadman/switches/1" {
		t.Errorf("want one write of switch 1, got %v", sent)
	}
	if n := w.state().Sequences["switch"]; n != 3 {
		t.Errorf("%d switches were made", n)
	}
}

// TestH36Values holds that the same value in another spelling is the same, that zero and empty can be set and stay, and that what a server
// makes of a name is no difference.
func TestH36Values(t *testing.T) {
	w := newWorld(t)
	w.srv.SetModes(terdutserver.Modes{FoldNames: true})
	p, s, i := policy("policy"), watchdog("watchdog"), webhook("alerts")
	mixed := " Prod-Watchdog "
	s.Spec.ForProvider.Name = &mixed
	i.Spec.ForProvider.Name = &mixed
	derived := watchdog("derived", func(o *v1alpha1.DeadmanSwitch) {
		o.Spec.ForProvider.Name, o.Spec.ForProvider.Matcher = nil, "cluster=prod ,alertname=Watchdog"
	})
	w.apply(p, s, i, derived)
	w.settle(p, s, i, derived)
	for _, o := range []setup.Object{p, s, i, derived} {
		w.is(o, xpv2.ReasonAvailable)
	}
	if n := derived.Status.AtProvider.Name; n != "alertname=Watchdog,cluster=prod" {
		t.Errorf("the derived name is %q", n)
	}
	w.quiet(3, p, s, i, derived)

	w.wire.sent()
	for _, d := range []v1alpha1.Duration{"1m30s", "0h1m30s", "90s"} {
		change(w, s, func(o *v1alpha1.DeadmanSwitch) { o.Spec.ForProvider.Timeout = d })
		change(w, p, func(o *v1alpha1.EscalationPolicy) { o.Spec.ForProvider.Levels[1].Timeout = d })
		w.settle(s, p)
	}
	if sent := w.wire.sent(); len(sent) > 0 {
		t.Errorf("another spelling was written: %v", sent)
	}
	change(w, p, func(o *v1alpha1.EscalationPolicy) {
		o.Spec.ForProvider.RepeatCount, o.Spec.ForProvider.FallbackTopic = 0, ""
	})
	w.settle(p)
	if got := w.state().Policies[1]; got.RepeatCount != 0 || got.FallbackTopic != "" {
		t.Errorf("zero and empty were not set: %v", got)
	}
	w.quiet(3, p)
}

// TestH37LeftAlone holds that a server that asks to be left alone is, by all objects at once, and that nothing is asked twice for that.
func TestH37LeftAlone(t *testing.T) {
	w := newWorld(t)
	var objects []setup.Object
	for i := range 100 {
		objects = append(objects, watchdog(fmt.Sprintf("w%d", i)))
	}
	w.apply(objects...)
	w.srv.ResetRequests()
	w.srv.Inject(terdutserver.Fault{Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "30"}})
	for _, o := range objects {
		if w.pass(o) == nil {
			t.Error("a pass did not fail")
		}
	}
	if n := len(w.srv.Requests()); n != 1 {
		t.Errorf("want one request, got %d", n)
	}
	w.own(load(w, objects[99]), v1alpha1.ReasonRateLimited)
}

// TestH37Redirected holds that a write that is redirected is not sent again, its key goes nowhere, and the reason names the place.
func TestH37Redirected(t *testing.T) {
	var asked atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(elsewhere.Close)
	kind(t, func(t *testing.T, o setup.Object) {
		for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			w := newWorld(t)
			o := children()[indexOf(o)]
			method, route := verb("create", o)
			w.srv.Inject(terdutserver.Fault{Method: method, Route: route, Status: status, Header: map[string]string{"Location": elsewhere.URL + "/api"}})
			w.apply(o)
			if w.pass(o) == nil {
				t.Error("the create did not fail")
			}
			if sent := w.wire.sent(); len(sent) != 1 || asked.Load() != 0 {
				t.Errorf("%d: sent %v, and %d to the other server", status, sent, asked.Load())
			}
			w.load(o)
			w.own(o, v1alpha1.ReasonUnreachable)
			if m := o.GetCondition(xpv2.TypeSynced).Message; !strings.Contains(m, elsewhere.URL) {
				t.Errorf("the place is not named: %s", m)
			}
		}
	})
}

// TestOnePolicyOfTwo holds that of two objects for one team the older has it, whichever came first to the server; that the other writes
// nothing, also when it goes; and that it takes over when the older has gone.
func TestOnePolicyOfTwo(t *testing.T) {
	w := newWorld(t)
	younger := policy("a", func(o *v1alpha1.EscalationPolicy) {
		o.CreationTimestamp = metav1.NewTime(o.CreationTimestamp.Add(time.Second))
		o.Spec.ForProvider.RepeatCount = 9
	})
	older := policy("b", func(o *v1alpha1.EscalationPolicy) { o.Spec.ForProvider.TeamParameters = selecting("ops") })
	w.apply(younger)
	w.settle(younger)
	w.is(younger, xpv2.ReasonAvailable)
	w.apply(older)
	w.settle(younger, older)
	w.is(older, xpv2.ReasonAvailable)
	w.is(younger, v1alpha1.ReasonConflict)
	if n := w.state().Policies[1].RepeatCount; n != 2 {
		t.Errorf("the policy is not the older's: %d", n)
	}
	w.quiet(5, younger, older)

	third := policy("c", func(o *v1alpha1.EscalationPolicy) { o.CreationTimestamp = younger.CreationTimestamp })
	w.apply(third)
	w.settle(third, older)
	w.is(third, v1alpha1.ReasonConflict)
	w.remove(third)
	w.settle(third, older)
	w.gone(third)
	if sent := w.wire.sent(); len(sent) > 0 || w.state().Policies[1].RepeatCount != 2 {
		t.Errorf("the loser wrote: %v", sent)
	}

	w.remove(older)
	w.settle(older, younger)
	w.gone(older)
	w.is(younger, xpv2.ReasonAvailable)
	if n := w.state().Policies[1].RepeatCount; n != 9 {
		t.Errorf("the policy is not the younger's now: %d", n)
	}
}

// TestPolicyLost holds that an object which had a policy before an older one took it writes nothing when it goes.
func TestPolicyLost(t *testing.T) {
	w := newWorld(t)
	younger, older := policy("a", func(o *v1alpha1.EscalationPolicy) {
		o.CreationTimestamp = metav1.NewTime(o.CreationTimestamp.Add(time.Second))
	}), policy("b")
	w.apply(younger)
	w.settle(younger)
	w.apply(older)
	w.settle(younger, older)
	was := w.rows()
	w.wire.sent()
	w.remove(younger)
	w.settle(younger, older)
	w.gone(younger)
	w.is(older, xpv2.ReasonAvailable)
	if diff := same(was, w.rows()); diff != "" || len(w.wire.sent()) > 0 {
		t.Errorf("the loser wrote: %s", diff)
	}
}

// TestUnknownUser holds that usernames are looked up at each pass, that those that are missing are named, and that nothing is written then.
func TestUnknownUser(t *testing.T) {
	w := newWorld(t)
	o := policy("policy", func(o *v1alpha1.EscalationPolicy) {
		l := &o.Spec.ForProvider.Levels[0]
		l.Targets = append(l.Targets, user("zoe"), user("carol"), user("zoe"))
	})
	w.apply(o)
	w.settle(o)
	w.is(o, v1alpha1.ReasonUnknownUser)
	if m := o.GetCondition(xpv2.TypeReady).Message; m != "the server has no user carol, zoe" {
		t.Errorf("the message is %q", m)
	}
	w.events.once(t, "Warning UnknownUser")
	w.quiet(3, o)
	for _, u := range []string{"carol", "zoe"} {
		if _, err := w.srv.AddUser(t.Context(), u, u+"@terdut.example"); err != nil {
			t.Fatal(err)
		}
	}
	w.settle(o)
	w.is(o, xpv2.ReasonAvailable)
	was := w.rows()
	w.wire.sent()
	w.edit(func(s *terdutserver.State) { s.Users[4].Username = "zoe-renamed" })
	w.settle(o)
	w.is(o, v1alpha1.ReasonUnknownUser)
	if diff := same(was, w.rows()); diff != "" || len(w.wire.sent()) > 0 {
		t.Errorf("something was written: %s", diff)
	}
}
