package oncallchildren

import (
	"net/http"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// exactly makes by hand what an object asks for, to the letter.
func (w *world) exactly(o setup.Object) {
	w.t.Helper()
	switch o := o.(type) {
	case *v1alpha1.DeadmanSwitch:
		w.edit(func(s *terdutserver.State) {
			s.Sequences["switch"]++
			p := o.Spec.ForProvider
			s.Switches = append(s.Switches, terdutserver.Switch{ID: s.Sequences["switch"], TeamID: 1, Name: o.Name, Matcher: p.Matcher, Timeout: "1m30s", Severity: p.Severity})
		})
	default:
		w.namesake(o)
	}
}

// TestH28RefusedCreate holds that after a create that the server certainly refused, what appears is somebody else's, even if it is exactly
// what was asked for.
func TestH28RefusedCreate(t *testing.T) {
	for _, o := range children()[1:] {
		w := newWorld(t)
		method, route := verb("create", o)
		w.srv.Inject(terdutserver.Fault{Method: method, Route: route, Status: http.StatusForbidden, Times: 1})
		w.apply(o)
		if w.pass(o) == nil {
			t.Fatal("the create did not fail")
		}
		w.exactly(o)
		was := w.rows()
		w.settle(o)
		w.is(o, v1alpha1.ReasonConflict)
		w.remove(o)
		w.settle(o)
		w.gone(o)
		if diff := same(was, w.rows()); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	}
}

// TestH28Siblings holds that of two objects that ask for the same thing one has it and the other says Conflict: when both create at once,
// and when one came between the other's lost request and its next look.
func TestH28Siblings(t *testing.T) {
	twins := func(o setup.Object) (a, b setup.Object) {
		name := "twin"
		a, b = children()[indexOf(o)], children()[indexOf(o)]
		b.SetName("second")
		b.SetUID("uid of second")
		for _, o := range []setup.Object{a, b} {
			switch o := o.(type) {
			case *v1alpha1.DeadmanSwitch:
				o.Spec.ForProvider.Name = &name
			case *v1alpha1.Integration:
				o.Spec.ForProvider.Name, o.Spec.ForProvider.SecretName = &name, o.Name+"-webhook"
			}
		}
		return a, b
	}
	count := func(w *world) int { return len(w.state().Switches) + len(w.state().Integrations) }
	for _, o := range children()[1:] {
		t.Run("AtOnce/"+kindOf(o), func(t *testing.T) {
			w := newWorld(t)
			a, b := twins(o)
			w.apply(a, b)
			// Both have looked before either creates.
			w.srv.Inject(terdutserver.Fault{Method: http.MethodGet, Delay: 100 * time.Millisecond})
			connectors := w.connectors()
			var wg sync.WaitGroup
			for _, o := range []setup.Object{a, b} {
				wg.Go(func() { _ = w.passWith(connectors, o) })
			}
			wg.Wait()
			w.srv.ClearFaults()
			if n := count(w); n != 1 {
				t.Errorf("%d were made", n)
			}
			w.settle(a, b)
			winner, loser := a, b
			if w.externalName(a) == "" {
				winner, loser = b, a
			}
			w.is(winner, xpv2.ReasonAvailable)
			w.is(loser, v1alpha1.ReasonConflict)
		})
		t.Run("Between/"+kindOf(o), func(t *testing.T) {
			w := newWorld(t)
			a, b := twins(o)
			w.apply(a, b)
			method, route := verb("create", o)
			w.srv.Inject(terdutserver.Fault{Method: method, Route: route, Drop: true, Times: 1})
			if w.pass(b) == nil {
				t.Fatal("the create did not fail")
			}
			w.settle(a, b)
			w.is(a, xpv2.ReasonAvailable)
			w.is(b, v1alpha1.ReasonConflict)
			w.remove(b)
			w.settle(a, b)
			w.gone(b)
			w.is(a, xpv2.ReasonAvailable)
			if n := count(w); n != 1 {
				t.Errorf("there are %d", n)
			}
		})
	}
}

// TestTeamObjectRemade holds that a Team object that was made anew for the same team changes nothing for its children, and that what they
// have is deleted with them, also when they have not looked since.
func TestTeamObjectRemade(t *testing.T) {
	for name, look := range map[string]bool{"Looked": true, "NotLooked": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			objects := children()
			w.apply(objects...)
			w.settle(objects...)
			was := w.liveTeam("ops")
			c, err := w.options.Credentials.Team(t.Context(), was)
			if err != nil {
				t.Fatal(err)
			}
			w.remove(was)
			is := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ops", UID: "another uid"}}
			if err := w.kube.Create(t.Context(), is); err != nil {
				t.Fatal(err)
			}
			n := credential.New(credential.OwnerOf(v1alpha1.TeamKind, is))
			n.Made = c.Made // As the Team's controller has it when it takes the team over.
			n.Endpoint, n.Server, n.TeamID, n.ServiceAccountID, n.KeyID, n.Token = c.Endpoint, c.Server, c.TeamID, c.ServiceAccountID, c.KeyID, c.Token
			if err := w.options.Credentials.Save(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			w.wire.forget()
			if look {
				w.settle(objects...)
				for _, o := range objects {
					w.is(o, xpv2.ReasonAvailable)
				}
				if sent := w.wire.sent(); len(sent) > 0 {
					t.Errorf("something was written: %v", sent)
				}
				w.quiet(2, objects...)
			}
			w.remove(objects[0], objects[1], objects[2])
			w.settle(objects...)
			for _, o := range objects {
				w.gone(o)
			}
			if r := w.rows(); len(r.Policies)+len(r.Switches)+len(r.Integrations) > 0 {
				t.Errorf("something is left: %v", r)
			}
		})
	}
}

// TestTeamAloneHoldsBack holds that children of a Team that lives and has no key are not let go, and go when it has one.
func TestTeamAloneHoldsBack(t *testing.T) {
	kind(t, func(t *testing.T, o setup.Object) {
		w := newWorld(t)
		w.apply(o)
		w.settle(o)
		c, err := w.options.Credentials.Team(t.Context(), w.liveTeam("ops"))
		if err != nil {
			t.Fatal(err)
		}
		n := *c
		w.credential("ops", func(c *credential.Credential) { c.Token, c.KeyID, c.ServiceAccountID = "", 0, 0 })
		w.remove(o)
		w.settle(o)
		w.own(load(w, o), v1alpha1.ReasonWaitingForTeam)
		w.credential("ops", func(c *credential.Credential) {
			c.Token, c.KeyID, c.ServiceAccountID = n.Token, n.KeyID, n.ServiceAccountID
		})
		// What suspends changes does not suspend deletion.
		w.credential("ops", func(c *credential.Credential) { c.Suspended = "not allowed" })
		w.settle(o)
		w.gone(o)
		if r := w.rows(); len(r.Policies)+len(r.Switches)+len(r.Integrations) > 0 {
			t.Errorf("something is left: %v", r)
		}
	})
}

// TestMovedAndDeleted holds that an object whose Team was changed right before it was deleted is deleted from the Team that it was made in.
func TestMovedAndDeleted(t *testing.T) {
	kind(t, func(t *testing.T, o setup.Object) {
		w := newWorld(t)
		w.team("dev")
		w.apply(o)
		w.settle(o)
		w.moveTo(o, "dev")
		w.remove(o)
		w.settle(o)
		w.gone(o)
		if r := w.rows(); len(r.Policies)+len(r.Switches)+len(r.Integrations) > 0 {
			t.Errorf("something is left: %v", r)
		}
	})
}

// TestServerKnownBetter holds that what an object has stays its own when the provider comes to know the server by another identity, for
// example through another config, and that drift is put back as before.
func TestServerKnownBetter(t *testing.T) {
	w := newWorld(t)
	objects := children()
	w.apply(objects...)
	w.settle(objects...)
	want := w.rows()
	w.credential("ops", func(c *credential.Credential) { c.Server = "another" })
	w.settle(objects...)
	for _, o := range objects {
		w.is(o, xpv2.ReasonAvailable)
	}
	if sent := w.wire.sent(); len(sent) > 0 {
		t.Errorf("something was written: %v", sent)
	}
	w.quiet(3, objects...)
	w.edit(func(s *terdutserver.State) {
		s.Switches[0].Name, s.Integrations[0].Name = "other", "other"
		p := s.Policies[1]
		p.RepeatCount = 99
		s.Policies[1] = p
	})
	w.settle(objects...)
	if diff := same(want, w.rows()); diff != "" || len(w.wire.sent()) != len(objects) {
		t.Errorf("-want, +got:\n%s", diff)
	}
	for _, o := range objects {
		w.is(o, xpv2.ReasonAvailable)
	}
}

// TestH32TeamGone holds that a child has gone with its team when the API says so and takes the key.
func TestH32TeamGone(t *testing.T) {
	kind(t, func(t *testing.T, o setup.Object) {
		w := newWorld(t)
		w.apply(o)
		w.settle(o)
		list, _ := routes(o)
		w.srv.Inject(terdutserver.Fault{Method: http.MethodGet, Route: list, Status: http.StatusNotFound})
		w.settle(o)
		w.is(o, v1alpha1.ReasonWaitingForTeam)
		w.remove(o)
		w.settle(o)
		w.gone(o)
	})
}
