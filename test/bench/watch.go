package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// progressEvery is how often a long wait says how far it is.
const progressEvery = 10 * time.Second

// namespace makes a namespace.
func (b *bench) namespace(ctx context.Context, name string) error {
	if err := b.p.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		return fmt.Errorf("cannot create namespace %q: %w", name, err)
	}
	return nil
}

// apply creates objects of one kind in a namespace of its own and returns how long each took from its creation until it was Ready, and
// all of them together.
func (b *bench) apply(ctx context.Context, gvk schema.GroupVersionKind, namespace string, objects []client.Object) ([]time.Duration, time.Duration, error) {
	open := func() (watch.Interface, error) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		return b.watch.Watch(ctx, list, client.InNamespace(namespace))
	}
	created := make(chan error, 1)
	start, starts := time.Now(), make([]time.Time, len(objects))
	go func() {
		for i, o := range objects {
			starts[i] = time.Now()
			if err := b.p.Client.Create(ctx, o); err != nil {
				created <- fmt.Errorf("cannot create %s %q: %w", gvk.Kind, o.GetName(), err)
				return
			}
		}
		created <- nil
	}()
	ready := map[string]time.Time{}
	for _, o := range objects {
		ready[o.GetName()] = time.Time{}
	}
	if err := follow(ctx, open, created, ready); err != nil {
		return nil, 0, fmt.Errorf("cannot see %s become Ready: %w", gvk.Kind, err)
	}

	var took []time.Duration
	last := start
	for i, o := range objects {
		at := ready[o.GetName()]
		took = append(took, at.Sub(starts[i]))
		if at.After(last) {
			last = at
		}
	}
	return took, last.Sub(start), nil
}

// follow a watch until all objects are created and Ready, and note when each became so.
func follow(ctx context.Context, open func() (watch.Interface, error), created <-chan error, ready map[string]time.Time) error {
	w, err := open()
	if err != nil {
		return err
	}
	defer func() { w.Stop() }()
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for left := len(ready); left > 0 || created != nil; {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d are not: %w", left, len(ready), ctx.Err())
		case <-t.C:
			progressf("  %d of %d are Ready", len(ready)-left, len(ready))
		case err := <-created:
			if err != nil {
				return err
			}
			created = nil
		case e, ok := <-w.ResultChan():
			if !ok || e.Type == watch.Error {
				// The API server ends watches that it cannot serve in time. A new one begins with all there is.
				w.Stop()
				again, err := open()
				if err != nil {
					return err
				}
				w = again
				continue
			}
			u, ok := e.Object.(*unstructured.Unstructured)
			if !ok {
				return fmt.Errorf("the watch answered %T", e.Object)
			}
			if at, wanted := ready[u.GetName()]; wanted && at.IsZero() && isReady(u) {
				ready[u.GetName()] = time.Now()
				left--
			}
		}
	}
	return nil
}

func isReady(u *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Ready" {
			return m["status"] == "True"
		}
	}
	return false
}

// until polls a condition.
func until(ctx context.Context, every time.Duration, met func() (bool, error)) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		if ok, err := met(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}
