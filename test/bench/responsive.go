package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// composites are the kinds that Crossplane says Responsive of: False while it does not listen to events, because there were too many.
var composites = []schema.GroupVersionKind{
	terdutv1alpha1.TerdutServerGroupVersionKind, terdutv1alpha1.TenantGroupVersionKind, terdutv1alpha1.SecretContractGroupVersionKind,
}

// responsive follows what Crossplane says of all composites.
type responsive struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu sync.Mutex
	// said is true of a composite that was ever said not to be Responsive, false of others that something was said of, by kind.
	said map[string]map[string]bool
}

// watchResponsive watches composites until it is stopped.
func (b *bench) watchResponsive(ctx context.Context) (*responsive, error) {
	ctx, cancel := context.WithCancel(ctx)
	r := &responsive{cancel: cancel, said: map[string]map[string]bool{}}
	for _, gvk := range composites {
		r.said[gvk.Kind] = map[string]bool{}
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk)
		w, err := b.watch.Watch(ctx, l)
		if err != nil {
			r.stop()
			return nil, fmt.Errorf("cannot watch %s: %w", gvk.Kind, err)
		}
		r.done.Go(func() {
			for {
				for e := range w.ResultChan() {
					if u, ok := e.Object.(*unstructured.Unstructured); ok {
						r.note(gvk.Kind, u)
					}
				}
				w.Stop()
				// The API server ends watches when the kind's definition changes, and when it likes. A new one begins with all there is, and
				// Crossplane does not listen for minutes: nothing is missed.
				err := until(ctx, 200*time.Millisecond, func() (bool, error) {
					again, err := b.watch.Watch(ctx, l)
					if err == nil {
						w = again
					}
					return err == nil, nil
				})
				if err != nil {
					return
				}
			}
		})
	}
	return r, nil
}

func (r *responsive) stop() {
	r.cancel()
	r.done.Wait()
}

func (r *responsive) note(kind string, u *unstructured.Unstructured) {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		m, ok := c.(map[string]any)
		if !ok || m["type"] != "Responsive" {
			continue
		}
		r.mu.Lock()
		name, not := u.GetNamespace()+"/"+u.GetName(), m["status"] == "False"
		if not && !r.said[kind][name] {
			progressf("  %s %s is not Responsive: %v", kind, name, m["message"])
		}
		r.said[kind][name] = r.said[kind][name] || not
		r.mu.Unlock()
	}
}

// report what was seen.
func (r *responsive) report(t *table) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, gvk := range composites {
		not := 0
		for _, said := range r.said[gvk.Kind] {
			if said {
				not++
			}
		}
		t.rowf(fmt.Sprintf("  %ss that were not Responsive at any time meanwhile", gvk.Kind), "%d of %d", not, len(r.said[gvk.Kind]))
	}
}
