package oncall

import (
	"net/http"
	"testing"

	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestH38LateTeam holds that a team which an attempt made whose answer was lost is the object's own, also when it appears only after another
// attempt was refused because of it.
func TestH38LateTeam(t *testing.T) {
	w, _ := withServer(t)
	m := newTeam("platform")
	w.create(m)
	for _, f := range []terdutserver.Fault{
		{Drop: true},
		// The server comes to the first attempt just before the second.
		{Status: http.StatusConflict, Commit: true},
	} {
		f.Method, f.Route, f.Times = http.MethodPost, "/api/teams", 1
		w.server.Inject(f)
		if w.passAll(1, m) == nil {
			t.Fatal("the create did not fail")
		}
	}
	w.ready(m)
	w.rest(m)
	if s := w.state(); len(s.Teams) != 1 || len(s.ServiceAccounts) != 2 {
		t.Errorf("there are %d teams and %d accounts", len(s.Teams), len(s.ServiceAccounts))
	}
}
