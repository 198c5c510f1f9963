package child

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// Keeps is true when a server shows what it was told, or what it is known to have made of exactly that. Some servers trim names, or do not tell
// cases apart, or bring matchers into another form: what differs in that alone is told once, and what came of it is recorded. So a change is
// never held back by what a server might make of it, and a server that makes something of it is not told again and again.
func Keeps(o client.Object, t *Team, told, shown []string) bool {
	if slices.Equal(told, shown) {
		return true
	}
	r := RecordOf(o)
	return r != nil && r.of(t) && slices.Equal(r.Told, told) && slices.Equal(r.Kept, shown)
}

// Tell records what an item of a child has come to be called, and what the server shows of what it was told, if that is something else.
func Tell(ctx context.Context, kube client.Client, mg setup.Object, t *Team, name string, told, shown []string) error {
	r := RecordOf(mg)
	switch {
	case Keeps(mg, t, told, shown) && (r == nil || r.inFlight(mg) || r.Name == name):
		return nil
	case r == nil:
		r = &Record{Child: mg.GetUID(), Team: t.Object.GetUID(), Era: t.era, Made: t.made}
	}
	n := *r
	if !n.inFlight(mg) {
		n.Name = name
	}
	n.Told, n.Kept = nil, nil
	if !slices.Equal(told, shown) {
		n.Told, n.Kept = told, shown
	}
	return record(ctx, kube, mg, &n)
}

// Remember the name of an item that a child is up to date with, where its record has another: the record of a rename was interrupted, or
// never made.
func Remember(ctx context.Context, kube client.Client, mg setup.Object, t *Team, name string) error {
	r := RecordOf(mg)
	if r == nil || !r.of(t) || r.inFlight(mg) || r.Name == name {
		return nil
	}
	n := *r
	n.Name = name
	return record(ctx, kube, mg, &n)
}
