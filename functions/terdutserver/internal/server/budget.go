package server

import (
	"cmp"
	"slices"
	"time"
)

// Crossplane's circuit breaker lets a composite have so many events, and so many more with time: the defaults of its flags
// --circuit-breaker-burst and --circuit-breaker-refill-rate (internal/circuit in the sources of Crossplane 2.4). An update of a composed
// resource, or of the composite itself, is two events. Beyond them it stops listening for five minutes and says so: Responsive is False.
const (
	burst  = 100.0
	refill = 1.0 // Each second.
)

// What becoming ready costs, in events, as measured with test/bench.
const (
	costComposite = 24.0 // Its own finalizer, composition, references and status.
	costOther     = 12.0 // A Deployment that is rolled out, a config that is probed, a Bootstrap.
	costChild     = 13.0 // A managed resource that is created outside, with its part of the composite's references and status.
	// reserve is for what nobody planned: a person's change, a replica that restarts.
	reserve = 12.0
)

// batch is how many resources are composed at a time, since each time is a write of the composite too.
const batch = 3

// A budget is how many events the composite may have now without Crossplane closing its ears. It is worked out from the times at which the
// composed resources were made, so it is the same whoever asks, and after a restart. With time it grows and never shrinks.
type budget float64

// newBudget of a composite at a time.
func newBudget(in Input, observed map[string]*object) budget {
	type cost struct {
		at     time.Time
		events float64
	}
	costs := []cost{{at: created(in.Composite.GetFields()["metadata"].GetStructValue().GetFields()["creationTimestamp"].GetStringValue()), events: costComposite}}
	for name, o := range observed {
		c := cost{at: created(o.Metadata.CreationTimestamp), events: costOther}
		if isChild(name) {
			c.events = costChild
		}
		costs = append(costs, c)
	}
	slices.SortFunc(costs, func(a, b cost) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.events, b.events)) })

	left, last := burst, time.Time{}
	until := func(t time.Time) {
		if t.After(last) {
			left = min(burst, left+refill*t.Sub(last).Seconds())
			last = t
		}
	}
	for _, c := range costs {
		until(c.at)
		left -= c.events
	}
	until(in.Now)
	return budget(left - reserve)
}

// created is a time of creation. One that is not known is long ago.
func created(timestamp string) time.Time {
	t, err := time.Parse(time.RFC3339, timestamp)
	if err != nil {
		return time.Time{}
	}
	return t
}

// children is how many new ones may be made of those that are wanted: a batch or more, all of them, or none.
func (b budget) children(wanted int) int {
	n := max(0, int(float64(b)/costChild))
	if n < min(batch, wanted) {
		return 0
	}
	return min(n, wanted)
}
