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
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
		// The status follows the conditions.
		teams, _, _ := unstructured.NestedSlice(u.Object, "status", "teams")
		for _, team := range teams {
			if team.(map[string]any)["ready"] != true {
				return fmt.Errorf("it is Ready, and does not show yet that its teams are: %v", teams)
			}
		}
		return nil
	})
	return u
}

// annotationRevision is what the controller of Deployments counts changes of a pod template with.
const annotationRevision = "deployment.kubernetes.io/revision"

// deploymentOf the TerdutServer of a namespace.
func deploymentOf(t *testing.T, ns string) *appsv1.Deployment {
	t.Helper()
	l := &appsv1.DeploymentList{}
	if err := p.Client.List(t.Context(), l, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	if len(l.Items) != 1 {
		t.Fatalf("%d Deployments are in namespace %s", len(l.Items), ns)
	}
	return &l.Items[0]
}

// serverSays waits until the TerdutServer says something, and returns it.
func serverSays(t *testing.T, ns, conditionType, status, reason string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(terdutv1alpha1.TerdutServerGroupVersionKind)
	eventually(t, conditionType+" to be "+reason, func(ctx context.Context) error {
		if err := p.Client.Get(ctx, types.NamespacedName{Namespace: ns, Name: "terdut"}, u); err != nil {
			return err
		}
		if c := condition(u, conditionType); c["status"] != status || c["reason"] != reason {
			return fmt.Errorf("it is not: %s", conditionsOf(u))
		}
		return nil
	})
	return u
}

// changeSpec of an object.
func changeSpec(t *testing.T, gvk schema.GroupVersionKind, ns, name string, change func(spec map[string]any)) {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	eventually(t, "the spec to be changed", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, types.NamespacedName{Namespace: ns, Name: name}, u); err != nil {
			return err
		}
		change(u.Object["spec"].(map[string]any))
		return p.Client.Update(ctx, u)
	})
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

// serverWith is a TerdutServer with what a spec says, and without teams otherwise.
func serverWith(ns string, spec map[string]any) *unstructured.Unstructured {
	all := map[string]any{
		"image":          map[string]any{"repository": "ghcr.io/ryuvia/terdut-server", "tag": "v0.33.0"},
		"admin":          map[string]any{"username": "admin", "email": "admin@example.org"},
		"deletionPolicy": "Delete",
	}
	for k, v := range spec {
		all[k] = v
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": all}}
	u.SetGroupVersionKind(terdutv1alpha1.TerdutServerGroupVersionKind)
	u.SetNamespace(ns)
	u.SetName("terdut")
	return u
}
