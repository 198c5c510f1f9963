package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// appendTo a list at a field of the pod.
func pod(field string, value any) mod {
	return func(obj map[string]any) {
		obj["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)[field] = value
	}
}

// TestDeployment sets optional fields, one group at a time, and expects what the server's process contract says.
func TestDeployment(t *testing.T) {
	head := func(base string) []any {
		e := env("TERDUT_LISTEN_ADDR", ":8080", "TERDUT_BASE_URL", base, "TERDUT_DATABASE_DSN", dsn)
		return append(e, secretEnv("PGPASSWORD", "db", "password"))
	}
	inside := head("http://oncall.ops.svc:8080")
	tail := env("TERDUT_PASSWORD_LOGIN", "true")
	cases := map[string]struct {
		reason string
		spec   mod
		check  *structpb.Struct // Nil for that of xr.
		want   *structpb.Struct
	}{
		"Defaults": {
			reason: "A rendered TerdutServer has passed no API server.",
			spec: func(o map[string]any) {
				for _, f := range []string{"replicas", "networking", "passwordLogin", "allowedTeams", "deletionPolicy"} {
					without("spec." + f)(o)
				}
			},
			want: wantDeployment(),
		},
		"Digest": {
			spec: with("spec.image.digest", "sha256:abc"), want: wantDeployment(container("image", "registry.example.org/terdut-server:v1.2.3@sha256:abc")),
		},
		"PullSecrets": {
			spec: with("spec.image.pullSecrets", []any{map[string]any{"name": "registry"}}),
			want: wantDeployment(pod("imagePullSecrets", []any{map[string]any{"name": "registry"}})),
		},
		"Resources": {
			reason: "Quantities are written as the API server does, so that they compare.",
			spec:   with("spec.resources", map[string]any{"requests": map[string]any{"cpu": "1000m"}, "limits": map[string]any{"memory": "1024Mi"}}),
			want:   wantDeployment(container("resources", map[string]any{"requests": map[string]any{"cpu": "1"}, "limits": map[string]any{"memory": "1Gi"}})),
		},
		"Hostname": {spec: with("spec.networking.hostname", "oncall.example.org"), want: wantDeployment(container("env", append(head("https://oncall.example.org"), tail...)))},
		"Alerts": {
			spec: func(o map[string]any) {
				with("spec.sweeper", map[string]any{"staleAfter": "6h", "archiveAfter": "168h"})(o)
				with("spec.deadman", map[string]any{"matchers": "alertname=Watchdog", "timeout": "15m", "severity": "critical"})(o)
				with("spec.notify", map[string]any{"ntfyURL": "http://ntfy", "fallbackTopic": "", "repeatEvery": "15m", "tokenSecretRef": map[string]any{"name": "ntfy", "key": "token"}})(o)
			},
			want: wantDeployment(container("env", append(append(append(append([]any{}, inside...),
				env("TERDUT_SWEEPER_STALE_AFTER", "6h", "TERDUT_SWEEPER_ARCHIVE_AFTER", "168h", "TERDUT_DEADMAN_MATCHERS", "alertname=Watchdog",
					"TERDUT_DEADMAN_TIMEOUT", "15m", "TERDUT_DEADMAN_SEVERITY", "critical", "TERDUT_NTFY_URL", "http://ntfy")...),
				append(append([]any{map[string]any{"name": "TERDUT_NTFY_FALLBACK_TOPIC"}}, env("TERDUT_NTFY_REPEAT_EVERY", "15m")...), secretEnv("TERDUT_NTFY_TOKEN", "ntfy", "token"))...), tail...))),
		},
		"OIDC": {
			spec: with("spec.oidc", map[string]any{
				"enabled": true, "issuer": "https://id", "clientID": "oncall", "clientSecretRef": map[string]any{"name": "oidc", "key": "secret"}, "name": "SSO",
				"scopes": "openid", "allowedGroups": []any{"a", "b"}, "adminGroup": "admins", "sessionMaxAge": "12h",
			}),
			want: wantDeployment(container("env", append(append(append(append([]any{}, inside...),
				env("TERDUT_OIDC_ISSUER", "https://id", "TERDUT_OIDC_CLIENT_ID", "oncall")...), secretEnv("TERDUT_OIDC_CLIENT_SECRET", "oidc", "secret")),
				append(env("TERDUT_OIDC_NAME", "SSO", "TERDUT_OIDC_SCOPES", "openid", "TERDUT_OIDC_ALLOWED_GROUPS", "a,b", "TERDUT_OIDC_ADMIN_GROUP", "admins",
					"TERDUT_SESSION_MAX_AGE", "12h"), tail...)...))),
		},
		"OIDCOff": {spec: with("spec.oidc", map[string]any{"enabled": false, "issuer": "https://id"}), want: wantDeployment()},
		"Env": {
			reason: "It is last, and replaces what it names.", check: checkOf("mine", "pw"),
			spec: with("spec.env", append(env("TERDUT_PASSWORD_LOGIN", "maybe", "EXTRA", "1"),
				map[string]any{"name": "FROM", "valueFrom": map[string]any{"configMapKeyRef": map[string]any{"name": "c", "key": "k"}}},
				secretEnv("PGPASSWORD", "mine", "pw"), map[string]any{"name": "EMPTY", "value": ""})),
			want: wantDeployment(container("env", append(append(append([]any{}, inside[:3]...), env("TERDUT_PASSWORD_LOGIN", "maybe", "EXTRA", "1")...),
				map[string]any{"name": "FROM", "valueFrom": map[string]any{"configMapKeyRef": map[string]any{"name": "c", "key": "k"}}},
				secretEnv("PGPASSWORD", "mine", "pw"), map[string]any{"name": "EMPTY"}))),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := onlySeen()
			if tc.check != nil {
				o[credential] = observed(tc.check, seen("mine"))
			}
			rsp := run(t, request(xr(tc.spec), o, allFree()))
			if msg := fatal(rsp); msg != "" {
				t.Fatal(msg)
			}
			got := rsp.GetDesired().GetResources()["deployment"].GetResource()
			if diff := cmp.Diff(tc.want, got, protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nDeployment: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRoute(t *testing.T) {
	const name = "oncall-369faffca5"
	listener := func(l string) mod {
		return with("spec.networking", map[string]any{"servicePort": 8080, "hostname": "oncall.example.org", "gatewayListener": l})
	}
	want := func(parent map[string]any) *structpb.Struct {
		return manifest("gateway.networking.k8s.io/v1", "HTTPRoute", name, labels(), map[string]any{
			"parentRefs": []any{parent}, "hostnames": []any{"oncall.example.org"},
			"rules": []any{map[string]any{"backendRefs": []any{map[string]any{"kind": "Service", "name": "oncall", "port": 8080}}}},
		})
	}
	parent := map[string]any{"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": "infra", "name": "gw"}
	section := map[string]any{"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": "infra", "name": "gw", "sectionName": "https"}
	says := func(conditions ...string) mod {
		list := []any{}
		for i := 0; i < len(conditions); i += 2 {
			list = append(list, map[string]any{"type": conditions[i], "status": conditions[i+1], "reason": "NoMatchingParent", "observedGeneration": 1})
		}
		return with("status.parents", []any{map[string]any{"conditions": list}})
	}
	renewed := container("env", append(append(env("TERDUT_LISTEN_ADDR", ":8080", "TERDUT_BASE_URL", "https://oncall.example.org", "TERDUT_DATABASE_DSN", dsn),
		secretEnv("PGPASSWORD", "db", "password")), env("TERDUT_PASSWORD_LOGIN", "true")...))

	cases := map[string]struct {
		reason   string
		listener string
		observed []mod // Nil when there is no route.
		want     *structpb.Struct
		says     string
		ready    fnv1.Ready
	}{
		"Made":     {reason: "It is made with the server.", listener: "infra/gw", want: want(parent), says: "FALSE Waiting: The Gateway has not said yet whether it takes the route.", ready: fnv1.Ready_READY_FALSE},
		"Section":  {reason: "One listener of the Gateway.", listener: "infra/gw/https", want: want(section), says: "FALSE Waiting: The Gateway has not said yet whether it takes the route.", ready: fnv1.Ready_READY_FALSE},
		"Silent":   {reason: "No Gateway says anything.", listener: "infra/gw", observed: []mod{}, want: want(parent), says: "FALSE Waiting: The Gateway has not said yet whether it takes the route.", ready: fnv1.Ready_READY_FALSE},
		"Accepted": {reason: "The Gateway takes it.", listener: "infra/gw", observed: []mod{says("Accepted", "True", "ResolvedRefs", "True")}, want: want(parent), says: "TRUE Available: ", ready: fnv1.Ready_READY_TRUE},
		"Half":     {reason: "The Gateway has not looked for the Service.", listener: "infra/gw", observed: []mod{says("Accepted", "True")}, want: want(parent), says: "FALSE Waiting: The Gateway has not said yet whether it takes the route.", ready: fnv1.Ready_READY_FALSE},
		"Rejected": {
			reason: "The Gateway refuses it.", listener: "infra/gw", observed: []mod{says("Accepted", "False")}, want: want(parent),
			says: `FALSE RouteRejected: The Gateway does not take HTTPRoute "` + name + `": NoMatchingParent. Its status says more.`, ready: fnv1.Ready_READY_FALSE,
		},
		"Stale": {
			reason: "The Gateway speaks of an older one.", listener: "infra/gw", observed: []mod{says("Accepted", "True", "ResolvedRefs", "True"), with("metadata.generation", 2)},
			want: want(parent), says: "FALSE Waiting: The Gateway has not said yet whether it takes the route.", ready: fnv1.Ready_READY_FALSE,
		},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			o := everything()
			o["deployment"] = observed(wantDeployment(renewed), rolledOut)
			if tc.observed != nil {
				o["route"] = observed(tc.want, tc.observed...)
			}
			rsp := run(t, request(xr(listener(tc.listener)), o, nil))
			if diff := cmp.Diff(tc.want, rsp.GetDesired().GetResources()["route"].GetResource(), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nHTTPRoute: -want, +got:\n%s", tc.reason, diff)
			}
			if got := conditionOf(rsp, "ServerReady"); got != tc.says {
				t.Errorf("\n%s\nServerReady: want %q, got %q", tc.reason, tc.says, got)
			}
			if got := rsp.GetDesired().GetComposite().GetReady(); got != tc.ready {
				t.Errorf("\n%s\nready: want %v, got %v", tc.reason, tc.ready, got)
			}
		})
	}
}

// TestRouteLater adds a listener to a server that has just been made, when Crossplane bears no more: the route comes later, and until then the
// server is not ready.
func TestRouteLater(t *testing.T) {
	made := now.Format(time.RFC3339)
	env := append(append(env("TERDUT_LISTEN_ADDR", ":8080", "TERDUT_BASE_URL", "https://oncall.example.org", "TERDUT_DATABASE_DSN", dsn),
		secretEnv("PGPASSWORD", "db", "password")), env("TERDUT_PASSWORD_LOGIN", "true")...)
	o := everything()
	o["deployment"] = observed(wantDeployment(container("env", env)), rolledOut)
	for resource := range o {
		o[resource] = object(o[resource].AsMap(), with("metadata.creationTimestamp", made))
	}
	rsp := run(t, request(xr(with("metadata.creationTimestamp", made),
		with("spec.networking", map[string]any{"servicePort": 8080, "hostname": "oncall.example.org", "gatewayListener": "infra/gw"})), o, nil))
	if rsp.GetDesired().GetResources()["route"] != nil {
		t.Error("the route is made at once")
	}
	if got := rsp.GetDesired().GetComposite().GetReady(); got != fnv1.Ready_READY_FALSE {
		t.Errorf("without its route: ready %v, %s", got, conditionOf(rsp, "ServerReady"))
	}
}

// TestAccess sets what the Bootstrap and the ProviderConfig are told.
func TestAccess(t *testing.T) {
	selector := map[string]any{"matchLabels": map[string]any{"team": "yes"}, "matchExpressions": []any{map[string]any{"key": "k", "operator": "In", "values": []any{"a", "b"}}}}
	rsp := run(t, request(xr(
		with("spec.admin.keySecretRef", map[string]any{"name": "admin", "key": "key"}),
		with("spec.deletionPolicy", "Delete"),
		with("spec.allowedTeams.namespaces", map[string]any{"from": "Selector", "selector": selector}),
	), everything(), nil))
	want := map[string]*structpb.Struct{
		"bootstrap":       wantBootstrap(with("spec.forProvider.adminKeySecretRef", map[string]any{"name": "admin", "key": "key"}), with("spec.forProvider.deletionPolicy", "Delete")),
		"provider-config": wantConfig(with("spec.allowedTeams.namespaces", map[string]any{"from": "Selector", "selector": selector})),
	}
	for resource, w := range want {
		if diff := cmp.Diff(w, rsp.GetDesired().GetResources()[resource].GetResource(), protocmp.Transform()); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", resource, diff)
		}
	}
}
