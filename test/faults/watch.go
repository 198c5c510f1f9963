package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// watchedKinds are those whose conditions have to say the truth.
var watchedKinds = []schema.GroupVersionKind{
	terdutv1alpha1.TenantGroupVersionKind, postgresqlv1alpha1.PGDatabaseGroupVersionKind, openbaov1alpha1.BaoSecretGroupVersionKind,
}

// An observer judges what the conditions of a namespace's objects say, as it changes.
type observer struct {
	world *world
	queue chan *unstructured.Unstructured

	mu         sync.Mutex
	violations []string
	// reasons that were seen with False or Unknown, as Kind Type=Status Reason.
	reasons map[string]bool
	// texts are the statuses that were seen.
	texts map[string]bool
	// unresponsive counts how often Crossplane paused watching a Tenant.
	unresponsive int
}

// observe watches all namespaces until the context ends.
func (w *world) observe(ctx context.Context) error {
	for _, gvk := range watchedKinds {
		seen, err := w.watchKind(ctx, gvk)
		if err != nil {
			return err
		}
		go func() {
			for ctx.Err() == nil {
				for e := range seen.ResultChan() {
					if u, ok := e.Object.(*unstructured.Unstructured); ok {
						w.tell(u)
					}
				}
				// The API server ends watches. A new one begins with all there is.
				again, err := w.watchKind(ctx, gvk)
				if err != nil {
					time.Sleep(pollInterval)
					continue
				}
				seen = again
			}
		}()
	}
	return nil
}

func (w *world) watchKind(ctx context.Context, gvk schema.GroupVersionKind) (watch.Interface, error) {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(gvk)
	seen, err := w.watch.Watch(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("cannot watch %s: %w", gvk.Kind, err)
	}
	return seen, nil
}

// tell the observer of its namespace, if there is one, of an object.
func (w *world) tell(u *unstructured.Unstructured) {
	w.mu.Lock()
	o := w.observers[u.GetNamespace()]
	w.mu.Unlock()
	if o != nil {
		o.queue <- u
	}
}

// observer of a namespace, until the context ends.
func (w *world) observer(ctx context.Context, ns string) *observer {
	o := &observer{world: w, queue: make(chan *unstructured.Unstructured, 10_000), reasons: map[string]bool{}, texts: map[string]bool{}}
	w.mu.Lock()
	w.observers[ns] = o
	w.mu.Unlock()
	go func() {
		for {
			select {
			case u := <-o.queue:
				o.judge(ctx, u)
			case <-ctx.Done():
				return
			}
		}
	}()
	return o
}

// take what was seen since the last time.
func (o *observer) take() (violations []string, reasons map[string]bool, unresponsive int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	violations, reasons, unresponsive = o.violations, o.reasons, o.unresponsive
	o.violations, o.reasons, o.unresponsive = nil, map[string]bool{}, 0
	return violations, reasons, unresponsive
}

// leaks says whether any status seen since the last time holds one of some values.
func (o *observer) leaks(values []string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	texts := o.texts
	o.texts = map[string]bool{}
	for t := range texts {
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(t, v) }) {
			return true
		}
	}
	return false
}

func (o *observer) violate(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if v := fmt.Sprintf(format, args...); !slices.Contains(o.violations, v) {
		o.violations = append(o.violations, v)
	}
}

// judge one state of an object.
func (o *observer) judge(ctx context.Context, u *unstructured.Unstructured) {
	status, err := json.Marshal(u.Object["status"])
	if err == nil {
		o.mu.Lock()
		o.texts[string(status)] = true
		o.mu.Unlock()
	}
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		if m["status"] == string(corev1.ConditionTrue) {
			continue
		}
		kind, reason := fmt.Sprint(m["type"]), fmt.Sprint(m["reason"])
		if kind == "Responsive" {
			o.mu.Lock()
			o.unresponsive++
			o.mu.Unlock()
			continue
		}
		o.mu.Lock()
		o.reasons[fmt.Sprintf("%s %s=%s %s", u.GetKind(), kind, m["status"], reason)] = true
		o.mu.Unlock()
		// What External Secrets says is passed on as it is.
		if !o.world.documented[reason] && kind != terdutv1alpha1.TypeSecretProjected {
			o.violate("%s has %s=%v with reason %q, which is not documented: %v", u.GetKind(), kind, m["status"], reason, m["message"])
		}
	}
	if u.GetKind() == terdutv1alpha1.TenantGroupVersionKind.Kind {
		o.judgeReady(ctx, u)
	}
}

// judgeReady looks whether a Tenant that says that it is Ready is so. The state may be an old one by now: then it is not judged.
func (o *observer) judgeReady(ctx context.Context, u *unstructured.Unstructured) {
	const tries = 3
	var why error
	for range tries {
		if u.GetDeletionTimestamp() != nil || conditionOf(u, "Ready")["status"] != string(corev1.ConditionTrue) {
			return
		}
		if why = o.world.secretLogsIn(ctx, u); why == nil {
			return
		}
		now := u.DeepCopy()
		if err := o.world.p.Client.Get(ctx, client.ObjectKeyFromObject(u), now); err != nil || now.GetResourceVersion() != u.GetResourceVersion() {
			return
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
	o.violate("the Tenant says that it is Ready: %v", why)
}

// conditionOf an object, empty when it has none of the type.
func conditionOf(u *unstructured.Unstructured, kind string) map[string]any {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == kind {
			return m
		}
	}
	return map[string]any{}
}

// conditionsOf writes the conditions of an object in one line.
func conditionsOf(u *unstructured.Unstructured) string {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	var out []string
	for _, c := range list {
		if m, ok := c.(map[string]any); ok {
			out = append(out, fmt.Sprintf("%v=%v %v %v", m["type"], m["status"], m["reason"], m["message"]))
		}
	}
	return strings.Join(out, "; ")
}
