package oncallchildren

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// short is a timeout of requests that a delay outlasts. It is only set where one does.
const short = 500 * time.Millisecond

// A fault of the server, and the reason that it is reported under.
type fault struct {
	name   string
	fault  terdutserver.Fault
	reason xpv2.ConditionReason
	// done is true when the request was carried out all the same.
	done bool
}

func faults() []fault {
	status := func(name string, s int, reason xpv2.ConditionReason) fault {
		return fault{name: name, fault: terdutserver.Fault{Status: s}, reason: reason}
	}
	return []fault{
		{name: "delay", fault: terdutserver.Fault{Delay: time.Minute}, reason: v1alpha1.ReasonUnreachable, done: true},
		{name: "drop", fault: terdutserver.Fault{Drop: true}, reason: v1alpha1.ReasonUnreachable},
		{name: "drop after commit", fault: terdutserver.Fault{Drop: true, Commit: true}, reason: v1alpha1.ReasonUnreachable, done: true},
		{name: "truncated", fault: terdutserver.Fault{Truncate: true, Commit: true}, reason: v1alpha1.ReasonUnreachable, done: true},
		status("401", http.StatusUnauthorized, v1alpha1.ReasonUnauthorized),
		status("403", http.StatusForbidden, v1alpha1.ReasonPermissionDenied),
		status("404 JSON", http.StatusNotFound, v1alpha1.ReasonFailed),
		{name: "404 HTML", fault: terdutserver.Fault{Status: http.StatusNotFound, ContentType: "text/html", Body: "<p>nothing here"}, reason: v1alpha1.ReasonUnreachable},
		status("409", http.StatusConflict, v1alpha1.ReasonConflict),
		{name: "429", fault: terdutserver.Fault{Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "0"}}, reason: v1alpha1.ReasonRateLimited},
		status("500", http.StatusInternalServerError, v1alpha1.ReasonUnreachable),
		status("503", http.StatusServiceUnavailable, v1alpha1.ReasonUnreachable),
		{name: "500 after commit", fault: terdutserver.Fault{Status: http.StatusInternalServerError, Commit: true}, reason: v1alpha1.ReasonUnreachable, done: true},
		{name: "200 HTML", fault: terdutserver.Fault{Status: http.StatusOK, ContentType: "text/html", Body: "<p>log in"}, reason: v1alpha1.ReasonUnreachable},
		{name: "redirect", fault: terdutserver.Fault{Status: http.StatusTemporaryRedirect, Header: map[string]string{"Location": "http://127.0.0.1:1/elsewhere"}}, reason: v1alpha1.ReasonUnreachable},
	}
}

// routes of a kind: the list and the one object.
func routes(o setup.Object) (list, one string) {
	switch o.(type) {
	case *v1alpha1.EscalationPolicy:
		return "/api/teams/{team}/escalation", "/api/teams/{team}/escalation"
	case *v1alpha1.DeadmanSwitch:
		return "/api/teams/{team}/deadman/switches", "/api/teams/{team}/deadman/switches/{id}"
	}
	return "/api/teams/{team}/integrations", "/api/teams/{team}/integrations/{id}"
}

// verb is the request by which an operation is carried out.
func verb(op string, o setup.Object) (method, route string) {
	list, one := routes(o)
	_, isPolicy := o.(*v1alpha1.EscalationPolicy)
	switch {
	case op == "observe":
		return http.MethodGet, list
	case isPolicy:
		return http.MethodPut, list
	case op == "create":
		return http.MethodPost, list
	case op == "delete":
		return http.MethodDelete, one
	case strings.HasSuffix(list, "integrations"):
		return http.MethodPatch, one
	}
	return http.MethodPut, one
}

// TestMisbehaviour holds for each verb, fault and kind that the object ends as it should, that there is never a second one, that what others
// made is left alone, and that the reason said the truth meanwhile.
func TestMisbehaviour(t *testing.T) {
	injected := 0
	ops := operations()
	observe := ops[1]
	observe.name = "observe"
	for _, op := range []operation{ops[0], ops[1], ops[len(ops)-1], observe} {
		for i := range children() {
			undisturbed := newWorld(t)
			undisturbed.byHand()
			first := children()[i]
			op.before(undisturbed, first)
			op.do(undisturbed, first)
			undisturbed.settle(first)
			want := undisturbed.rows()
			for _, f := range faults() {
				injected++
				t.Run(fmt.Sprintf("%s/%s/%s", op.name, kindOf(first), f.name), func(t *testing.T) {
					w := newWorld(t)
					w.byHand()
					o := children()[i]
					op.before(w, o)
					op.do(w, o)
					w.misbehave(op, o, f)
					w.srv.ClearFaults()
					w.timeout = 0
					w.start()
					w.recover(o)
					w.ends(op, o, want)
					w.made(o, f)
				})
			}
		}
	}
	t.Logf("%d injections", injected)
}

// misbehave makes two passes of an operation under a fault.
func (w *world) misbehave(op operation, o setup.Object, f fault) {
	w.t.Helper()
	f.fault.Method, f.fault.Route = verb(op.name, o)
	w.srv.Inject(f.fault)
	if f.fault.Delay > 0 {
		w.timeout = short
		w.start()
	}
	const passes = 2
	failed := 0
	for range passes {
		if w.pass(o) != nil {
			failed++
		}
		if n := w.named(o); n > 1 {
			w.t.Fatalf("there are %d of the name", n)
		}
	}
	// A delete whose answer is lost has been carried out: the next look finds nothing.
	if op.end && (f.done || f.name == "404 JSON") {
		if f.name == "404 JSON" && failed > 0 {
			w.t.Error("what the API says is gone could not be deleted")
		}
		return
	}
	if !w.load(o) {
		w.t.Fatal("the object is gone")
	}
	reason := f.reason
	switch {
	case op.name == "observe" && f.name == "404 JSON":
		reason = v1alpha1.ReasonWaitingForTeam
		failed++
	case op.end && reason == v1alpha1.ReasonUnreachable:
		reason = v1alpha1.ReasonDegraded
	case f.done && op.name != "observe":
		// The next look finds that it was carried out.
		return
	}
	if failed == 0 {
		w.t.Error("no pass failed")
	}
	w.own(o, reason)
}

// named counts what the server has of an object's name.
func (w *world) named(o setup.Object) int {
	n := 0
	for _, s := range w.state().Switches {
		if s.Name == o.GetName() {
			n++
		}
	}
	for _, i := range w.state().Integrations {
		if i.Name == o.GetName() || i.Name == "renamed" {
			n++
		}
	}
	return n
}

// made fails when more was ever created on the server than there had to be. An integration whose webhook got lost with an answer has to be
// created again.
func (w *world) made(o setup.Object, f fault) {
	w.t.Helper()
	want, sequence := int64(2), "switch" // One was made by hand.
	switch o.(type) {
	case *v1alpha1.EscalationPolicy:
		return
	case *v1alpha1.Integration:
		sequence = "integration"
		if f.done {
			want = 4
		}
	}
	if got := w.state().Sequences[sequence]; got > want {
		w.t.Errorf("%d were created, want at most %d", got, want)
	}
}

func load(w *world, o setup.Object) setup.Object {
	w.t.Helper()
	w.load(o)
	return o
}
