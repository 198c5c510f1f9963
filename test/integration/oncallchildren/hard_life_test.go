package oncallchildren

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// removeTeam does what the Team's controller does at its end: the team goes from the server, then its key, then the object.
func (w *world) removeTeam(step int) {
	w.t.Helper()
	ctx, team := w.t.Context(), w.liveTeam("ops")
	switch step {
	case 0:
		meta.AddFinalizer(team, finalizer)
		if err := w.kube.Update(ctx, team); err != nil {
			w.t.Fatal(err)
		}
		w.remove(team)
	case 1:
		if err := w.admin.DeleteTeam(ctx, w.teamID("ops")); err != nil {
			w.t.Fatal(err)
		}
	case 2:
		c, err := w.options.Credentials.Team(ctx, team)
		if err == nil {
			err = w.options.Credentials.Delete(ctx, c)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	case 3:
		meta.RemoveFinalizer(team, finalizer)
		if err := w.kube.Update(ctx, team); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestH29AnyOrder holds that children that are deleted together with their Team always go, wherever the Team's end is when theirs begins,
// and that nothing of them is left.
func TestH29AnyOrder(t *testing.T) {
	for run := range 20 {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			w := newWorld(t)
			objects := children()
			// One whose Team is known by labels alone, which nothing has any more when the Team has gone.
			objects = append(objects, watchdog("selected", func(o *v1alpha1.DeadmanSwitch) {
				o.Spec.ForProvider.TeamParameters = v1alpha1.TeamParameters{TeamSelector: &v1alpha1.TeamSelector{MatchLabels: map[string]string{"team": "ops"}}}
			}))
			w.apply(objects...)
			w.settle(objects...)
			r := rand.New(rand.NewPCG(uint64(run), 0))
			step := 0
			left := slices.Clone(objects)
			for step < 4 || len(left) > 0 {
				switch n := r.IntN(6); {
				case n == 0 && step < 4:
					w.removeTeam(step)
					step++
				case n == 1 && len(left) > 0:
					w.remove(left[0])
					left = left[1:]
				default:
					_ = w.pass(objects[r.IntN(len(objects))])
				}
			}
			for range 4 {
				for _, o := range objects {
					_ = w.pass(o)
				}
			}
			for _, o := range objects {
				w.gone(o)
			}
			if s := w.state(); len(s.Switches)+len(s.Integrations)+len(s.Policies) != 0 {
				t.Errorf("something is left: %v %v %v", s.Switches, s.Integrations, s.Policies)
			}
		})
	}
}

// TestH29Refused holds that a refused deletion is shown with what the server says of it, and ends by itself once the reason has gone.
func TestH29Refused(t *testing.T) {
	kind(t, func(t *testing.T, o setup.Object) {
		w := newWorld(t)
		w.apply(o)
		w.settle(o)
		w.remove(o)
		method, route := verb("delete", o)
		cancel := w.srv.Inject(terdutserver.Fault{Method: method, Route: route, Status: http.StatusConflict, Body: `{"error":"still used by schedule 17"}`})
		for range 3 {
			if err := w.pass(o); err == nil || !strings.Contains(err.Error(), "schedule 17") {
				t.Errorf("want the server's words, got %v", err)
			}
		}
		w.own(load(w, o), v1alpha1.ReasonConflict)
		cancel()
		w.settle(o)
		w.gone(o)
	})
}

// TestH30Levels holds that the order of levels is the spec's whatever the order of the answer, that targets have none, and that two levels
// change places in one write.
func TestH30Levels(t *testing.T) {
	w := newWorld(t)
	w.srv.SetModes(terdutserver.Modes{Shuffle: true, PageSize: 1})
	o := policy("policy")
	w.apply(o)
	w.settle(o)
	w.is(o, xpv2.ReasonAvailable)
	w.quiet(20, o)
	change(w, o, func(o *v1alpha1.EscalationPolicy) { slices.Reverse(o.Spec.ForProvider.Levels[1].Targets) })
	w.settle(o)
	if sent := w.wire.sent(); len(sent) != 0 {
		t.Errorf("targets in another order are the same: %v", sent)
	}
	change(w, o, func(o *v1alpha1.EscalationPolicy) { slices.Reverse(o.Spec.ForProvider.Levels) })
	w.settle(o)
	if sent := w.wire.sent(); len(sent) != 1 {
		t.Errorf("want one write, got %v", sent)
	}
	if p := w.state().Policies[1]; len(p.Levels) != 2 || p.Levels[0].Timeout != "1m30s" {
		t.Errorf("the levels are not in the spec's order: %v", p)
	}
}

// TestH32KeyRevoked holds that with a key that does not work nothing looks as if it were gone: no create, no release, and all is well
// when the key is.
func TestH32KeyRevoked(t *testing.T) {
	kind(t, func(t *testing.T, o setup.Object) {
		w := newWorld(t)
		w.apply(o)
		w.settle(o)
		was := w.rows()
		revoke := func() {
			var account int64
			w.credential("ops", func(c *credential.Credential) { account = c.ServiceAccountID })
			w.edit(func(s *terdutserver.State) {
				s.Keys = slices.DeleteFunc(s.Keys, func(k terdutserver.Key) bool { return k.AccountID == account })
			})
		}
		renew := func() {
			w.credential("ops", func(c *credential.Credential) {
				k, err := w.admin.CreateServiceAccountKey(t.Context(), c.ServiceAccountID)
				if err != nil {
					t.Fatal(err)
				}
				c.KeyID, c.Token = k.ID, k.Key
			})
		}
		revoke()
		w.recover1(o)
		w.own(load(w, o), v1alpha1.ReasonUnauthorized)
		w.remove(o)
		w.recover1(o)
		if !w.load(o) {
			t.Fatal("it was released")
		}
		if diff := same(was, w.rows()); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
		renew()
		w.settle(o)
		w.gone(o)
		if r := w.rows(); len(r.Policies)+len(r.Switches)+len(r.Integrations) != 0 {
			t.Errorf("something is left: %v", r)
		}
	})
}

// TestH33TeamRemade holds that children follow a team that was made anew under another id, with one write each, and that a Team is only
// looked for in the child's own namespace.
func TestH33TeamRemade(t *testing.T) {
	w := newWorld(t)
	objects := children()
	w.apply(objects...)
	w.settle(objects...)
	w.remakeTeam()
	id := w.teamID("ops")
	w.wire.sent()
	w.settle(objects...)
	for _, o := range objects {
		w.is(o, xpv2.ReasonAvailable)
	}
	want := []string{fmt.Sprintf("PUT teams/%d/escalation", id), fmt.Sprintf("POST teams/%d/deadman/switches", id), fmt.Sprintf("POST teams/%d/integrations", id)}
	if diff := cmp.Diff(want, w.wire.sent()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	w.takes(objects[2].(*v1alpha1.Integration))
	if w.externalName(objects[0]) != fmt.Sprint(id) {
		t.Errorf("the policy's external name is %s", w.externalName(objects[0]))
	}
}

// TestH33Waiting holds what a child waits for, and that it says so: quietly, with nothing written, and gone at once when it is deleted.
func TestH33Waiting(t *testing.T) {
	elsewhere := func(o *v1alpha1.Team) { o.Namespace = "bank" }
	cases := map[string]struct {
		reason string
		teams  func(w *world)
		of     v1alpha1.TeamParameters
		want   string
	}{
		"Missing":        {"There is no such Team.", func(*world) {}, ofTeam("dev"), `Team "dev" does not exist`},
		"OtherNamespace": {"A Team of another namespace is none.", func(w *world) { w.team("dev", elsewhere) }, ofTeam("dev"), `Team "dev" does not exist`},
		"NoKey": {"The Team is not on its server yet.", func(w *world) {
			w.team("dev")
			w.credential("dev", func(c *credential.Credential) { c.Token, c.KeyID, c.ServiceAccountID = "", 0, 0 })
		}, ofTeam("dev"), `Team "dev" is not on its server yet`},
		"Suspended": {"The Team's config does not allow it any more.", func(w *world) {
			w.credential("ops", func(c *credential.Credential) { c.Suspended = "not allowed" })
		}, ofTeam("ops"), "not allowed"},
		"Deleted":      {"The Team is being deleted.", func(w *world) { w.removeTeam(0) }, ofTeam("ops"), `Team "ops" is being deleted`},
		"NoneSelected": {"No Team has the labels.", func(*world) {}, selecting("dev"), "no Team has the labels team=dev"},
		"TwoSelected": {"Two Teams have the labels.", func(w *world) {
			w.team("ops2", func(o *v1alpha1.Team) { o.Labels["team"] = "ops" })
		}, selecting("ops"), "more than one Team has the labels team=ops: ops, ops2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tc.teams(w)
			o := watchdog("watchdog", func(o *v1alpha1.DeadmanSwitch) { o.Spec.ForProvider.TeamParameters = tc.of })
			w.apply(o)
			w.settle(o)
			w.is(o, v1alpha1.ReasonWaitingForTeam)
			if m := o.GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, tc.want) {
				t.Errorf("%s want %q, got %q", tc.reason, tc.want, m)
			}
			w.quiet(3, o)
			w.remove(o)
			w.settle(o)
			w.gone(o)
		})
	}
}

func selecting(team string) v1alpha1.TeamParameters {
	return v1alpha1.TeamParameters{TeamSelector: &v1alpha1.TeamSelector{MatchLabels: map[string]string{"team": team}}}
}

// TestStatusSteersNothing holds that whatever a Team's status says, requests go where the provider's own Secret says, with its key.
func TestStatusSteersNothing(t *testing.T) {
	w := newWorld(t)
	hostile, err := terdutserver.Start(terdutserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hostile.Close)
	team := w.liveTeam("ops")
	team.Status.AtProvider = v1alpha1.TeamObservation{TeamID: 99, ServerEndpoint: hostile.URL(), KeyID: 99, CredentialsSecretRef: &v1alpha1.CredentialReference{Name: "theirs"}}
	if err := w.kube.Status().Update(t.Context(), team); err != nil {
		t.Fatal(err)
	}
	objects := children()
	for _, o := range objects {
		status := o.DeepCopyObject().(setup.Object)
		if d, ok := status.(*v1alpha1.DeadmanSwitch); ok {
			d.Status.AtProvider = v1alpha1.DeadmanSwitchObservation{SwitchID: 9, TeamID: 99}
			o = d
		}
		w.apply(o)
	}
	w.settle(objects...)
	for _, o := range objects {
		w.is(o, xpv2.ReasonAvailable)
	}
	if r := hostile.Requests(); len(r) > 0 {
		t.Errorf("the other server was asked: %v", r)
	}
	for _, r := range w.srv.Requests() {
		if r.Credential != "user/root" && r.Credential != "service-account/team-ops-1" {
			t.Errorf("%s %s was asked with %s", r.Method, r.Route, r.Credential)
		}
	}
}
