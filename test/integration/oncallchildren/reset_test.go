package oncallchildren

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestReset holds that a server whose database was made anew gets each object once, under whatever identifier, and that what has an
// object's old identifier now is left alone.
func TestReset(t *testing.T) {
	for name, era := range map[string][2]string{"MadeByTheProvider": {"the second", "the third"}, "MadeByOthers": {"the first", "the first"}} {
		t.Run(name, func(t *testing.T) { reset(t, newWorld(t), era[0], era[1]) })
		t.Run("Legacy"+name, func(t *testing.T) { reset(t, legacy(t), era[0], era[1]) })
	}
}

// legacy is a world whose credential is of an earlier version.
func legacy(t *testing.T) *world {
	w := newWorld(t)
	w.legacy = true
	w.credential("ops", func(c *credential.Credential) { c.Made = "" })
	return w
}

// TestAnnotationComesLate holds that what an interrupted create left behind is the object's own, although the Team's annotation which says that
// its team was made came only after the team's key.
func TestAnnotationComesLate(t *testing.T) {
	for _, o := range children() {
		w := newWorld(t)
		method, route := verb("create", o)
		w.srv.Inject(terdutserver.Fault{Method: method, Route: route, Drop: true, Commit: true, Times: 1})
		w.apply(o)
		if w.pass(o) == nil {
			t.Fatal("the create did not fail")
		}
		team := w.liveTeam("ops")
		meta.SetExternalCreateSucceeded(team, time.Unix(1, 0))
		if err := w.kube.Update(t.Context(), team); err != nil {
			t.Fatal(err)
		}
		w.settle(o)
		w.is(o, xpv2.ReasonAvailable)
	}
}

func reset(t *testing.T, w *world, second, third string) {
	objects := children()
	w.apply(objects...)
	w.settle(objects...)
	if err := w.srv.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if w.pass(o) == nil {
			t.Errorf("%s is well without its key", o.GetName())
		}
		w.own(load(w, o), v1alpha1.ReasonUnauthorized)
	}
	w.login()
	w.madeAnew(second)
	// They have the identifiers that the objects had.
	w.byHand()
	w.wire.forget()
	w.settle(objects...)
	for _, o := range objects {
		w.is(o, xpv2.ReasonAvailable)
	}
	if sent := w.wire.sent(); len(sent) != len(objects) {
		t.Errorf("want one write each, got %v", sent)
	}
	if r := w.rows(); len(r.Switches) != 2 || len(r.Integrations) != 2 || r.Switches[0].Name != "by hand" || r.Integrations[0].Name != "by hand" {
		t.Errorf("what has an old identifier was touched, or there is not one of each: %v", r)
	}
	w.takes(objects[2].(*v1alpha1.Integration))
	w.quiet(3, objects...)

	// Nor is it deleted by an object that has not noticed.
	w.reset(third)
	w.byHand()
	w.byHand()
	w.policyByHand()
	was := w.rows()
	w.remove(objects[0], objects[1], objects[2])
	w.settle(objects...)
	for _, o := range objects {
		w.gone(o)
	}
	if diff := same(was, w.rows()); diff != "" {
		t.Errorf("what was made by hand is not what it was: -want, +got:\n%s", diff)
	}
}

// TestResetHalfMade holds that on a server that was made anew, where identifiers begin again, an old webhook is never taken for that of a
// new integration which has the old one's identifier.
func TestResetHalfMade(t *testing.T) {
	w := newWorld(t)
	o := webhook("alerts")
	w.apply(o)
	w.settle(o)
	w.reset("the second")
	w.srv.Inject(terdutserver.Fault{Method: http.MethodPost, Route: "/api/teams/{team}/integrations", Commit: true, Drop: true, Times: 1})
	w.recover(o)
	w.is(o, xpv2.ReasonAvailable)
	w.takes(o)
	if n := len(w.state().Integrations); n != 1 {
		t.Errorf("there are %d", n)
	}
}

// TestResetNameTaken holds that on a server that was made anew what has an object's name is a Conflict, and can be given to the object.
func TestResetNameTaken(t *testing.T) {
	w := newWorld(t)
	o := watchdog("watchdog")
	w.apply(o)
	w.settle(o)
	name := "renamed since"
	change(w, o, func(o *v1alpha1.DeadmanSwitch) { o.Spec.ForProvider.Name = &name })
	w.settle(o)
	w.reset("the second")
	w.byHand()
	id := w.namesake(o)
	w.edit(func(s *terdutserver.State) { s.Switches[1].Name = name })
	w.settle(o)
	w.is(o, v1alpha1.ReasonConflict)
	w.quiet(2, o)
	change(w, o, func(o *v1alpha1.DeadmanSwitch) { meta.SetExternalName(o, fmt.Sprint(id)) })
	w.settle(o)
	w.is(o, xpv2.ReasonAvailable)
	if n := len(w.state().Switches); n != 2 || o.Status.AtProvider.SwitchID != id {
		t.Errorf("there are %d, and switch %d is the object's", n, o.Status.AtProvider.SwitchID)
	}
}
