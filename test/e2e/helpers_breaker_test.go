package e2e

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// A breaker is what Crossplane's circuit breaker counts of one composite: a bucket of a hundred tokens, of which one comes back each second.
type breaker struct {
	mu     sync.Mutex
	left   float64
	at     time.Time
	lowest float64
	// spent since the last rest.
	spent int

	last map[string]*unstructured.Unstructured
	// What tokens went to, by kind and by what has changed.
	kinds, changes map[string]int
	unresponsive   []string
}

// breakerKinds are the composite, what it is composed of and what its function asks for.
var breakerKinds = []schema.GroupVersionKind{
	terdutv1alpha1.TerdutServerGroupVersionKind, {Group: "apps", Version: "v1", Kind: "Deployment"}, {Version: "v1", Kind: "Service"},
	secretsv1alpha1.SecretCheckGroupVersionKind,
	oncallv1alpha1.BootstrapGroupVersionKind, oncallv1alpha1.SchemeGroupVersion.WithKind("ProviderConfig"), oncallv1alpha1.TeamGroupVersionKind,
	oncallv1alpha1.EscalationPolicyGroupVersionKind, oncallv1alpha1.DeadmanSwitchGroupVersionKind, oncallv1alpha1.IntegrationGroupVersionKind,
	terdutv1alpha1.TenantGroupVersionKind, postgresqlv1alpha1.PGDatabaseGroupVersionKind,
}

// watchServers watches the TerdutServer of a namespace and what it is composed of, from before there is one. It must never be told that
// Crossplane does not listen to it.
func watchServers(t *testing.T, ns string) *breaker {
	t.Helper()
	c, err := client.NewWithWatch(p.Plane.Config(), client.Options{Scheme: p.Client.Scheme()})
	if err != nil {
		t.Fatalf("cannot create client: %v", err)
	}
	b := &breaker{left: 100, lowest: 100, last: map[string]*unstructured.Unstructured{}, kinds: map[string]int{}, changes: map[string]int{}}
	var done sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	kinds := breakerKinds
	if own := behind(terdutv1alpha1.TerdutServerGroupVersionKind); !slices.Contains(kinds, own) {
		kinds = append(slices.Clone(kinds), own)
	}
	for _, gvk := range kinds {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk)
		w, err := c.Watch(ctx, l)
		if err != nil {
			t.Fatalf("cannot watch %s: %v", gvk.Kind, err)
		}
		done.Go(func() {
			defer w.Stop()
			for event := range w.ResultChan() {
				if u, ok := event.Object.(*unstructured.Unstructured); ok && standsIn(u, ns) {
					b.add(string(event.Type), u)
				}
			}
		})
	}
	t.Cleanup(func() {
		stop()
		done.Wait()
		if len(b.unresponsive) > 0 {
			t.Errorf("a TerdutServer was not Responsive: Crossplane did not listen to it: %s", strings.Join(b.unresponsive, "; "))
			for _, what := range slices.SortedFunc(maps.Keys(b.changes), func(x, y string) int { return cmp.Or(cmp.Compare(b.changes[y], b.changes[x]), cmp.Compare(x, y)) }) {
				t.Logf("%4d %s", b.changes[what], what)
			}
		}
		t.Logf("at the least %.0f of Crossplane's tokens were left in namespace %s; they went to %v", b.lowest, ns, b.kinds)
	})
	return b
}

// enough is how many tokens are left when a test goes on. A person's change takes less.
const enough = 65

// rested waits until Crossplane would bear another change: a person does not make one in the second in which the last has come about.
func (b *breaker) rested(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	t.Logf("%d of Crossplane's tokens were spent", b.spent)
	b.spent = 0
	b.mu.Unlock()
	eventually(t, "Crossplane to bear another change", func(context.Context) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if left := b.left + time.Since(b.at).Seconds(); left < enough {
			return fmt.Errorf("%.0f tokens are left", left)
		}
		return nil
	})
}

func (b *breaker) add(event string, u *unstructured.Unstructured) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := condition(u, "Responsive"); c["status"] == "False" {
		if m := fmt.Sprintf("%s: %v", u.GetName(), c["message"]); !slices.Contains(b.unresponsive, m) {
			b.unresponsive = append(b.unresponsive, m)
		}
	}
	now := time.Now()
	b.left, b.at = min(100, b.left+now.Sub(b.at).Seconds()), now
	if u.GetDeletionTimestamp() != nil {
		// What is being deleted takes none, and a composite that is begins anew.
		if u.GetKind() == behind(terdutv1alpha1.TerdutServerGroupVersionKind).Kind {
			b.left = 100
		}
		return
	}
	key := u.GetKind() + "/" + u.GetName()
	// An update is two: Crossplane looks at the object of before, too.
	n := map[string]int{"ADDED": 1, "MODIFIED": 2, "DELETED": 1}[event]
	b.left -= float64(n)
	b.spent += n
	b.lowest = min(b.lowest, b.left)
	b.kinds[u.GetKind()] += n
	what := []string{event}
	if was := b.last[key]; was != nil {
		what = changes(was.Object, u.Object)
	}
	b.changes[u.GetKind()+": "+strings.Join(what, ", ")] += n
	b.last[key] = u
}

// changes between two versions of an object: fields of it, and of its metadata, spec and status; annotations and conditions by their names.
func changes(was, is map[string]any) []string {
	var out []string
	deeper := map[string]bool{"metadata": true, "spec": true, "status": true, "metadata.annotations": true, "spec.crossplane": true, "status.atProvider": true}
	var walk func(path string, x, y map[string]any)
	walk = func(path string, x, y map[string]any) {
		all := map[string]any{}
		maps.Copy(all, x)
		maps.Copy(all, y)
		for _, k := range slices.Sorted(maps.Keys(all)) {
			name := strings.TrimPrefix(path+"."+k, ".")
			xm, xok := x[k].(map[string]any)
			ym, yok := y[k].(map[string]any)
			switch {
			case reflect.DeepEqual(x[k], y[k]), name == "metadata.managedFields", name == "metadata.resourceVersion":
			case deeper[name] && (xok || x[k] == nil) && (yok || y[k] == nil):
				walk(name, xm, ym)
			case name == "status.conditions":
				out = append(out, conditionChanges(x[k], y[k])...)
			default:
				out = append(out, name)
			}
		}
	}
	walk("", was, is)
	return out
}

func conditionChanges(was, is any) []string {
	byType := func(v any) map[string]string {
		out := map[string]string{}
		l, _ := v.([]any)
		for _, c := range l {
			if m, ok := c.(map[string]any); ok {
				out[fmt.Sprint(m["type"])] = fmt.Sprint(m["status"], m["reason"], m["message"], m["observedGeneration"])
			}
		}
		return out
	}
	x, y := byType(was), byType(is)
	var out []string
	for _, t := range slices.Sorted(maps.Keys(y)) {
		if x[t] != y[t] {
			out = append(out, t)
		}
	}
	return out
}
