package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// serverKinds are what a TerdutServer is made of on the server.
var serverKinds = []schema.GroupVersionKind{
	oncallv1alpha1.IntegrationGroupVersionKind, oncallv1alpha1.DeadmanSwitchGroupVersionKind, oncallv1alpha1.EscalationPolicyGroupVersionKind,
	oncallv1alpha1.TeamGroupVersionKind, oncallv1alpha1.BootstrapGroupVersionKind, {Group: "apps", Version: "v1", Kind: "Deployment"},
}

// TestTerdutServer follows the example through its life: it becomes Ready on a Tenant, with its own team and one of another namespace; a change
// arrives; it is deleted in any order, while the server still answers, so that nothing of it is left in the database; and it is made again on
// that database, with the credential that was retained.
func TestTerdutServer(t *testing.T) {
	ns, shop := namespace(t), namespace(t)
	watchServers(t, ns)
	for _, f := range []string{"tenant.yaml", "terdutserver.yaml", "team.yaml"} {
		applyServerExample(t, f, ns, shop)
	}
	server := onCallReady(t, terdutv1alpha1.TerdutServerGroupVersionKind, ns, "terdut")
	for gvk, name := range map[schema.GroupVersionKind]string{
		oncallv1alpha1.TeamGroupVersionKind: "shop", oncallv1alpha1.EscalationPolicyGroupVersionKind: "shop", oncallv1alpha1.IntegrationGroupVersionKind: "alertmanager",
	} {
		onCallReady(t, gvk, shop, name)
	}
	endpoint := "http://terdut." + ns + ".svc:8080"
	if got := status(server, "endpoint"); got != endpoint {
		t.Errorf("endpoint %q, want %q", got, endpoint)
	}
	webhook(t, ns, "platform-webhook", endpoint)
	webhook(t, shop, "shop-webhook", endpoint)

	st := onServerSide(t, ns, "terdut")
	ids := teamIDs(st)
	if diff := cmp.Diff([]string{"Platform", "Shop"}, slices.Sorted(maps.Keys(ids))); diff != "" {
		t.Errorf("teams on the server: -want, +got:\n%s", diff)
	}
	want := []any{map[string]any{"name": "platform", "id": ids["Platform"], "ready": true}}
	got, _, _ := unstructured.NestedSlice(server.Object, "status", "teams")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status.teams: -want, +got:\n%s", diff)
	}
	if l := st.Policies[ids["Platform"]].Levels; len(l) != 2 || len(l[1].Targets) != 2 {
		t.Errorf("the policy of the team has levels %v", l)
	}
	if len(st.Switches) != 1 || st.Switches[0].TeamID != ids["Platform"] || len(st.Integrations) != 2 {
		t.Errorf("%d switches and %d integrations are on the server", len(st.Switches), len(st.Integrations))
	}

	changeServer(t, ns, func(spec map[string]any) {
		spec["image"].(map[string]any)["tag"] = "v0.34.0"
		delete(spec["teams"].([]any)[0].(map[string]any), "deadmanSwitches")
	})
	server = onCallReady(t, terdutv1alpha1.TerdutServerGroupVersionKind, ns, "terdut")
	eventually(t, "the switch to be gone from the server", func(context.Context) error {
		if n := len(onServerSide(t, ns, "terdut").Switches); n != 0 {
			return fmt.Errorf("%d are there", n)
		}
		return nil
	})
	if diff := cmp.Diff(ids, teamIDs(onServerSide(t, ns, "terdut"))); diff != "" {
		t.Errorf("the teams are others after a change: -want, +got:\n%s", diff)
	}

	account := status(server, "credentialsSecretRef", "name")
	for round := range 2 {
		t.Logf("deletion %d", round+1)
		deleteServer(t, ns, shop)
		for _, f := range []string{"terdutserver.yaml", "team.yaml"} {
			applyServerExample(t, f, ns, shop)
		}
		server = onCallReady(t, terdutv1alpha1.TerdutServerGroupVersionKind, ns, "terdut")
		onCallReady(t, oncallv1alpha1.IntegrationGroupVersionKind, shop, "alertmanager")
		st := onServerSide(t, ns, "terdut")
		again := teamIDs(st)
		for name, id := range again {
			if ids[name] == 0 || ids[name] == id {
				t.Errorf("team %q has id %d on the server that was made again, and had %d", name, id, ids[name])
			}
		}
		if len(again) != 2 || len(st.Switches) != 1 || len(st.Integrations) != 2 || len(st.Users) != 1 {
			t.Errorf("%d teams, %d switches, %d integrations and %d users are on the server that was made again: something was left behind",
				len(again), len(st.Switches), len(st.Integrations), len(st.Users))
		}
		ids = again
	}
	if status(server, "credentialsSecretRef", "name") == account {
		t.Error("the credential of another Bootstrap is in use")
	}
}

// changeServer changes the spec of the example.
func changeServer(t *testing.T, ns string, change func(spec map[string]any)) {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(terdutv1alpha1.TerdutServerGroupVersionKind)
	eventually(t, "the spec to be changed", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, types.NamespacedName{Namespace: ns, Name: "terdut"}, u); err != nil {
			return err
		}
		change(u.Object["spec"].(map[string]any))
		return p.Client.Update(ctx, u)
	})
}

// deleteServer deletes the example, but for its Tenant, in a random order with random pauses, and waits until it is gone.
func deleteServer(t *testing.T, ns, shop string) {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, o := range []struct {
		gvk      schema.GroupVersionKind
		ns, name string
	}{
		{terdutv1alpha1.TerdutServerGroupVersionKind, ns, "terdut"}, {oncallv1alpha1.TeamGroupVersionKind, shop, "shop"},
		{oncallv1alpha1.EscalationPolicyGroupVersionKind, shop, "shop"}, {oncallv1alpha1.IntegrationGroupVersionKind, shop, "alertmanager"},
	} {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(o.gvk)
		u.SetNamespace(o.ns)
		u.SetName(o.name)
		objects = append(objects, u)
	}
	rand.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	for _, u := range objects {
		t.Logf("deleting %s %s", u.GetKind(), u.GetName())
		remove(t, u)
		pause := time.NewTimer(time.Duration(rand.IntN(1500)) * time.Millisecond)
		<-pause.C
	}
	noneLeft(t, shop, serverKinds[:4]...)
	noneLeft(t, ns, append([]schema.GroupVersionKind{terdutv1alpha1.TerdutServerGroupVersionKind}, serverKinds...)...)
}
