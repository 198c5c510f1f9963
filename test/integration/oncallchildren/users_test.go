package oncallchildren

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestH31TwoUsers holds that a name which two users have is a Conflict that names both, that nothing is written then, and that names which
// the policy does not use make no difference.
func TestH31TwoUsers(t *testing.T) {
	w := newWorld(t)
	o := policy("policy")
	w.apply(o)
	w.edit(func(s *terdutserver.State) { s.Users = append(s.Users, terdutserver.User{ID: 90, Username: "root"}) })
	w.settle(o)
	w.is(o, xpv2.ReasonAvailable)
	was := w.rows()
	w.wire.sent()
	w.edit(func(s *terdutserver.State) { s.Users = append(s.Users, terdutserver.User{ID: 91, Username: "bob"}) })
	w.settle(o)
	w.is(o, v1alpha1.ReasonConflict)
	if m := o.GetCondition(xpv2.TypeReady).Message; m != `the server has several users "bob", with the ids [3 91]: nobody can tell whom to page` {
		t.Errorf("the message is %q", m)
	}
	w.events.once(t, "Warning Conflict")
	w.quiet(3, o)
	if diff := same(was, w.rows()); diff != "" || len(w.wire.sent()) > 0 {
		t.Errorf("something was written: %s", diff)
	}
	w.edit(func(s *terdutserver.State) { s.Users = s.Users[:len(s.Users)-1] })
	w.settle(o)
	w.is(o, xpv2.ReasonAvailable)
}
