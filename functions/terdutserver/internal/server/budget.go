package server

import (
	"cmp"
	"slices"
	"time"

	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// Crossplane's circuit breaker lets a composite have so many events, and so many more with time: the defaults of its flags
// --circuit-breaker-burst and --circuit-breaker-refill-rate (internal/circuit in the sources of Crossplane 2.4). An update of a composed
// resource, or of the composite itself, is two events. Beyond them it stops listening for five minutes and says so: Responsive is False.
const (
	burst  = 100.0
	refill = 1.0 // Each second.
)

// What becoming ready costs, in events, as measured end to end. Crossplane writes a composite three times for each step of its composition:
// the references to what is composed, which make another generation, and twice the conditions that tell of that. A condition that changes
// is two writes more, since Crossplane applies next what it has updated before; and it does so from a cache that may be behind.
const (
	costComposite = 25.0 // Until it has its finalizer, composition, references and status, and its database is ready.
	costTenant    = 50.0 // A Tenant that is created while it is waited for: Crossplane watches what a function asks for.
	costChild     = 9.0  // A managed resource of a team.
	costBatch     = 12.0 // What comes with some of them: a step, and their part of the composite's status.
	// claimShare is how many events there are behind a claim for each that there would be without it. Crossplane writes the claim's status
	// after the composite's, and the claim is asked for.
	claimShare = 1.25
	// reserve is for what nobody planned: a person's change, a replica that restarts.
	reserve = 8.0
)

// costs of the other composed resources. The first of a step has that of the step, and of the conditions that it decides.
var costs = map[string]float64{
	resourceCredential: 10,
	resourceDeployment: 24, resourceService: 2, resourceRoute: 5,
	resourceBootstrap: 27, resourceConfig: 9,
}

func costOf(resource string) float64 {
	if isChild(resource) {
		return costChild
	}
	return costs[resource]
}

// batch is how many children are composed at a time, when so many are wanted: the fewer, the more each costs.
const batch = 6

// A budget is how many events the composite may have now without Crossplane closing its ears. It is worked out from the times at which the
// composed resources were made, so it is the same whoever asks, and after a restart. With time it grows and never shrinks.
type budget float64

// newBudget of a composite at a time.
func newBudget(in Input, observed map[string]*object) budget {
	type cost struct {
		at     time.Time
		events float64
	}
	costs := []cost{{at: composite.CreatedAt(in.Composite), events: costComposite}}
	for _, t := range in.Required[requiredTenant] {
		costs = append(costs, cost{at: composite.CreatedAt(t), events: costTenant})
	}
	batches := map[time.Time]bool{}
	for name, o := range observed {
		at := composite.Time(o.Metadata.CreationTimestamp)
		costs = append(costs, cost{at: at, events: costOf(name)})
		if isChild(name) && !batches[at] {
			batches[at] = true
			costs = append(costs, cost{at: at, events: costBatch})
		}
	}
	slices.SortFunc(costs, func(a, b cost) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.events, b.events)) })

	share := 1.0
	if _, claimed := in.Required[composite.RequiredClaim]; claimed {
		share = claimShare
	}
	left, last := burst/share, time.Time{}
	until := func(t time.Time) {
		if t.After(last) {
			left = min(burst/share, left+refill/share*t.Sub(last).Seconds())
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
	n := max(0, int((float64(b)-costBatch)/costChild))
	if n < min(batch, wanted) {
		return 0
	}
	return min(n, wanted)
}
