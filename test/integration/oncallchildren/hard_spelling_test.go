package oncallchildren

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// spelled gives an object a name, and a switch a matcher.
func (w *world) spelled(o setup.Object, name, matcher string) {
	w.t.Helper()
	switch o := o.(type) {
	case *v1alpha1.DeadmanSwitch:
		change(w, o, func(o *v1alpha1.DeadmanSwitch) {
			o.Spec.ForProvider.Name, o.Spec.ForProvider.Matcher = &name, matcher
		})
	case *v1alpha1.Integration:
		change(w, o, func(o *v1alpha1.Integration) { o.Spec.ForProvider.Name = &name })
	}
}

// has what the server has of the first switch or integration, as "name matcher".
func (w *world) has(o setup.Object) string {
	w.t.Helper()
	s := w.state()
	if _, ok := o.(*v1alpha1.DeadmanSwitch); ok {
		return s.Switches[0].Name + " " + s.Switches[0].Matcher
	}
	return s.Integrations[0].Name + " "
}

// TestH36Spelling holds that a change which some servers make nothing of, such as of a name's case or of a matcher's spaces, is told to the
// server once. One that keeps what it is given has it then; one that does not is left in peace. What somebody changes there is put back, be it
// only in case.
func TestH36Spelling(t *testing.T) {
	const matcher = "a=1, b=2"
	modes := map[string]terdutserver.Modes{
		"Keeps": {}, "FoldsNames": {FoldNames: true}, "FoldsMatchers": {FoldMatchers: true}, "Folds": {FoldNames: true, FoldMatchers: true},
	}
	for mode, m := range modes {
		for _, first := range children()[1:] {
			_, isSwitch := first.(*v1alpha1.DeadmanSwitch)
			for name, to := range map[string]struct {
				name, matcher string
				onlySwitch    bool
			}{
				"Case": {name: "Ops", matcher: matcher}, "Space": {name: " ops", matcher: matcher}, "Back": {name: "ops", matcher: matcher},
				"MatcherSpace": {name: "ops", matcher: "a=1,b=2", onlySwitch: true}, "MatcherOrder": {name: "ops", matcher: "b=2,a=1", onlySwitch: true},
			} {
				if to.onlySwitch && !isSwitch {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", mode, kindOf(first), name), func(t *testing.T) {
					w := newWorld(t)
					w.srv.SetModes(m)
					o := children()[indexOf(first)]
					w.apply(o)
					w.spelled(o, map[bool]string{true: "OPS", false: "ops"}[name == "Back"], matcher)
					w.settle(o)
					if sent := w.wire.sent(); len(sent) != 1 {
						t.Errorf("want one write for a create, got %v", sent)
					}
					w.quiet(3, o)

					w.wire.sent()
					w.spelled(o, to.name, to.matcher)
					w.settle(o)
					w.is(o, xpv2.ReasonAvailable)
					// Where the server had it that way already there is nothing to write.
					if sent := w.wire.sent(); len(sent) > 1 || len(sent) == 0 && mode == "Keeps" {
						t.Errorf("want the change written once, got %v", sent)
					}
					if want := to.name + " " + map[bool]string{true: to.matcher}[isSwitch]; mode == "Keeps" && w.has(o) != want {
						t.Errorf("the server has %q, want %q", w.has(o), want)
					}
					w.quiet(20, o)

					is := w.has(o)
					w.edit(func(s *terdutserver.State) {
						for i := range s.Switches {
							s.Switches[i].Name, s.Switches[i].Matcher = "oPS", "b = 2, a = 1"
						}
						for i := range s.Integrations {
							s.Integrations[i].Name = "oPS"
						}
					})
					w.settle(o)
					if got := w.has(o); got != is {
						t.Errorf("what somebody changed is not put back: want %q, got %q", is, got)
					}
					w.quiet(3, o)
				})
			}
		}
	}
}

// TestH36SpellingInterrupted holds the same when it is not known what the server made of what it was told: the answer of the create is lost, or
// the object was given something that is there. It costs one write more.
func TestH36SpellingInterrupted(t *testing.T) {
	for _, first := range children()[1:] {
		for _, taken := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", kindOf(first), taken), func(t *testing.T) {
				w := newWorld(t)
				w.srv.SetModes(terdutserver.Modes{FoldNames: true, FoldMatchers: true})
				o := children()[indexOf(first)]
				if taken {
					if _, ok := o.(*v1alpha1.Integration); ok {
						return // Nobody knows its webhook.
					}
					meta.SetExternalName(o, fmt.Sprint(w.namesake(o)))
				} else {
					list, _ := routes(o)
					w.srv.Inject(terdutserver.Fault{Method: http.MethodPost, Route: list, Commit: true, Drop: true, Times: 1})
				}
				w.apply(o)
				w.spelled(o, "Ops", "a=1, b=2")
				w.recover(o)
				w.is(o, xpv2.ReasonAvailable)
				w.wire.sent()
				w.quiet(5, o)
				if s := w.state(); len(s.Switches)+len(s.Integrations) != 1 {
					t.Errorf("there is not one of it: %v %v", s.Switches, s.Integrations)
				}
			})
		}
	}
}

// recordName writes another name into the record of what an object has made.
func (w *world) recordName(o setup.Object, name string) {
	w.t.Helper()
	w.load(o)
	r := map[string]any{}
	if err := json.Unmarshal([]byte(o.GetAnnotations()["oncall.terdut.ryuvia.com/created"]), &r); err != nil {
		w.t.Fatal(err)
	}
	r["name"] = name
	b, err := json.Marshal(r)
	if err != nil {
		w.t.Fatal(err)
	}
	meta.AddAnnotations(o, map[string]string{"oncall.terdut.ryuvia.com/created": string(b)})
	if err := w.kube.Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// TestRenamedServerKnownBetter holds that what an object has renamed stays its own when the provider comes to know the server by another
// identity: it is told by the name that it has now.
func TestRenamedServerKnownBetter(t *testing.T) {
	for _, o := range children()[1:] {
		t.Run(kindOf(o), func(t *testing.T) {
			w := newWorld(t)
			w.apply(o)
			w.settle(o)
			w.spelled(o, "renamed", "a=1, b=2")
			w.settle(o)
			// The record of the rename was interrupted, or made by a version that made none.
			w.recordName(o, "of before")
			w.settle(o)
			w.wire.sent()
			was := w.externalName(o)
			w.credential("ops", func(c *credential.Credential) { c.Server = "another" })
			w.settle(o)
			w.is(o, xpv2.ReasonAvailable)
			if sent := w.wire.sent(); len(sent) > 0 || w.externalName(o) != was {
				t.Errorf("it is another one: %v", sent)
			}
		})
	}
}
