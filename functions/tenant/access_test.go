package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/ryuvia/provider-terdut/functions/internal/names"
)

// withAccess is a record whose provider config says how Tenants may read.
func withAccess(method string) mod {
	return func(obj map[string]any) {
		with("status.atProvider.mount", "kv")(obj)
		with("status.atProvider.path", "tenants/shop/orders")(obj)
		with("status.atProvider.access", map[string]any{
			"default": method, "server": "https://bao.example.org", "caBundle": "PEM",
			"kubernetes": map[string]any{"authPath": "kubernetes", "audience": "openbao", "tokenTTLSeconds": 600},
		})(obj)
	}
}

// kubernetes is a Tenant that asks for access of its own.
var kubernetes = with("spec.access", map[string]any{"kubernetes": map[string]any{}})

// A plane holds what was composed, and lets its controllers answer.
type plane struct {
	t        *testing.T
	observed map[string]*structpb.Struct
	rsp      *fnv1.RunFunctionResponse
}

// ownAccess is a plane on which a Tenant reads its record with a role of its own, which is the admin's default.
func ownAccess(t *testing.T) *plane {
	t.Helper()
	p := &plane{t: t, observed: everything()}
	p.says("credential", withAccess("Kubernetes"))
	for _, name := range []string{"policy", "auth-role", "secret-store"} {
		p.run(xr())
		p.says(name, yesReady)
	}
	p.run(xr())
	return p
}

// run the function, and keep what it desires with the status of before.
func (p *plane) run(composite *structpb.Struct) {
	p.t.Helper()
	rsp := run(p.t, request(composite, p.observed))
	for _, r := range rsp.GetResults() {
		if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
			p.t.Fatal(r.GetMessage())
		}
	}
	p.rsp = rsp
	next := map[string]*structpb.Struct{}
	for name, r := range rsp.GetDesired().GetResources() {
		obj := r.GetResource().AsMap()
		with("metadata.generation", 1)(obj)
		if was, ok := p.observed[name]; ok {
			if status, ok := was.AsMap()["status"]; ok {
				obj["status"] = status
			}
		}
		next[name] = object(obj)
	}
	p.observed = next
}

// says that an object has conditions.
func (p *plane) says(name string, mods ...mod) {
	p.t.Helper()
	s, ok := p.observed[name]
	if !ok {
		p.t.Fatalf("%s is not composed: %v", name, p.names())
	}
	p.observed[name] = object(s.AsMap(), mods...)
}

func (p *plane) names() []string { return slices.Sorted(maps.Keys(p.observed)) }

// store that the ExternalSecret reads through.
func (p *plane) store() string {
	ref, _ := p.observed["external-secret"].AsMap()["spec"].(map[string]any)["secretStoreRef"].(map[string]any)
	kind, _ := ref["kind"].(string)
	return kind
}

func (p *plane) condition(ct string) string {
	for _, c := range p.rsp.GetConditions() {
		if c.GetType() == ct {
			return strings.TrimPrefix(c.GetStatus().String(), "STATUS_CONDITION_") + " " + c.GetReason()
		}
	}
	return ""
}

func (p *plane) is(names []string, access, store string) {
	p.t.Helper()
	if diff := cmp.Diff(names, p.names()); diff != "" {
		p.t.Errorf("composed: -want, +got:\n%s", diff)
	}
	if got := p.condition("AccessReady"); got != access {
		p.t.Errorf("AccessReady is %s, want %s", got, access)
	}
	if got := p.store(); got != store {
		p.t.Errorf("the ExternalSecret reads through a %s, want %s", got, store)
	}
}

var (
	yesReady = yes(1, "Ready", "Synced")
	shared   = []string{"credential", "database", "external-secret"}
	all      = []string{"auth-role", "credential", "database", "external-secret", "policy", "secret-store", "service-account"}
)

// TestAccessSteps sets up access of its own for a Tenant that has a Secret, and takes it away again. What is delivered is delivered
// throughout: the ExternalSecret reads through a store that can be used.
func TestAccessSteps(t *testing.T) {
	p := &plane{t: t, observed: everything()}
	p.says("credential", withAccess("Shared"))
	p.run(xr())
	p.is(shared, "TRUE Available", "ClusterSecretStore")

	p.run(xr(kubernetes))
	p.is([]string{"credential", "database", "external-secret", "policy"}, "FALSE Waiting", "ClusterSecretStore")
	p.says("policy", yesReady)
	p.run(xr(kubernetes))
	p.is([]string{"auth-role", "credential", "database", "external-secret", "policy", "service-account"}, "FALSE Waiting", "ClusterSecretStore")
	p.says("auth-role", yesReady)
	p.run(xr(kubernetes))
	p.is(all, "FALSE Waiting", "ClusterSecretStore")
	p.says("secret-store", said("Ready", "True", "Valid", "store validated", 0))
	p.run(xr(kubernetes))
	p.is(all, "TRUE Available", "SecretStore")

	// A store that cannot be used for a while stays the one to read through.
	p.says("secret-store", said("Ready", "False", "InvalidProviderConfig", "unable to validate store", 0))
	p.run(xr(kubernetes))
	p.is(all, "FALSE StoreNotReady", "SecretStore")
	p.says("secret-store", said("Ready", "True", "Valid", "store validated", 0))

	// Back: first the ExternalSecret, and what it has read through goes once it has read through the other.
	p.says("external-secret", without("status"))
	p.run(xr())
	p.is(all, "TRUE Available", "ClusterSecretStore")
	p.run(xr())
	p.is(all, "TRUE Available", "ClusterSecretStore")
	p.says("external-secret", projected)
	p.run(xr())
	p.is(shared, "TRUE Available", "ClusterSecretStore")
}

// TestAccessFirst holds that the first Secret is delivered through the store of its own and no other.
func TestAccessFirst(t *testing.T) {
	p := &plane{t: t, observed: everything()}
	delete(p.observed, "external-secret")
	p.says("credential", withAccess("Kubernetes"))
	for range 3 {
		p.run(xr())
	}
	if slices.Contains(p.names(), "external-secret") {
		t.Fatal("the Secret is delivered before the store is ready")
	}
	p.says("policy", yesReady)
	p.run(xr())
	p.says("auth-role", yesReady)
	p.run(xr())
	p.says("secret-store", said("Ready", "True", "Valid", "store validated", 0))
	p.run(xr())
	p.is(all, "TRUE Available", "SecretStore")
}

// TestAccessObjects holds what is asked for: one record, one ServiceAccount of this namespace, one policy.
func TestAccessObjects(t *testing.T) {
	p := ownAccess(t)
	spec := func(name string) map[string]any { return p.observed[name].AsMap()["spec"].(map[string]any) }
	account := p.observed["service-account"].AsMap()["metadata"].(map[string]any)["name"]
	config := map[string]any{"kind": "ClusterProviderConfig", "name": "default"}
	want := map[string]map[string]any{
		"policy": {"providerConfigRef": config, "forProvider": map[string]any{"policy": "path \"kv/data/tenants/shop/orders\" {\n  capabilities = [\"read\"]\n}\n" +
			"path \"kv/metadata/tenants/shop/orders\" {\n  capabilities = [\"read\"]\n}\n" +
			"path \"auth/token/lookup-self\" {\n  capabilities = [\"read\"]\n}\npath \"auth/token/revoke-self\" {\n  capabilities = [\"update\"]\n}\n"}},
		"auth-role": {"providerConfigRef": config, "forProvider": map[string]any{
			"backend": "kubernetes", "boundServiceAccountNames": []any{account}, "boundServiceAccountNamespaces": []any{"shop"}, "audience": "openbao",
			"tokenTtl": 600.0, "tokenMaxTtl": 600.0, "tokenPolicies": []any{"tenants.shop.orders"}, "tokenNoDefaultPolicy": true,
		}},
		"secret-store": {"provider": map[string]any{"vault": map[string]any{
			"server": "https://bao.example.org", "path": "kv", "version": "v2", "caBundle": "UEVN", "auth": map[string]any{"kubernetes": map[string]any{
				"mountPath": "kubernetes", "role": "tenants.shop.orders", "serviceAccountRef": map[string]any{"name": account, "audiences": []any{"openbao"}},
			}},
		}}},
	}
	for name, w := range want {
		if diff := cmp.Diff(w, spec(name)); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
	for _, name := range []string{"policy", "auth-role"} {
		if got := p.observed[name].AsMap()["metadata"].(map[string]any)["annotations"].(map[string]any)["crossplane.io/external-name"]; got != "tenants.shop.orders" {
			t.Errorf("%s: the external name is %v", name, got)
		}
	}

	// Another ServiceAccount: the role first, then the store, and the one that was made goes last.
	app := with("spec.access", map[string]any{"kubernetes": map[string]any{"serviceAccountName": "app"}})
	named := func() any {
		v := spec("secret-store")["provider"].(map[string]any)["vault"].(map[string]any)["auth"].(map[string]any)
		return v["kubernetes"].(map[string]any)["serviceAccountRef"].(map[string]any)["name"]
	}
	p.says("auth-role", without("status"))
	p.run(xr(app))
	if got := named(); got != account {
		t.Errorf("the store logs in as %v before the role lets it", got)
	}
	p.says("auth-role", yesReady)
	p.run(xr(app))
	if got := named(); got != "app" {
		t.Errorf("the store logs in as %v", got)
	}
	p.run(xr(app))
	if slices.Contains(p.names(), "service-account") {
		t.Error("the ServiceAccount that nothing uses is there")
	}
}

// TestAccessMoves holds what is done when an admin corrects where roles are made: the role goes, and is made there, with what it delivered left alone.
func TestAccessMoves(t *testing.T) {
	p := ownAccess(t)
	moved := with("status.atProvider.access.kubernetes.authPath", "corrected")
	p.says("credential", moved)
	p.run(xr(kubernetes))
	p.is(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "auth-role" }), "FALSE Waiting", "SecretStore")
	p.run(xr(kubernetes))
	p.is(all, "FALSE Waiting", "SecretStore")
	mount := func() any {
		v := p.observed["secret-store"].AsMap()["spec"].(map[string]any)["provider"].(map[string]any)["vault"].(map[string]any)["auth"].(map[string]any)
		return v["kubernetes"].(map[string]any)["mountPath"]
	}
	if got := mount(); got != "kubernetes" {
		t.Errorf("the store logs in at %v before there is a role", got)
	}
	p.says("auth-role", yesReady)
	p.run(xr(kubernetes))
	p.says("secret-store", said("Ready", "True", "Valid", "store validated", 0))
	p.run(xr(kubernetes))
	p.is(all, "TRUE Available", "SecretStore")
	if got := mount(); got != "corrected" {
		t.Errorf("the store logs in at %v", got)
	}
}

// FuzzAccessNames holds that two Tenants never have the same name of a policy, and that the policy of one is not for the path of another.
func FuzzAccessNames(f *testing.F) {
	f.Add("a", "b.c", "a.b", "c")
	f.Add("shop", "orders", "shop", "orders2")
	f.Add("shop", "a-b", "shop-a", "b")
	f.Fuzz(func(t *testing.T, ns1, n1, ns2, n2 string) {
		label := func(s string) bool { return s != "" && !strings.ContainsAny(s, "./") }
		part := func(s string) bool { return s != "" && !strings.Contains(s, "/") }
		if !label(ns1) || !label(ns2) || !part(n1) || !part(n2) || ns1 == ns2 && n1 == n2 {
			t.Skip("no two Tenants") // What the API server takes for a name holds neither.
		}
		if names.Access(ns1, n1) == names.Access(ns2, n2) {
			t.Errorf("%s/%s and %s/%s have the same policy", ns1, n1, ns2, n2)
		}
		// Exact names match nothing but themselves, and only those are written into a policy.
		if names.Path(ns1, n1) == names.Path(ns2, n2) {
			t.Errorf("%s/%s and %s/%s have the same record", ns1, n1, ns2, n2)
		}
	})
}
