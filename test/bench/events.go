package main

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// What a watch event takes from the circuit breaker of a composite, which holds 100 tokens: Crossplane maps both the old and the new object
// of an update, NewTokenBucketBreaker in its sources.
const (
	tokensOfCreate = 1
	tokensOfUpdate = 2
)

// watched are the kinds whose events Crossplane counts for a Tenant: its own, and those that it is composed of.
var watched = []schema.GroupVersionKind{
	terdutv1alpha1.TenantGroupVersionKind,
	postgresqlv1alpha1.PGDatabaseGroupVersionKind,
	openbaov1alpha1.BaoSecretGroupVersionKind,
	{Group: "external-secrets.io", Version: "v1", Kind: "ExternalSecret"},
}

// A recorder notes the events of a namespace with one Tenant.
type recorder struct {
	start time.Time
	stop  context.CancelFunc
	done  sync.WaitGroup

	mu     sync.Mutex
	lines  []string
	events map[string]int // By kind.
	tokens int
	// tenants that wavered.
	tenants wavering
	// keep the lines, which costs a comparison of each object with what it was.
	keep bool
}

// record the events of a namespace until the recorder is ended.
func (b *bench) record(ctx context.Context, namespace string) (*recorder, error) {
	ctx, stop := context.WithCancel(ctx)
	r := &recorder{start: time.Now(), stop: stop, events: map[string]int{}, tenants: wavering{ready: map[string]bool{}}, keep: b.Trace}
	for _, gvk := range watched {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk)
		there := map[string]*unstructured.Unstructured{}
		if err := b.watch.List(ctx, l, client.InNamespace(namespace)); err != nil {
			stop()
			return nil, fmt.Errorf("cannot list %s: %w", gvk.Kind, err)
		}
		from := l.GetResourceVersion()
		for i := range l.Items {
			there[l.Items[i].GetName()] = &l.Items[i]
		}
		w, err := b.watch.Watch(ctx, l, client.InNamespace(namespace), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: from}})
		if err != nil {
			stop()
			return nil, fmt.Errorf("cannot watch %s: %w", gvk.Kind, err)
		}
		r.done.Go(func() { r.follow(ctx, w, there) })
	}
	return r, nil
}

// end of the recording.
func (r *recorder) end() {
	r.stop()
	r.done.Wait()
	slices.Sort(r.lines)
}

func (r *recorder) follow(ctx context.Context, w watch.Interface, last map[string]*unstructured.Unstructured) {
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.ResultChan():
			u, isObject := e.Object.(*unstructured.Unstructured)
			if !ok || !isObject {
				r.mu.Lock()
				r.tenants.cut = r.tenants.cut || ctx.Err() == nil
				r.mu.Unlock()
				return
			}
			r.note(e.Type, last[u.GetName()], u)
			last[u.GetName()] = u
		}
	}
}

func (r *recorder) note(t watch.EventType, was, is *unstructured.Unstructured) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events[is.GetKind()]++
	r.tokens += tokensOfUpdate
	what := []string{"created"}
	if t == watch.Added {
		r.tokens += tokensOfCreate - tokensOfUpdate
	} else if was != nil && r.keep {
		what = changed("", was.Object, is.Object)
	}
	if is.GetKind() == terdutv1alpha1.TenantGroupVersionKind.Kind {
		r.tenants.note(is, time.Now())
	}
	if !r.keep {
		return
	}
	r.lines = append(r.lines, fmt.Sprintf("%8.3f s  %s  %-14s  %s->%s  by %-44s  %s", time.Since(r.start).Seconds(), compositeOf(is), is.GetKind(),
		version(was), version(is), writer(is), strings.Join(what, " ")))
}

func version(u *unstructured.Unstructured) string {
	if u == nil {
		return ""
	}
	return u.GetResourceVersion()
}

// writer is who wrote an object last, as far as the API server notes it: at the precision of seconds, and not when nothing that is
// owned changed.
func writer(u *unstructured.Unstructured) string {
	newest, names := time.Time{}, []string{}
	for _, f := range u.GetManagedFields() {
		if f.Time == nil || f.Time.Time.Before(newest) {
			continue
		}
		if f.Time.After(newest) {
			newest, names = f.Time.Time, nil
		}
		name := f.Manager
		if f.Subresource != "" {
			name += "/" + f.Subresource
		}
		names = append(names, name)
	}
	return strings.Join(names, ",")
}

// changed lists the fields that differ. Conditions go by their type, with what they became.
func changed(path string, was, is any) []string {
	left, isMap := was.(map[string]any)
	right, areMaps := is.(map[string]any)
	if !isMap || !areMaps {
		if reflect.DeepEqual(was, is) {
			return nil
		}
		if path == ".status.conditions" {
			return changed(path, byType(was), byType(is))
		}
		return []string{strings.TrimPrefix(path, ".")}
	}
	if t, ok := right["type"].(string); ok && strings.HasPrefix(path, ".status.conditions.") && !reflect.DeepEqual(left, right) {
		return []string{fmt.Sprintf("%s=%v(%v)", t, right["status"], right["reason"])}
	}
	keys := maps.Clone(left)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, right)
	var out []string
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		switch path + "." + k {
		case ".metadata.managedFields", ".metadata.resourceVersion":
			continue
		}
		out = append(out, changed(path+"."+k, left[k], right[k])...)
	}
	return out
}

func byType(conditions any) map[string]any {
	out := map[string]any{}
	l, _ := conditions.([]any)
	for _, c := range l {
		if m, ok := c.(map[string]any); ok {
			out[fmt.Sprint(m["type"])] = m
		}
	}
	return out
}

// creationEvents applies Tenants one after the other and counts the events that Crossplane's circuit breaker counts: until each is Ready and
// at rest, and upon two changes of its spec.
func (b *bench) creationEvents(ctx context.Context) error {
	progressf("Recording the events of %d Tenants.", b.Singles)
	if err := b.namespace(ctx, namespaceEvents); err != nil {
		return err
	}
	var created, changed []int
	events := map[string][]int{}
	for i := range b.Singles {
		r, err := b.recordTenant(ctx, func() error {
			_, _, err := b.applyTenants(ctx, namespaceEvents, recorded(i))
			return err
		})
		if err != nil {
			return err
		}
		created = append(created, r.tokens)
		for _, gvk := range watched {
			events[gvk.Kind] = append(events[gvk.Kind], r.events[gvk.Kind])
		}
		if r, err = b.recordTenant(ctx, func() error { return b.changeTwice(ctx, recorded(i)) }); err != nil {
			return err
		}
		changed = append(changed, r.tokens)
	}
	if b.Singles == 0 {
		return nil
	}
	var kinds []string
	for _, gvk := range watched {
		slices.Sort(events[gvk.Kind])
		kinds = append(kinds, fmt.Sprintf("%s %d", gvk.Kind, events[gvk.Kind][b.Singles/2]))
	}
	b.table.rowf(fmt.Sprintf("watch events of one Tenant until Ready, median of %d", b.Singles), "%s", strings.Join(kinds, ", "))
	b.table.rowf("  tokens of Crossplane's circuit breaker that they take, of 100", "%s", between(created))
	b.table.rowf("  tokens that two changes of its spec take", "%s", between(changed))
	return nil
}

func recorded(i int) string { return fmt.Sprintf("recorded-%d", i) }

// recordTenant records what an act causes until it is at rest.
func (b *bench) recordTenant(ctx context.Context, act func() error) (*recorder, error) {
	r, err := b.record(ctx, namespaceEvents)
	if err != nil {
		return nil, err
	}
	defer r.end()
	if err := act(); err != nil {
		return nil, err
	}
	if err := b.quiet(ctx, r); err != nil {
		return nil, err
	}
	r.end()
	if b.Trace {
		for _, l := range r.lines {
			progressf("  %s", l)
		}
	}
	return r, nil
}

// changeTwice changes the connection limit of a Tenant, and again once it is in force.
func (b *bench) changeTwice(ctx context.Context, name string) error {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(terdutv1alpha1.TenantGroupVersionKind)
	u.SetNamespace(namespaceEvents)
	u.SetName(name)
	for _, limit := range []string{"7", "8"} {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"connectionLimit":`+limit+`}}`))
		if err := b.p.Client.Patch(ctx, u, patch); err != nil {
			return fmt.Errorf("cannot change Tenant %q: %w", name, err)
		}
		err := until(ctx, 100*time.Millisecond, func() (bool, error) {
			if err := b.p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
				return false, err
			}
			seen, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
			return isReady(u) && seen == u.GetGeneration(), nil
		})
		if err != nil {
			return fmt.Errorf("cannot see Tenant %q become Ready again: %w", name, err)
		}
	}
	return nil
}

func between(n []int) string {
	slices.Sort(n)
	return fmt.Sprintf("%d (%d to %d)", n[len(n)/2], n[0], n[len(n)-1])
}

// quietFor is how long nothing has to happen until a Tenant counts as at rest.
const quietFor = 3 * time.Second

// quiet waits until the recorder has noted nothing for a while.
func (b *bench) quiet(ctx context.Context, r *recorder) error {
	seen, since := 0, time.Now()
	return until(ctx, 100*time.Millisecond, func() (bool, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.tokens != seen {
			seen, since = r.tokens, time.Now()
		}
		return time.Since(since) > quietFor, nil
	})
}
