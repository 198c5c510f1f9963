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
	// crewSize is how many Tenants a crew has.
	crewSize = 4
	// attempts to reach a point that retries, or another status in between, have shifted.
	attempts = 3
)

// A trial is one injection into one operation.
type trial struct {
	injection

	op    operation
	tries int
}

func (t trial) String() string { return fmt.Sprintf("%s, %s: %s", t.op, t.point, t.fault) }

// An outcome is what became of a trial.
type outcome struct {
	trial

	hit        bool
	took       time.Duration
	violations []string
	// reasons that conditions gave meanwhile.
	reasons      map[string]bool
	unresponsive bool
}

// A runner runs trials.
type runner struct {
	*world

	mu       sync.Mutex
	queues   map[operation][]trial
	outcomes []outcome
	others   []string // Violations that belong to no trial.
	names    int
}

// A worker runs one Tenant at a time in a namespace of its own.
type worker struct {
	*runner

	ns       string
	observer *observer
}

func (r *runner) worker(ctx context.Context, n int) (*worker, error) {
	ns := fmt.Sprintf("fault%d", n)
	if err := r.namespace(ctx, ns); err != nil {
		return nil, err
	}
	r.injector.begin(ns, nil)
	return &worker{runner: r, ns: ns, observer: r.observer(ctx, ns)}, nil
}

func (w *worker) newLife() *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names++
	return &life{world: w.world, ns: w.ns, name: fmt.Sprintf("t%d", w.names), observer: w.observer}
}

// clean lives lives without faults, one for each of the crew, and returns the writes that all of them made. The first one is not counted:
// it finds no registry yet. With a pause between operations Crossplane must not have stopped watching a Tenant at any time.
func (c crew) clean(ctx context.Context, pause time.Duration) (map[operation][]point, error) {
	lives := make([]*life, len(c))
	runs := make([]map[operation][]point, len(c))
	for i, w := range c {
		lives[i], runs[i] = w.newLife(), map[operation][]point{}
	}
	for _, op := range operations {
		for i, w := range c {
			if op != opCreate {
				if err := lives[i].settle(ctx, pause); err != nil {
					return nil, err
				}
			}
			o := w.step(ctx, lives[i], trial{op: op})
			if o.unresponsive && pause > 0 {
				o.violations = append(o.violations, "Crossplane paused watching the Tenant (Responsive=False)")
			}
			if len(o.violations) > 0 {
				return nil, fmt.Errorf("%s without faults: %v", op, o.violations)
			}
			runs[i][op], _, _ = w.injector.state(w.ns)
		}
	}
	return always(runs[1:]), nil
}

// step runs an operation with the trial's injection, if it has one.
func (w *worker) step(ctx context.Context, l *life, t trial) outcome {
	o := outcome{trial: t}
	var inj *injection
	if t.fault != "" {
		inj = &t.injection
	}
	w.injector.begin(w.ns, inj)
	start := time.Now()
	err := l.begin(ctx, t.op)
	if err == nil {
		err = l.end(ctx, t.op)
	}
	o.took = time.Since(start)
	if err == nil {
		err = l.settle(ctx, calm)
	}
	_, _, o.hit = w.injector.state(w.ns)
	var n int
	o.violations, o.reasons, n = w.observer.take()
	o.unresponsive = n > 0
	if err != nil {
		o.violations = append(o.violations, err.Error())
	}
	if l.leaks() {
		o.violations = append(o.violations, "a status holds a password")
	}
	return o
}

// A crew runs trials one at a time, with several Tenants in turn, so that there is some time between two operations of one.
type crew []*worker

// live rounds of lives, with the next trial of each operation, as long as there are any.
func (c crew) live(ctx context.Context) {
	for {
		type round struct {
			*worker

			life   *life
			trials map[operation]trial
		}
		var rounds []round
		for _, w := range c {
			if t := w.next(); len(t) > 0 {
				rounds = append(rounds, round{worker: w, life: w.newLife(), trials: t})
			}
		}
		if len(rounds) == 0 {
			return
		}
		for _, op := range operations {
			for i, r := range rounds {
				t, injected := r.trials[op]
				if r.life == nil || !injected && (op == opUpdate || op == opRotate) {
					continue
				}
				t.op = op
				o := r.step(ctx, r.life, t)
				if ctx.Err() != nil {
					return
				}
				r.note(o, injected)
				if len(o.violations) > 0 && op != opDelete {
					r.abandon(ctx, r.life)
					r.putBack(r.trials, op)
					rounds[i].life = nil
				}
			}
		}
	}
}

// abandon a Tenant that is not as it should be.
func (w *worker) abandon(ctx context.Context, l *life) {
	w.injector.begin(w.ns, nil)
	if o := w.step(ctx, l, trial{op: opDelete}); len(o.violations) > 0 {
		w.note(outcome{violations: []string{fmt.Sprintf("%s/%s cannot be deleted afterwards: %v", l.ns, l.name, o.violations)}}, false)
	}
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

// always returns the writes that all runs have made, as the first one made them.
func always(runs []map[operation][]point) map[operation][]point {
	out := map[operation][]point{}
	for op, points := range runs[0] {
		for _, p := range points {
			everywhere := true
			for _, r := range runs[1:] {
				found := false
				for _, o := range r[op] {
					found = found || o == p
				}
				everywhere = everywhere && found
			}
			if everywhere {
				out[op] = append(out[op], p)
			}
		}
	}
	return out
}

// trials of every point, with the kills or the other faults.
func trials(points map[operation][]point, of func(server) []fault) map[operation][]trial {
	out := map[operation][]trial{}
	for op, ps := range points {
		for _, p := range ps {
			for _, f := range of(p.server) {
				out[op] = append(out[op], trial{op: op, injection: injection{point: p, fault: f}})
			}
		}
	}
	return out
}

// sample keeps n trials of all, spread evenly.
func sample(all map[operation][]trial, n int) map[operation][]trial {
	total := 0
	for _, q := range all {
		total += len(q)
	}
	if n <= 0 || n >= total {
		return all
	}
	out, at := map[operation][]trial{}, 0
	for _, op := range operations {
		for _, t := range all[op] {
			if at*n/total != (at+1)*n/total {
				out[op] = append(out[op], t)
			}
			at++
		}
	}
	return out
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
		clean, between = clean[:2], 0
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
