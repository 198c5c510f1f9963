package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
)

const (
	// pause is how long nothing happens to a Tenant between two operations of a life without faults. Crossplane bounds how much may
	// happen to a composite in a short time, and creation takes most of that.
	pause = 30 * time.Second
	// Of a sample fewer lives are lived, with less time between, so that it is not held against anybody that Crossplane paused.
	samplePause, sampleLives = 15 * time.Second, 3
	// crewSize is how many Tenants a crew has.
	crewSize = 4
	// attempts to reach a point that retries, or another status in between, have shifted.
	attempts = 3
)

// A runner runs trials.
type runner struct {
	*world

	mu       sync.Mutex
	queues   map[operation][]trial
	outcomes []outcome
	others   []string // Violations that belong to no trial.
	names    int
}

// next takes the next trial of each operation.
func (r *runner) next() map[operation]trial {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[operation]trial{}
	for op, q := range r.queues {
		if len(q) > 0 {
			out[op], r.queues[op] = q[0], q[1:]
		}
	}
	return out
}

// putBack the trials of the operations after one.
func (r *runner) putBack(trials map[operation]trial, after operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := false
	for _, op := range operations {
		if t, ok := trials[op]; ok && found {
			r.queues[op] = append(r.queues[op], t)
		}
		found = found || op == after
	}
}

// note an outcome. A trial whose point was not reached is tried again.
func (r *runner) note(o outcome, injected bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !injected {
		for _, v := range o.violations {
			r.others = append(r.others, fmt.Sprintf("%s: %s", o.op, v))
			progressf("  VIOLATION without a fault of its own: %s: %s", o.op, v)
		}
		return
	}
	if !o.hit && len(o.violations) == 0 && o.tries+1 < attempts {
		o.tries++
		r.queues[o.op] = append(r.queues[o.op], o.trial)
		return
	}
	for _, v := range o.violations {
		progressf("  VIOLATION after %s: %s", o.trial, v)
	}
	r.outcomes = append(r.outcomes, o)
	left := 0
	for _, q := range r.queues {
		left += len(q)
	}
	progressf("  %d done, %d to go: %s: %s", len(r.outcomes), left, o.trial, seconds(o.took))
}

// run everything: n trials, or all of them.
func (r *runner) run(ctx context.Context, n, crewCount int) (map[operation][]point, error) {
	var crews []crew
	var all []*worker
	for range crewCount {
		var c crew
		for range crewSize {
			w, err := r.worker(ctx, len(all))
			if err != nil {
				return nil, err
			}
			all, c = append(all, w), append(c, w)
		}
		crews = append(crews, c)
	}

	sampled := n > 0
	clean, between := crews[0], pause
	if sampled {
		clean, between = clean[:sampleLives], samplePause
	}
	progressf("Living %d lives without faults.", len(clean))
	points, err := clean.clean(ctx, between)
	if err != nil {
		return nil, err
	}
	for _, op := range operations {
		progressf("  %s makes %d external writes: %v", op, len(points[op]), points[op])
	}

	r.queues = sample(trials(points, func(server) []fault { return kills }), n/4)
	progressf("Killing the provider at each write.")
	crews[0].live(ctx)

	r.mu.Lock()
	r.queues = sample(trials(points, func(s server) []fault { return faults[s] }), n-n/4)
	r.mu.Unlock()
	progressf("Letting the servers fail at each write.")
	var wg sync.WaitGroup
	for _, c := range crews {
		wg.Go(func() { c.live(ctx) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return points, ctx.Err()
	}
	return points, r.sweep(ctx, all)
}

// sweep looks for what was left behind anywhere.
func (r *runner) sweep(ctx context.Context, workers []*worker) error {
	var errs []error
	for _, w := range workers {
		got, err := r.outside(ctx, w.ns, "")
		if err == nil {
			err = differs(w.ns+", outside, at the end", &outside{}, got)
		}
		objects, oerr := r.composed(ctx, w.ns)
		if oerr == nil {
			oerr = differs(w.ns+", objects, at the end", map[string]int{}, objects)
		}
		errs = append(errs, err, oerr)
	}
	if err := errors.Join(errs...); err != nil {
		r.others = append(r.others, err.Error())
	}
	return nil
}

// reasonsBy returns the reasons that conditions gave at each fault of each server.
func (r *runner) reasonsBy(s server, f fault) map[string]bool {
	out := map[string]bool{}
	for _, o := range r.outcomes {
		if o.server == s && o.fault == f {
			maps.Copy(out, o.reasons)
		}
	}
	return out
}
