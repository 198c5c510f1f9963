package main

import (
	"context"
	"fmt"
	"time"
)

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
// it finds no registry yet. With the whole pause between operations Crossplane must not have stopped watching a Tenant at any time.
func (c crew) clean(ctx context.Context, between time.Duration) (map[operation][]point, error) {
	lives := make([]*life, len(c))
	runs := make([]map[operation][]point, len(c))
	for i, w := range c {
		lives[i], runs[i] = w.newLife(), map[operation][]point{}
	}
	for _, op := range operations {
		for i, w := range c {
			// What is being deleted is never paused.
			if op == opUpdate || op == opRotate {
				if err := lives[i].settle(ctx, between); err != nil {
					return nil, err
				}
			}
			o := w.step(ctx, lives[i], trial{op: op})
			if o.unresponsive && between >= pause {
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
