package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// verdicts follows what the contracts of a namespace say, and when.
type verdicts struct {
	namespace string
	stop      context.CancelFunc
	news      chan struct{}

	mu     sync.Mutex
	writes int
	is     map[string]string
	// want is the verdict that is waited for, since when each contract first had it, and back how often one had another again.
	want  string
	since map[string]time.Time
	back  int
	// at is when each Secret was changed.
	at map[int]time.Time
}

func (b *bench) verdicts(ctx context.Context, ns string) *verdicts {
	ctx, stop := context.WithCancel(ctx)
	v := &verdicts{namespace: ns, stop: stop, news: make(chan struct{}, 1), is: map[string]string{}, since: map[string]time.Time{}, at: map[int]time.Time{}}
	go func() {
		// The API server ends watches of a kind when its definition changes, which Crossplane does after it was first used.
		for ctx.Err() == nil {
			l := &unstructured.UnstructuredList{}
			l.SetGroupVersionKind(terdutv1alpha1.SecretContractGroupVersionKind)
			w, err := b.watch.Watch(ctx, l, client.InNamespace(ns))
			if err != nil {
				continue
			}
			for e := range w.ResultChan() {
				if u, ok := e.Object.(*unstructured.Unstructured); ok {
					v.note(u, time.Now())
				}
			}
			w.Stop()
		}
	}()
	return v
}

func (v *verdicts) note(u *unstructured.Unstructured, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.writes++
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		m, ok := c.(map[string]any)
		if !ok || m["type"] != string(secretsv1alpha1.TypeSatisfied) {
			continue
		}
		name, was, is := u.GetName(), v.is[u.GetName()], fmt.Sprint(m["status"])
		v.is[name] = is
		switch {
		case is == v.want && v.since[name].IsZero():
			v.since[name] = now
		case is != was && was == v.want:
			v.back++
		}
	}
	select {
	case v.news <- struct{}{}:
	default:
	}
}

// wait until so many contracts have the verdict that is wanted.
func (v *verdicts) wait(ctx context.Context, n int) error {
	said := time.Now()
	for {
		have := v.have()
		if have >= n {
			return nil
		}
		if time.Since(said) > progressEvery {
			said = time.Now()
			progressf("  %d of %d contracts are %s", have, n, v.want)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d contracts are %s: %w", have, n, v.want, ctx.Err())
		case <-v.news:
		}
	}
}

// have counts the contracts that have the verdict that is wanted.
func (v *verdicts) have() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	have := 0
	for _, s := range v.is {
		if s == v.want {
			have++
		}
	}
	return have
}

// calm waits until no contract has been written for a while.
func (b *bench) calm(ctx context.Context, v *verdicts) error {
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("contracts do not come to rest: %w", ctx.Err())
		case <-v.news:
		case <-time.After(quietFor):
			return nil
		}
	}
}

// expect a verdict from now on.
func (v *verdicts) expect(want string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.want, v.since = want, map[string]time.Time{}
}

func (v *verdicts) changed(secret int, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.at[secret] = at
}

// count returns how often a contract was written, and how often one went back on its verdict.
func (v *verdicts) count() (writes, back int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.writes, v.back
}

// latencies from the change of each contract's Secret to its verdict.
func (v *verdicts) latencies(secrets int) []time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []time.Duration
	for name, t := range v.since {
		i := 0
		if _, err := fmt.Sscanf(name, "contract-%d", &i); err == nil {
			out = append(out, max(0, t.Sub(v.at[i%secrets])))
		}
	}
	return out
}
