package server

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
)

// Crossplane's circuit breaker lets a composite have so many events, and so many more with time: the defaults of its flags
// --circuit-breaker-burst and --circuit-breaker-refill-rate (internal/circuit in the sources of Crossplane 2.4). An update of a composed
// resource, or of the composite itself, is two events. Beyond them it stops listening for five minutes and says so: Responsive is False.
const (
	burst  = 100.0
	refill = 1.0 // Each second.
)

// What becoming ready costs, in events, as measured end to end.
const (
	costComposite = 40.0 // Its own finalizer, composition, references and status.
	costTenant    = 45.0 // A Tenant that is created while it is waited for: Crossplane watches what a function asks for.
	costChild     = 14.0 // A managed resource of a team, with its part of the composite's references and status.
	// reserve is for what nobody planned: a person's change, a replica that restarts.
	reserve = 8.0
)

// costs of the other composed resources.
var costs = map[string]float64{resourceDeployment: 12, resourceService: 4, resourceRoute: 5, resourceBootstrap: 11, resourceConfig: 10}

func costOf(resource string) float64 {
	if isChild(resource) {
		return costChild
	}
	return costs[resource]
}

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
	costs := []cost{{at: createdAt(in.Composite), events: costComposite}}
	for _, t := range in.Required[requiredTenant] {
		costs = append(costs, cost{at: createdAt(t), events: costTenant})
	}
	for name, o := range observed {
		costs = append(costs, cost{at: created(o.Metadata.CreationTimestamp), events: costOf(name)})
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

// createdAt is when an object was made.
func createdAt(o *structpb.Struct) time.Time {
	return created(o.GetFields()["metadata"].GetStructValue().GetFields()["creationTimestamp"].GetStringValue())
}

// created is a time of creation. One that is not known is long ago.
func created(timestamp string) time.Time {
	t, err := time.Parse(time.RFC3339, timestamp)
	if err != nil {
		return time.Time{}
	}
	return t
}

// bears tells whether resources may be composed now that are not there.
func (s *server) bears(resources ...string) bool {
	cost := 0.0
	for _, r := range resources {
		if s.observed[r] == nil {
			cost += costOf(r)
		}
	}
	return cost <= float64(s.budget)
}

// children is how many new ones may be made of those that are wanted: a batch or more, all of them, or none.
func (b budget) children(wanted int) int {
	n := max(0, int(float64(b)/costChild))
	if n < min(batch, wanted) {
		return 0
	}
	return min(n, wanted)
}
