package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// serverKinds are what a TerdutServer is made of on the server.
var serverKinds = []schema.GroupVersionKind{
	oncallv1alpha1.IntegrationGroupVersionKind, oncallv1alpha1.DeadmanSwitchGroupVersionKind, oncallv1alpha1.EscalationPolicyGroupVersionKind,
	oncallv1alpha1.TeamGroupVersionKind, oncallv1alpha1.BootstrapGroupVersionKind, {Group: "apps", Version: "v1", Kind: "Deployment"},
}

// TestTerdutServer follows the example through its life: it becomes Ready on a Tenant, with its own team and one of another namespace; a change
// arrives; its database gets another password, which is told until it is restarted; it is deleted in any order, while the server still answers, so that nothing of it is left in the database; and it is made again on
// that database, with the credential that was retained.
func TestTerdutServer(t *testing.T) {
	ns, shop := namespace(t), namespace(t)
	crossplane := watchServers(t, ns)
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
	printedCommands(t, ns, shop, server)

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

	crossplane.rested(t)
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

	crossplane.rested(t)
	rotatedAndRestarted(t, ns)
	crossplane.rested(t)
	pausedChild(t, ns, ids["Platform"])

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

// rotatedAndRestarted gives the server's database another password. That is told, and nothing is restarted, until somebody does: then the
// replicas are said to have the password that there is.
func rotatedAndRestarted(t *testing.T, ns string) {
	t.Helper()
	u := onCallReady(t, terdutv1alpha1.TerdutServerGroupVersionKind, ns, "terdut")
	if c := condition(u, terdutv1alpha1.TypeDatabaseCredentialCurrent); c["status"] != "True" {
		t.Errorf("before anything has happened: %s", conditionsOf(u))
	}
	before := deploymentOf(t, ns)

	changeSpec(t, terdutv1alpha1.TenantGroupVersionKind, ns, "terdut", func(spec map[string]any) {
		spec["rotation"] = map[string]any{"trigger": "once"}
	})
	serverSays(t, ns, terdutv1alpha1.TypeDatabaseCredentialCurrent, "False", terdutv1alpha1.ReasonCredentialChanged)
	// It is Ready all the same, once the Tenant is again.
	onCallReady(t, terdutv1alpha1.TerdutServerGroupVersionKind, ns, "terdut")
	// Crossplane may show a condition of before once more, for an instant. Nobody has restarted it, so that does not stay.
	u = serverSays(t, ns, terdutv1alpha1.TypeDatabaseCredentialCurrent, "False", terdutv1alpha1.ReasonCredentialChanged)
	d := deploymentOf(t, ns)
	if d.Generation != before.Generation || d.Annotations[annotationRevision] != before.Annotations[annotationRevision] {
		t.Errorf("the replicas were restarted: generation %d, which was %d", d.Generation, before.Generation)
	}
	if m := fmt.Sprint(condition(u, terdutv1alpha1.TypeDatabaseCredentialCurrent)["message"]); !strings.Contains(m, d.Name) {
		t.Errorf("%q does not say what to restart: %s", m, d.Name)
	}

	// What kubectl rollout restart does.
	patch := []byte(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-02T03:04:05Z"}}}}}`)
	if err := p.Client.Patch(t.Context(), d, client.RawPatch(types.StrategicMergePatchType, patch)); err != nil {
		t.Fatal(err)
	}
	serverSays(t, ns, terdutv1alpha1.TypeDatabaseCredentialCurrent, "True", terdutv1alpha1.ReasonAvailable)
	if after := deploymentOf(t, ns); after.Annotations[annotationRevision] == before.Annotations[annotationRevision] {
		t.Errorf("it is said although the replicas are of revision %s still", after.Annotations[annotationRevision])
	}
	onCallReady(t, terdutv1alpha1.TerdutServerGroupVersionKind, ns, "terdut")
}

// pausedChild pauses the policy of the server's team: a change of the spec does not reach the server, the TerdutServer says why, and all is well
// once it goes on.
func pausedChild(t *testing.T, ns string, team int64) {
	t.Helper()
	l := &oncallv1alpha1.EscalationPolicyList{}
	if err := p.Client.List(t.Context(), l, client.InNamespace(ns)); err != nil || len(l.Items) != 1 {
		t.Fatalf("%d policies, want 1: %v", len(l.Items), err)
	}
	policy, before := &l.Items[0], onServerSide(t, ns, "terdut").Policies[team]
	pause := func(v string) {
		change(t, client.ObjectKeyFromObject(policy), policy, func() { metav1.SetMetaDataAnnotation(&policy.ObjectMeta, "crossplane.io/paused", v) })
	}
	pause("true")
	changeServer(t, ns, func(spec map[string]any) {
		spec["teams"].([]any)[0].(map[string]any)["escalation"].(map[string]any)["repeatCount"] = int64(5)
	})
	serverSays(t, ns, terdutv1alpha1.TypeTeamsReady, "False", string(xpv2.ReasonReconcilePaused))
	if diff := cmp.Diff(before, onServerSide(t, ns, "terdut").Policies[team]); diff != "" {
		t.Errorf("a paused policy has changed on the server: -was, +is:\n%s", diff)
	}
	pause("false")
	onCallReady(t, terdutv1alpha1.TerdutServerGroupVersionKind, ns, "terdut")
	if got := onServerSide(t, ns, "terdut").Policies[team].RepeatCount; got != 5 {
		t.Errorf("the policy repeats %d times on the server, want 5", got)
	}
}

// changeServer changes the spec of the example.
func changeServer(t *testing.T, ns string, change func(spec map[string]any)) {
	t.Helper()
	changeSpec(t, terdutv1alpha1.TerdutServerGroupVersionKind, ns, "terdut", change)
}

// deleteServer deletes the example, but for its Tenant, in a random order with random pauses, and waits until it is gone.
func deleteServer(t *testing.T, ns, shop string) {
	t.Helper()
	objects := objectsOf(ns, shop)
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

// objectsOf the example, but for its Tenant.
func objectsOf(ns, shop string) []*unstructured.Unstructured {
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
	return objects
}
