package oncallchildren

import (
	"net/http"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/internal/controller/setup"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestH38LateCreate holds that what an attempt made whose answer was lost is the object's own, also when it appears only after another attempt
// was refused.
func TestH38LateCreate(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusForbidden, http.StatusConflict} {
		kind(t, func(t *testing.T, o setup.Object) {
			w := newWorld(t)
			w.apply(o)
			method, route := verb("create", o)
			for _, f := range []terdutserver.Fault{
				{Drop: true},
				// The server comes to the first attempt while it refuses the second.
				{Status: status, Commit: true, Header: map[string]string{"Retry-After": "0"}},
			} {
				f.Method, f.Route, f.Times = method, route, 1
				w.srv.Inject(f)
				if w.pass(o) == nil {
					t.Fatal("the create did not fail")
				}
				w.srv.ClearFaults()
			}
			w.recover(o)
			w.is(o, xpv2.ReasonAvailable)
			if n := w.named(o); n > 1 {
				t.Errorf("there are %d", n)
			}
			w.remove(o)
			w.settle(o)
			w.gone(o)
			if r := w.rows(); len(r.Policies)+len(r.Switches)+len(r.Integrations) > 0 {
				t.Errorf("something is left: %v", r)
			}
		})
	}
}
