package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// TestRemoved takes things out of the spec: they are not desired any more, and the rest is, in whatever order the spec lists it.
func TestRemoved(t *testing.T) {
	other := map[string]any{"name": "apps"}
	for name, tc := range map[string]struct {
		teams []any
		gone  []string
	}{
		"Team":        {teams: []any{other}, gone: []string{team, policy, watchdog, integration}},
		"AllTeams":    {teams: []any{}, gone: []string{team, policy, watchdog, integration}},
		"Policy":      {teams: []any{object(wantTeamSpec(), without("escalation")).AsMap()}, gone: []string{policy}},
		"Switch":      {teams: []any{object(wantTeamSpec(), with("deadmanSwitches", []any{})).AsMap()}, gone: []string{watchdog}},
		"Integration": {teams: []any{object(wantTeamSpec(), without("integrations")).AsMap()}, gone: []string{integration}},
		"Reordered":   {teams: []any{other, wantTeamSpec()}},
	} {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(xr(with("spec.teams", tc.teams)), everything(), nil))
			for resource, want := range everything() {
				got := rsp.GetDesired().GetResources()[resource]
				if gone := slices.Contains(tc.gone, resource); gone != (got == nil) {
					t.Errorf("%s: want it gone: %t, desired: %t", resource, gone, got != nil)
				} else if !gone && want.AsMap()["metadata"].(map[string]any)["name"] != got.GetResource().AsMap()["metadata"].(map[string]any)["name"] {
					t.Errorf("%s is another object now", resource)
				}
			}
		})
	}
}

// TestH46Removed takes one thing at a time out of the spec of a server that is Ready with it. What is observed then holds all that is desired, and
// is not it: the server is not Ready before what was taken away has gone from the object that had it, or the object itself is let go.
func TestH46Removed(t *testing.T) {
	teamSpec := func(mods ...mod) mod {
		return func(obj map[string]any) { with("spec.teams", []any{object(wantTeamSpec(), mods...).AsMap()})(obj) }
	}
	levels := func(l ...any) mod { return with("escalation.levels", l) }
	listener := func(more map[string]any) mod {
		n := map[string]any{"servicePort": 8080, "hostname": "oncall.example.org"}
		maps.Copy(n, more)
		return with("spec.networking", n)
	}
	none := func(map[string]any) {}
	for name, tc := range map[string]struct{ had, has mod }{
		"Groups":      {teamSpec(with("oidc.memberGroup", "a")), none},
		"Group":       {teamSpec(with("oidc", map[string]any{"memberGroup": "a", "ownerGroup": "b"})), teamSpec(with("oidc.ownerGroup", "b"))},
		"Level":       {none, teamSpec(levels(wantLevels()[0]))},
		"Target":      {none, teamSpec(levels(map[string]any{"timeout": "5m", "targets": []any{map[string]any{"kind": "oncall"}}}, wantLevels()[1]))},
		"Policy":      {none, teamSpec(without("escalation"))},
		"Switch":      {none, teamSpec(without("deadmanSwitches"))},
		"Integration": {none, teamSpec(without("integrations"))},
		"Team":        {with("spec.teams", []any{wantTeamSpec(), map[string]any{"name": "apps"}}), none},
		"AllTeams":    {none, without("spec.teams")},
		"Variable":    {with("spec.env", env("A", "1", "B", "2")), with("spec.env", env("B", "2"))},
		"Order":       {with("spec.env", env("A", "1", "B", "2")), with("spec.env", env("B", "2", "A", "1"))},
		"Password":    {none, without("spec.database.passwordSecretRef")},
		"Resources":   {with("spec.resources", map[string]any{"limits": map[string]any{"memory": "1Gi"}}), none},
		"PullSecret":  {with("spec.image.pullSecrets", []any{map[string]any{"name": "a"}}), none},
		"AdminKey":    {with("spec.admin.keySecretRef", map[string]any{"name": "a", "key": "k"}), none},
		"Listener":    {listener(map[string]any{"gatewayListener": "infra/gw"}), listener(nil)},
		"Section":     {listener(map[string]any{"gatewayListener": "infra/gw/https"}), listener(map[string]any{"gatewayListener": "infra/gw"})},
		"Selector": {
			with("spec.allowedTeams.namespaces", map[string]any{"from": "Selector", "selector": map[string]any{"matchLabels": map[string]any{"a": "b", "c": "d"}}}),
			with("spec.allowedTeams.namespaces", map[string]any{"from": "Selector", "selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := map[string]*structpb.Struct{}
			for range 5 { // Step by step, until everything is composed and ready.
				o = applied(o, run(t, request(xr(tc.had), o, allFree())))
			}
			if rsp := run(t, request(xr(tc.had), o, nil)); !isReady(rsp) {
				t.Fatalf("it does not become ready: %v", rsp.GetConditions())
			}
			changed := xr(tc.has, with("metadata.generation", 2), with("status.observedGeneration", 1), said("Ready", "True", "Available", "", 1))
			rsp := run(t, request(changed, o, nil))
			if msg := fatal(rsp); msg != "" {
				t.Fatal(msg)
			}
			if isReady(rsp) {
				t.Error("it is ready as soon as its spec has changed")
			}
			allTrue := true
			for _, c := range rsp.GetConditions() {
				allTrue = allTrue && c.GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE
			}
			if allTrue {
				t.Error("it is not ready, and no condition says why")
			}
			for range 2 { // A Deployment has its next revision one step later.
				o = applied(o, rsp)
				rsp = run(t, request(changed, o, nil))
			}
			if !isReady(rsp) {
				t.Errorf("it does not become ready again: %v", rsp.GetConditions())
			}
		})
	}
}

func isReady(rsp *fnv1.RunFunctionResponse) bool {
	return rsp.GetDesired().GetComposite().GetReady() == fnv1.Ready_READY_TRUE
}

// applied is what is observed after Crossplane has applied a response, and everybody has done what is asked for.
func applied(was map[string]*structpb.Struct, rsp *fnv1.RunFunctionResponse) map[string]*structpb.Struct {
	const revision = "deployment.kubernetes.io/revision"
	takes := []any{map[string]any{"conditions": []any{
		map[string]any{"type": "Accepted", "status": "True", "observedGeneration": 1}, map[string]any{"type": "ResolvedRefs", "status": "True", "observedGeneration": 1},
	}}}
	says := map[string]mod{
		"deployment": rolledOut, "service": func(map[string]any) {}, credential: seen("db"), "bootstrap": bootstrapped, "provider-config": yes(1, "Healthy"),
		"route": with("status.parents", takes),
	}
	is := map[string]*structpb.Struct{}
	for name, r := range rsp.GetDesired().GetResources() {
		mods := []mod{ready}
		switch prefix, _, _ := strings.Cut(name, "/"); {
		case says[name] != nil:
			mods = []mod{says[name]}
		case prefix == "team":
			mods = []mod{onServer}
		}
		if name == "deployment" && was[name] != nil {
			before, after := was[name].AsMap(), r.GetResource().AsMap()
			n := before["metadata"].(map[string]any)["annotations"].(map[string]any)[revision].(string)
			if fmt.Sprint(before["spec"].(map[string]any)["template"]) != fmt.Sprint(after["spec"].(map[string]any)["template"]) {
				n = "2"
			}
			mods = append(mods, annotated(revision, n))
		}
		is[name] = observed(r.GetResource(), mods...)
	}
	return is
}
