package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// desiredNames of a response, in order.
func desiredNames(rsp *fnv1.RunFunctionResponse) []string {
	return slices.Sorted(maps.Keys(rsp.GetDesired().GetResources()))
}

// conditionOf a response, as "Status Reason: message".
func conditionOf(rsp *fnv1.RunFunctionResponse, conditionType string) string {
	for _, c := range rsp.GetConditions() {
		if c.GetType() == conditionType {
			return fmt.Sprintf("%s %s: %s", strings.TrimPrefix(c.GetStatus().String(), "STATUS_CONDITION_"), c.GetReason(), c.GetMessage())
		}
	}
	return ""
}

// TestH28TakenNames puts somebody else's object at each of the names that are fixed: nothing is composed, and nothing of theirs is touched.
func TestH28TakenNames(t *testing.T) {
	theirs := map[string]*structpb.Struct{"service": wantService(), "bootstrap": wantBootstrap(), "provider-config": wantConfig()}
	owned := func(uid string, controller bool) mod {
		return with("metadata.ownerReferences", []any{map[string]any{"apiVersion": "v", "kind": "K", "name": "n", "uid": uid, "controller": controller}})
	}
	for resource, o := range theirs {
		for name, tc := range map[string]struct {
			owner mod
			taken bool
		}{
			"Nobody":     {owner: func(map[string]any) {}, taken: true},
			"Another":    {owner: owned("another", true), taken: true},
			"NoControl":  {owner: owned(uid, false), taken: true},
			"Ourselves":  {owner: owned(uid, true)},
			"SameAsOurs": {owner: with("metadata.labels", labels()), taken: true},
		} {
			t.Run(resource+name, func(t *testing.T) {
				rsp := run(t, request(xr(), nil, answered(allFree(), resource, found(object(o.AsMap(), tc.owner)))))
				want, conflict := []string{credential}, ""
				if tc.taken {
					want, conflict = nil, "FALSE Conflict: "+o.AsMap()["kind"].(string)+` "oncall" belongs to something else: remove it, or give the TerdutServer another name.`
				}
				if diff := cmp.Diff(want, desiredNames(rsp)); diff != "" {
					t.Errorf("desired: -want, +got:\n%s", diff)
				}
				told := conditionOf(rsp, map[bool]string{true: "ServerReady", false: "Bootstrapped"}[resource == "service"])
				if tc.taken != strings.Contains(told, "Conflict") || tc.taken && told != conflict {
					t.Errorf("want %q, got %q", conflict, told)
				}
			})
		}
	}
}

// TestH44NothingIsForgotten lets the inputs of a running server be missing, empty or odd: what is composed stays desired, or the result is
// fatal.
func TestH44NothingIsForgotten(t *testing.T) {
	silent := map[string]*structpb.Struct{}
	for name, o := range everything() {
		silent[name] = object(o.AsMap(), without("status"))
	}
	going := map[string]*structpb.Struct{}
	for name, o := range everything() {
		going[name] = object(o.AsMap(), with("metadata.deletionTimestamp", "2026-01-02T03:04:05Z"))
	}
	for name, tc := range map[string]struct {
		xr       []mod
		observed map[string]*structpb.Struct
		required map[string]*fnv1.Resources
	}{
		"Silent":       {observed: silent},
		"Going":        {observed: going},
		"ServerDown":   {observed: everythingWith("deployment", with("status.availableReplicas", 0))},
		"NoAccount":    {observed: everythingWith("bootstrap", said("Ready", "False", "BootstrapStateLost", "x", 1))},
		"TeamLost":     {observed: everythingWith(team, said("Ready", "False", "Conflict", "x", 1))},
		"TeamGone":     {observed: everythingBut(team)},
		"Renewed":      {xr: []mod{with("metadata.generation", 2), with("spec.image.tag", "v2")}, observed: everything()},
		"OtherCluster": {xr: []mod{with("spec.database", map[string]any{"postgresClusterRef": map[string]any{"name": "pg"}})}, observed: everything()},
		"Taken":        {observed: everythingBut("service"), required: map[string]*fnv1.Resources{"service": found(wantService())}},
	} {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(xr(tc.xr...), tc.observed, tc.required))
			if msg := fatal(rsp); msg != "" {
				t.Fatal(msg)
			}
			for resource := range tc.observed {
				if rsp.GetDesired().GetResources()[resource] == nil {
					t.Errorf("%s is observed and not desired any more", resource)
				}
			}
			if rsp.GetDesired().GetComposite().GetReady() != fnv1.Ready_READY_FALSE {
				t.Error("the TerdutServer is ready")
			}
		})
	}
}

// TestH46ReadyTooEarly changes one thing of a Ready server at a time.
func TestH46ReadyTooEarly(t *testing.T) {
	stale := with("metadata.generation", 2)
	for name, observed := range map[string]map[string]*structpb.Struct{
		"DeploymentStale":    everythingWith("deployment", stale),
		"DeploymentOld":      everythingWith("deployment", with("status.updatedReplicas", 0)),
		"DeploymentTwo":      everythingWith("deployment", with("status.replicas", 2)),
		"DeploymentImage":    everythingWith("deployment", container("image", "other")),
		"ServiceSelector":    everythingWith("service", with("spec.selector", map[string]any{"app": "x"})),
		"NoService":          everythingBut("service"),
		"BootstrapUnsynced":  everythingWith("bootstrap", said("Synced", "False", "ReconcileError", "x", 1)),
		"BootstrapStale":     everythingWith("bootstrap", stale),
		"BootstrapEndpoint":  everythingWith("bootstrap", with("spec.forProvider.endpoint", "http://elsewhere")),
		"ConfigUnhealthy":    everythingWith("provider-config", said("Healthy", "False", "Unauthorized", "x", 1)),
		"ConfigConsent":      everythingWith("provider-config", with("spec.allowedTeams.namespaces.from", "All")),
		"TeamStale":          everythingWith(team, stale),
		"TeamName":           everythingWith(team, with("spec.forProvider.displayName", "other")),
		"PolicyMissing":      everythingBut(policy),
		"PolicyUnsynced":     everythingWith(policy, said("Synced", "False", "ReconcileError", "x", 1)),
		"PolicyReordered":    everythingWith(policy, func(o map[string]any) { with("spec.forProvider.levels", []any{wantLevels()[1], wantLevels()[0]})(o) }),
		"PolicyLonger":       everythingWith(policy, func(o map[string]any) { with("spec.forProvider.levels", append(wantLevels(), wantLevels()[0]))(o) }),
		"TeamLabel":          everythingWith(team, without("metadata.labels")),
		"SwitchGoing":        everythingWith(watchdog, with("metadata.deletionTimestamp", "2026-01-02T03:04:05Z")),
		"IntegrationSilent":  everythingWith(integration, without("status")),
		"IntegrationUnknown": everythingWith(integration, said("Ready", "Unknown", "Unreachable", "x", 1)),
	} {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(xr(), observed, map[string]*fnv1.Resources{}))
			if rsp.GetDesired().GetComposite().GetReady() != fnv1.Ready_READY_FALSE || rsp.GetMeta().GetTtl().AsDuration() != 5*time.Second {
				t.Errorf("ready %v, asked again after %v", rsp.GetDesired().GetComposite().GetReady(), rsp.GetMeta().GetTtl().AsDuration())
			}
			allTrue := true
			for _, c := range rsp.GetConditions() {
				allTrue = allTrue && c.GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE
			}
			if allTrue {
				t.Error("it is not ready, and no condition says why")
			}
		})
	}
	if rsp := run(t, request(xr(without("spec.teams")), everythingBut(team, policy, watchdog, integration), nil)); rsp.GetDesired().GetComposite().GetReady() != fnv1.Ready_READY_TRUE {
		t.Errorf("a server without teams is not ready: %v", rsp.GetConditions())
	}
}

// TestH46NotMadeYet lets everything that is made be ready, and one thing wait until Crossplane bears it: it is not made now, and is later.
func TestH46NotMadeYet(t *testing.T) {
	for name, tc := range map[string]struct {
		made string
		want bool
	}{
		"Now":     {made: now.Format(time.RFC3339)},
		"LongAgo": {made: now.Add(-time.Hour).Format(time.RFC3339), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := everythingBut(policy)
			for resource := range o {
				o[resource] = object(o[resource].AsMap(), with("metadata.creationTimestamp", tc.made))
			}
			rsp := run(t, request(xr(with("metadata.creationTimestamp", tc.made)), o, nil))
			if got := rsp.GetDesired().GetResources()[policy] != nil; got != tc.want {
				t.Errorf("the policy is made: %t, want %t", got, tc.want)
			}
			if rsp.GetDesired().GetComposite().GetReady() != fnv1.Ready_READY_FALSE || !strings.Contains(conditionOf(rsp, "TeamsReady"), "FALSE Waiting") {
				t.Errorf("without the policy: ready %v, %s", rsp.GetDesired().GetComposite().GetReady(), conditionOf(rsp, "TeamsReady"))
			}
		})
	}
}

// TestH47SameBytes runs the same requests again and again, at the same time: each always gets the same answer.
func TestH47SameBytes(t *testing.T) {
	f := newFunction()
	var requests []*fnv1.RunFunctionRequest
	for i := range 2 {
		mods := []mod{with("metadata.name", fmt.Sprintf("server-%d", i)), with("spec.resources", map[string]any{"requests": map[string]any{"cpu": "1000m", "memory": "1024Mi"}})}
		requests = append(requests, request(xr(mods...), nil, allFree()), request(xr(mods...), everything(), nil))
	}
	marshal := func(r *fnv1.RunFunctionResponse) string {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var wg sync.WaitGroup
	for i := range requests {
		before := proto.CloneOf(requests[i])
		want := marshal(run(t, requests[i]))
		for range 2 {
			wg.Go(func() {
				for range 500 {
					got, err := f.RunFunction(t.Context(), requests[i])
					if err != nil || marshal(got) != want {
						t.Errorf("request %d is answered differently: %v", i, err)
						return
					}
				}
				if diff := cmp.Diff(before, requests[i], protocmp.Transform()); diff != "" {
					t.Errorf("request %d was changed", i)
				}
			})
		}
	}
	wg.Wait()
}

// TestH47Names composes for names of all lengths and shapes: those of composed resources are legal, short enough, and no two are the same.
func TestH47Names(t *testing.T) {
	long := strings.Repeat("t", 63)
	spec := []any{
		map[string]any{"name": long, "integrations": []any{
			map[string]any{"name": "Ünïcode / " + strings.Repeat("x", 240), "secretName": "a"}, map[string]any{"name": "//", "secretName": "b"},
		}},
		map[string]any{"name": "a-b", "deadmanSwitches": []any{map[string]any{"name": "c", "matcher": "a=b", "timeout": "1m"}}},
		map[string]any{"name": "a", "deadmanSwitches": []any{map[string]any{"name": "b-c", "matcher": "a=b", "timeout": "1m"}, map[string]any{"name": "b/c", "matcher": "a=b", "timeout": "1m"}}},
	}
	for name, composite := range map[string]string{
		"Short": "a", "Long": strings.Repeat("a", 63), "Dots": strings.Repeat("a.", 31) + "a", "Digit": "1a", "DashAtCut": strings.Repeat("-a", 31)[1:],
	} {
		t.Run(name, func(t *testing.T) {
			mods := []mod{with("metadata.name", composite), with("spec.teams", spec)}
			by, o := map[string]string{}, map[string]*structpb.Struct{}
			says := map[string]mod{"deployment": rolledOut, credential: seen("db")}
			for range 5 { // Step by step, until everything is composed.
				rsp := run(t, request(xr(mods...), o, allFree()))
				if msg := fatal(rsp); msg != "" {
					t.Fatal(msg)
				}
				for resource, r := range rsp.GetDesired().GetResources() {
					o[resource] = observed(r.GetResource(), bootstrapped)
					if m := says[resource]; m != nil {
						o[resource] = observed(r.GetResource(), m)
					}
				}
			}
			if len(o) != 13 {
				t.Fatalf("%d resources are composed, want 13", len(o))
			}
			for resource, r := range o {
				m := r.AsMap()["metadata"].(map[string]any)
				n, kind := m["name"].(string), r.AsMap()["kind"].(string)
				errs := validation.IsDNS1123Subdomain(n)
				if kind == "Service" {
					errs = validation.IsDNS1035Label(n)
				}
				if len(errs) > 0 || len(n) > 63 || m["namespace"] != "ops" {
					t.Errorf("%s %q in %v: %v", resource, n, m["namespace"], errs)
				}
				if other, taken := by[kind+n]; taken {
					t.Errorf("%s and %s are both %s %q", resource, other, kind, n)
				}
				by[kind+n] = resource
				for k, v := range m["labels"].(map[string]any) {
					if errs := validation.IsValidLabelValue(v.(string)); len(errs) > 0 {
						t.Errorf("%s: label %s: %v", resource, k, errs)
					}
				}
			}
		})
	}
}

// TestPaused holds that a TerdutServer which Crossplane has stopped listening to is looked at soon although it is Ready.
func TestPaused(t *testing.T) {
	for responsive, want := range map[string]time.Duration{"False": 5 * time.Second, "True": 5 * time.Minute} {
		if got := run(t, request(xr(said("Responsive", responsive, "Any", "", 0)), everything(), nil)).GetMeta().GetTtl().AsDuration(); got != want {
			t.Errorf("Responsive=%s: asked again after %s, want %s", responsive, got, want)
		}
	}
}
