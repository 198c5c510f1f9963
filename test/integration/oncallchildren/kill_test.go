package oncallchildren

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// An operation of an object's life: what leads up to it, the operation, and what the server has afterwards.
type operation struct {
	name   string
	before func(w *world, o setup.Object)
	do     func(w *world, o setup.Object)
	// end is true when the object is gone afterwards.
	end bool
}

func operations() []operation {
	ready := func(w *world, o setup.Object) {
		w.apply(o)
		w.settle(o)
		w.is(o, xpv2.ReasonAvailable)
	}
	return []operation{
		{name: "create", before: func(*world, setup.Object) {}, do: func(w *world, o setup.Object) { w.apply(o) }},
		{name: "update", before: ready, do: func(w *world, o setup.Object) {
			switch o := o.(type) {
			case *v1alpha1.EscalationPolicy:
				change(w, o, func(o *v1alpha1.EscalationPolicy) { o.Spec.ForProvider.FallbackTopic = "" })
			case *v1alpha1.DeadmanSwitch:
				change(w, o, func(o *v1alpha1.DeadmanSwitch) { o.Spec.ForProvider.Severity = "warning" })
			case *v1alpha1.Integration:
				change(w, o, func(o *v1alpha1.Integration) { n := "renamed"; o.Spec.ForProvider.Name = &n })
			}
		}},
		{name: "create again", before: ready, do: func(w *world, o setup.Object) {
			w.edit(func(s *terdutserver.State) {
				s.Policies, s.Switches, s.Integrations = map[int64]terdutserver.Policy{}, nil, nil
			})
			w.byHand()
		}},
		{name: "follow", before: ready, do: func(w *world, o setup.Object) {
			w.edit(func(s *terdutserver.State) { s.Teams[0].Name = "old" })
			w.remakeTeam()
		}},
		{name: "move", before: func(w *world, o setup.Object) {
			w.team("dev")
			ready(w, o)
		}, do: func(w *world, o setup.Object) { w.moveTo(o, "dev") }},
		{name: "delete", before: ready, do: func(w *world, o setup.Object) { w.remove(o) }, end: true},
	}
}

// byHand makes a switch and an integration that no object has anything to do with, in the team of "ops".
func (w *world) byHand() {
	w.t.Helper()
	w.edit(func(s *terdutserver.State) {
		s.Sequences["switch"]++
		s.Switches = append(s.Switches, terdutserver.Switch{ID: s.Sequences["switch"], TeamID: 1, Name: "by hand", Matcher: "a=b", Timeout: "1m0s", Severity: "info"})
		s.Sequences["integration"]++
		s.Integrations = append(s.Integrations, terdutserver.Integration{ID: s.Sequences["integration"], TeamID: 1, Kind: "alertmanager", Name: "by hand"})
	})
}

// policyByHand gives the team of "ops" a policy that no object wrote.
func (w *world) policyByHand() {
	w.t.Helper()
	w.edit(func(s *terdutserver.State) {
		s.Policies[1] = terdutserver.Policy{RepeatCount: 7, Levels: []terdutserver.Level{{Position: 1, Timeout: "1m0s", Targets: []terdutserver.Target{{Kind: "oncall"}}}}}
	})
}

// remakeTeam deletes the Team's team on the server and makes it anew, as its controller would. It has another id then.
func (w *world) remakeTeam() {
	w.t.Helper()
	if err := w.admin.DeleteTeam(w.t.Context(), w.teamID("ops")); err != nil {
		w.t.Fatal(err)
	}
	w.serverTeam(w.liveTeam("ops"), "the first")
}

func (w *world) moveTo(o setup.Object, team string) {
	w.t.Helper()
	switch o := o.(type) {
	case *v1alpha1.EscalationPolicy:
		change(w, o, func(o *v1alpha1.EscalationPolicy) { o.Spec.ForProvider.TeamParameters = ofTeam(team) })
	case *v1alpha1.DeadmanSwitch:
		change(w, o, func(o *v1alpha1.DeadmanSwitch) { o.Spec.ForProvider.TeamParameters = ofTeam(team) })
	case *v1alpha1.Integration:
		change(w, o, func(o *v1alpha1.Integration) { o.Spec.ForProvider.TeamParameters = ofTeam(team) })
	}
}

// rows are what the server has of teams' children, without identifiers: those differ from run to run.
type rows struct {
	Policies     map[int64]terdutserver.Policy
	Switches     []terdutserver.Switch
	Integrations []terdutserver.Integration
}

func (w *world) rows() rows {
	s := w.state()
	for id, p := range s.Policies {
		if len(p.Levels) == 0 && p.RepeatCount == 0 && p.FallbackTopic == "" {
			delete(s.Policies, id)
		}
	}
	return rows{Policies: s.Policies, Switches: s.Switches, Integrations: s.Integrations}
}

// same compares rows. Identifiers count only for what was made by hand.
func same(want, got rows) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(),
		cmp.Transformer("switch", func(s terdutserver.Switch) terdutserver.Switch {
			if s.Name != "by hand" {
				s.ID = 0
			}
			return s
		}),
		cmp.Transformer("integration", func(i terdutserver.Integration) terdutserver.Integration {
			if i.Name != "by hand" {
				i.ID = 0
			}
			i.Alerts = 0
			return i
		}),
		cmpopts.SortSlices(func(a, b terdutserver.Switch) bool { return a.Name < b.Name }),
		cmpopts.SortSlices(func(a, b terdutserver.Integration) bool { return a.Name < b.Name }),
	)
}

// ends fails unless an operation has ended as one that nothing disturbed.
func (w *world) ends(op operation, o setup.Object, want rows) {
	w.t.Helper()
	if diff := same(want, w.rows()); diff != "" {
		w.t.Errorf("the server has something else than after an undisturbed run: -want, +got:\n%s", diff)
	}
	if op.end {
		w.gone(o)
		return
	}
	w.is(o, xpv2.ReasonAvailable)
	if i, ok := o.(*v1alpha1.Integration); ok {
		w.takes(i)
	}
	w.quiet(2, o)
}

// TestH38Killed holds that a provider which is killed at any write of any operation, before or after it is carried out, finishes the
// operation in its next life: with one object on the server, the right one, and a Secret that works.
func TestH38Killed(t *testing.T) {
	kills := 0
	for _, op := range operations() {
		for i := range children() {
			w := newWorld(t)
			w.byHand()
			o := children()[i]
			op.before(w, o)
			op.do(w, o)
			w.wire.forget()
			w.settle(o)
			n, want := w.wire.count(), w.rows()
			w.ends(op, o, want)
			if n == 0 {
				t.Errorf("%s of %s writes nothing", op.name, kindOf(o))
			}
			t.Logf("%s of %s: %d writes", op.name, kindOf(o), n)
			for k := 1; k <= n; k++ {
				for _, after := range []bool{false, true} {
					kills++
					t.Run(fmt.Sprintf("%s/%s/%d/%t", op.name, kindOf(o), k, after), func(t *testing.T) {
						w := newWorld(t)
						w.byHand()
						o := children()[i]
						op.before(w, o)
						op.do(w, o)
						w.wire.forget()
						w.wire.kill, w.wire.after = k, after
						for range 3 {
							_ = w.pass(o)
						}
						if w.wire.alive() == nil {
							t.Fatal("the provider was not killed")
						}
						w.start()
						w.recover(o)
						w.ends(op, o, want)
					})
				}
			}
		}
	}
	t.Logf("%d kills", kills)
}
