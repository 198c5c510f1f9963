package oncallchildren

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// released is how many objects of a kind went without their server, as the provider's metric says.
func released(t *testing.T, kind string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "terdut_released_total" && m.GetLabel()[0].GetValue() == kind {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// TestH39ChildReleased holds that an object which goes without its server, because its Team has gone, leaves a trace that no namespace can take
// with it.
func TestH39ChildReleased(t *testing.T) {
	kind(t, func(t *testing.T, o setup.Object) {
		w := newWorld(t)
		w.apply(o)
		w.settle(o)
		was := released(t, kindOf(o))
		w.remove(w.liveTeam("ops"), o)
		w.settle(o)
		w.gone(o)
		w.events.once(t, "Warning Released")
		if n := released(t, kindOf(o)); n != was+1 {
			t.Errorf("%v are counted, want one", n-was)
		}
	})
}
