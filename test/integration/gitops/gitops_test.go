// Package gitops runs the health checks of examples/gitops as Argo CD and Flux do: with the interpreter of the language that each uses.
package gitops

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/cel-go/cel"
	lua "github.com/yuin/gopher-lua"
	"sigs.k8s.io/yaml"
)

// objects are claims in the states that a health check has to tell apart.
var objects = map[string]struct {
	kind, object, argo, flux string
}{
	"TenantNew":         {"Tenant", `{metadata: {generation: 1}, status: {}}`, "Progressing", "inProgress"},
	"TenantPlanned":     {"Tenant", `{metadata: {generation: 1}, status: {observedGeneration: 1, phase: Planned, conditions: [{type: Ready, status: "False"}]}}`, "Progressing", "inProgress"},
	"TenantReady":       {"Tenant", `{metadata: {generation: 1}, status: {observedGeneration: 1, phase: Ready, conditions: [{type: Ready, status: "True"}]}}`, "Healthy", "current"},
	"TenantStale":       {"Tenant", `{metadata: {generation: 2}, status: {observedGeneration: 1, phase: Ready, conditions: [{type: Ready, status: "True"}]}}`, "Progressing", "inProgress"},
	"TenantConflict":    {"Tenant", `{metadata: {generation: 1}, status: {observedGeneration: 1, phase: Conflict, conditions: [{type: Ready, status: "False"}, {type: DatabaseReady, status: "False", message: taken}]}}`, "Degraded", "failed"},
	"ContractNew":       {"SecretContract", `{metadata: {generation: 1}, status: {}}`, "Progressing", "inProgress"},
	"ContractNotYet":    {"SecretContract", `{metadata: {generation: 1}, status: {observedGeneration: 1, conditions: [{type: Satisfied, status: Unknown, reason: NotChecked}]}}`, "Progressing", "inProgress"},
	"ContractSatisfied": {"SecretContract", `{metadata: {generation: 1}, status: {observedGeneration: 1, conditions: [{type: Satisfied, status: "True", reason: RulesSatisfied}]}}`, "Healthy", "current"},
	"ContractStale":     {"SecretContract", `{metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: Satisfied, status: "True", reason: RulesSatisfied}]}}`, "Progressing", "inProgress"},
	"ContractViolated":  {"SecretContract", `{metadata: {generation: 1}, status: {observedGeneration: 1, conditions: [{type: Satisfied, status: "False", reason: TooShort}]}}`, "Degraded", "failed"},
	"ContractDenied":    {"SecretContract", `{metadata: {generation: 1}, status: {observedGeneration: 1, conditions: [{type: Satisfied, status: Unknown, reason: SecretAccessDenied}]}}`, "Progressing", "inProgress"},
}

func load(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "gitops", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

func parse(t *testing.T, object string) map[string]any {
	t.Helper()
	m := map[string]any{}
	if err := yaml.Unmarshal([]byte(object), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestArgoCD runs each Lua script on each state.
func TestArgoCD(t *testing.T) {
	cm := struct {
		Data map[string]string `json:"data"`
	}{}
	load(t, "argocd-health.yaml", &cm)
	for name, tc := range objects {
		t.Run(name, func(t *testing.T) {
			l := lua.NewState()
			defer l.Close()
			l.SetGlobal("obj", toLua(l, parse(t, tc.object)))
			if err := l.DoString(cm.Data["resource.customizations.health.terdut.ryuvia.com_"+tc.kind]); err != nil {
				t.Fatal(err)
			}
			got, ok := l.Get(-1).(*lua.LTable)
			if !ok {
				t.Fatal("the script returns no table")
			}
			if s := got.RawGetString("status").String(); s != tc.argo {
				t.Errorf("health: got %s, want %s", s, tc.argo)
			}
			if got.RawGetString("message") == lua.LNil {
				t.Error("there is no message")
			}
		})
	}
}

// toLua translates an object as Argo CD does.
func toLua(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case string:
		return lua.LString(v)
	case float64:
		return lua.LNumber(v)
	case bool:
		return lua.LBool(v)
	case []any:
		t := l.NewTable()
		for _, e := range v {
			t.Append(toLua(l, e))
		}
		return t
	case map[string]any:
		t := l.NewTable()
		for k, e := range v {
			t.RawSetString(k, toLua(l, e))
		}
		return t
	}
	return lua.LNil
}

// TestFlux evaluates each state's expressions in the order in which Flux does: in progress, failed, current.
func TestFlux(t *testing.T) {
	k := struct {
		Spec struct {
			HealthCheckExprs []struct {
				Kind       string `json:"kind"`
				InProgress string `json:"inProgress"`
				Failed     string `json:"failed"`
				Current    string `json:"current"`
			} `json:"healthCheckExprs"`
		} `json:"spec"`
	}{}
	load(t, "flux-kustomization.yaml", &k)
	env, err := cel.NewEnv(cel.Variable("metadata", cel.DynType), cel.Variable("status", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range objects {
		t.Run(name, func(t *testing.T) {
			o := parse(t, tc.object)
			holds := func(expr string) bool {
				t.Helper()
				ast, issues := env.Compile(expr)
				if issues.Err() != nil {
					t.Fatal(issues.Err())
				}
				p, err := env.Program(ast)
				if err != nil {
					t.Fatal(err)
				}
				v, _, err := p.Eval(map[string]any{"metadata": o["metadata"], "status": o["status"]})
				if err != nil {
					t.Fatalf("%s: %v", expr, err)
				}
				return v.Value() == true
			}
			got := "unknown"
			for _, e := range k.Spec.HealthCheckExprs {
				if e.Kind != tc.kind {
					continue
				}
				switch {
				case holds(e.InProgress):
					got = "inProgress"
				case holds(e.Failed):
					got = "failed"
				case holds(e.Current):
					got = "current"
				}
			}
			if got != tc.flux {
				t.Errorf("health: got %s, want %s", got, tc.flux)
			}
		})
	}
}
