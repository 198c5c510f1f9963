package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// applyServerExample applies a file of examples/terdutserver in namespaces of the test's own, in the place of oncall and shop.
func applyServerExample(t *testing.T, file, oncall, shop string) {
	t.Helper()
	documents, err := os.ReadFile(filepath.Join("..", "..", "examples", "terdutserver", file))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(
		"namespace: oncall\n", "namespace: "+oncall+"\n", "namespace: shop\n", "namespace: "+shop+"\n", "metadata.name: shop\n", "metadata.name: "+shop+"\n",
	).Replace(string(documents))
	if err := p.Apply(t.Context(), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// onCallReady waits until an object is Ready with its current spec, and returns it.
func onCallReady(t *testing.T, gvk schema.GroupVersionKind, ns, name string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	eventually(t, gvk.Kind+" "+name, func(ctx context.Context) error {
		if err := p.Client.Get(ctx, types.NamespacedName{Namespace: ns, Name: name}, u); err != nil {
			return err
		}
		generation, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
		if condition(u, "Ready")["status"] != "True" || generation != u.GetGeneration() {
			return fmt.Errorf("it is not Ready: %s", conditionsOf(u))
		}
		return nil
	})
	return u
}

// onServerSide is what an on-call server holds, as it says itself.
func onServerSide(t *testing.T, ns, service string) *terdutserver.State {
	t.Helper()
	st := &terdutserver.State{}
	eventually(t, "the server's state", func(ctx context.Context) error {
		is, err := p.Servers.Instances(ctx, types.NamespacedName{Namespace: ns, Name: service})
		if err != nil {
			return err
		}
		if len(is) == 0 {
			return errors.New("no server is ready")
		}
		rsp, err := http.Get(is[0].Control + "/state")
		if err != nil {
			return err
		}
		defer rsp.Body.Close()
		*st = terdutserver.State{}
		return json.NewDecoder(rsp.Body).Decode(st)
	})
	return st
}

// teamIDs of a server by name.
func teamIDs(st *terdutserver.State) map[string]int64 {
	out := map[string]int64{}
	for _, t := range st.Teams {
		out[t.Name] = t.ID
	}
	return out
}

// An eventCount is what Crossplane's circuit breaker counts of one composite.
type eventCount struct {
	mu           sync.Mutex
	tokens       map[string]int // By kind.
	unresponsive []string
}

// watchServers records what happens to TerdutServers of a namespace and what they are composed of, from before there is one. None may ever
// be told that it is not Responsive.
func watchServers(t *testing.T, ns string) *eventCount {
	t.Helper()
	c, err := client.NewWithWatch(p.Plane.Config(), client.Options{Scheme: p.Client.Scheme()})
	if err != nil {
		t.Fatalf("cannot create client: %v", err)
	}
	e := &eventCount{tokens: map[string]int{}}
	var done sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	for _, gvk := range []schema.GroupVersionKind{
		terdutv1alpha1.TerdutServerGroupVersionKind, {Group: "apps", Version: "v1", Kind: "Deployment"}, {Version: "v1", Kind: "Service"},
		oncallv1alpha1.BootstrapGroupVersionKind, oncallv1alpha1.SchemeGroupVersion.WithKind("ProviderConfig"), oncallv1alpha1.TeamGroupVersionKind,
		oncallv1alpha1.EscalationPolicyGroupVersionKind, oncallv1alpha1.DeadmanSwitchGroupVersionKind, oncallv1alpha1.IntegrationGroupVersionKind,
	} {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk)
		w, err := c.Watch(ctx, l, client.InNamespace(ns))
		if err != nil {
			t.Fatalf("cannot watch %s: %v", gvk.Kind, err)
		}
		done.Go(func() {
			defer w.Stop()
			for event := range w.ResultChan() {
				if u, ok := event.Object.(*unstructured.Unstructured); ok {
					e.add(string(event.Type), u)
				}
			}
		})
	}
	t.Cleanup(func() {
		stop()
		done.Wait()
		// Crossplane stops to listen for minutes to a composite of whose resources too many events come. It costs time and nothing else: the
		// function is asked again every few seconds.
		for _, m := range e.unresponsive {
			t.Logf("a TerdutServer was not Responsive: %s", m)
		}
		t.Logf("events of namespace %s that count: %v", ns, e.tokens)
	})
	return e
}

func (e *eventCount) add(what string, u *unstructured.Unstructured) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := condition(u, "Responsive"); c["status"] == "False" {
		e.unresponsive = append(e.unresponsive, fmt.Sprintf("%s: %v %v", u.GetName(), c["reason"], c["message"]))
	}
	// An update is two events for Crossplane, and what is being deleted is none.
	if n := map[string]int{"ADDED": 1, "MODIFIED": 2}[what]; u.GetDeletionTimestamp() == nil {
		e.tokens[u.GetKind()] += n
	}
}

// webhook fails unless a Secret holds the URL and the key of an integration, which the server takes alerts at.
func webhook(t *testing.T, ns, name, endpoint string) {
	t.Helper()
	s := &corev1.Secret{}
	eventually(t, "Secret "+name, func(ctx context.Context) error {
		if err := p.Client.Get(ctx, types.NamespacedName{Namespace: ns, Name: name}, s); err != nil {
			return err
		}
		if len(s.Data["key"]) == 0 || !strings.HasPrefix(string(s.Data["url"]), endpoint+"/") {
			return errors.New("it does not hold the webhook")
		}
		return nil
	})
}

// noneLeft waits until no object of the kinds is in a namespace.
func noneLeft(t *testing.T, ns string, gvks ...schema.GroupVersionKind) {
	t.Helper()
	for _, gvk := range gvks {
		eventually(t, gvk.Kind+" to be gone", func(ctx context.Context) error {
			l := &unstructured.UnstructuredList{}
			l.SetGroupVersionKind(gvk)
			if err := p.Client.List(ctx, l, client.InNamespace(ns)); err != nil {
				return err
			}
			if len(l.Items) > 0 {
				return fmt.Errorf("%s is still there, deleted %s ago: %s", l.Items[0].GetName(), age(&l.Items[0]), conditionsOf(&l.Items[0]))
			}
			return nil
		})
	}
}

func age(o client.Object) string {
	if d := o.GetDeletionTimestamp(); d != nil {
		return time.Since(d.Time).Round(time.Second).String()
	}
	return "never"
}
