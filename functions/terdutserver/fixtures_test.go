package main

import (
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

const uid = "5f0c2f5e-7f5c-4b1e-9d53-0a6f3c1f5b11"

// now is the time of all tests. Nothing was made near it unless a fixture says so.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// xr is the composite as the API server holds it: a database of its own, and one team with one of each that a team can have.
func xr(mods ...mod) *structpb.Struct {
	return object(map[string]any{
		"apiVersion": "terdut.ryuvia.com/v1alpha1",
		"kind":       "TerdutServer",
		"metadata":   map[string]any{"namespace": "ops", "name": "oncall", "uid": uid, "generation": 1},
		"spec": map[string]any{
			"crossplane":     map[string]any{"compositionRef": map[string]any{"name": "terdutservers.terdut.ryuvia.com"}},
			"image":          map[string]any{"repository": "registry.example.org/terdut-server", "tag": "v1.2.3"},
			"replicas":       1,
			"networking":     map[string]any{"servicePort": 8080},
			"admin":          map[string]any{"username": "admin", "email": "admin@example.org"},
			"database":       map[string]any{"dsn": dsn, "passwordSecretRef": map[string]any{"name": "db", "key": "password"}},
			"passwordLogin":  true,
			"allowedTeams":   map[string]any{"namespaces": map[string]any{"from": "None"}},
			"deletionPolicy": "Retain",
			"teams":          []any{wantTeamSpec()},
		},
	}, mods...)
}

const dsn = "postgres://oncall@db.example.org:5432/oncall?sslmode=require"

func wantTeamSpec() map[string]any {
	return map[string]any{
		"name":       "platform",
		"escalation": map[string]any{"repeatCount": 2, "fallbackTopic": "", "levels": wantLevels()},
		"deadmanSwitches": []any{
			map[string]any{"name": "watchdog", "matcher": "alertname=Watchdog", "timeout": "15m", "severity": "critical"},
		},
		"integrations": []any{map[string]any{"name": "Prod Alertmanager", "kind": "alertmanager", "secretName": "webhook"}},
	}
}

func wantLevels() []any {
	return []any{
		map[string]any{"timeout": "5m", "targets": []any{map[string]any{"kind": "oncall"}, map[string]any{"kind": "user", "username": "alice"}}},
		map[string]any{"timeout": "15m", "targets": []any{map[string]any{"kind": "oncall"}}},
	}
}

// labels that everything composed has, with further ones as pairs.
func labels(more ...string) map[string]any {
	l := map[string]any{"app.kubernetes.io/name": "terdut-server", "app.kubernetes.io/instance": "oncall"}
	for i := 0; i < len(more); i += 2 {
		l[more[i]] = more[i+1]
	}
	return l
}

// manifest of a desired object.
func manifest(apiVersion, kind, name string, l, spec map[string]any, mods ...mod) *structpb.Struct {
	return object(map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"namespace": "ops", "name": name, "labels": l}, "spec": spec,
	}, append(mods, stamped)...)
}

// observed is a desired object as the API server holds it.
func observed(desired *structpb.Struct, mods ...mod) *structpb.Struct {
	return object(desired.AsMap(), append([]mod{
		with("metadata.generation", 1), with("metadata.uid", "b1"), with("spec.managementPolicies", []any{"*"}),
	}, mods...)...)
}

// env of xr, as pairs.
func env(pairs ...string) []any {
	var out []any
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, map[string]any{"name": pairs[i], "value": pairs[i+1]})
	}
	return out
}

// secretEnv is a variable from a Secret.
func secretEnv(name, secret, key string) map[string]any {
	return map[string]any{"name": name, "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": secret, "key": key}}}
}

func wantEnv() []any {
	e := env("TERDUT_LISTEN_ADDR", ":8080", "TERDUT_BASE_URL", "http://oncall.ops.svc:8080", "TERDUT_DATABASE_DSN", dsn)
	return append(append(e, secretEnv("PGPASSWORD", "db", "password")), env("TERDUT_PASSWORD_LOGIN", "true")...)
}

// container changes the only container of a Deployment.
func container(field string, value any) mod {
	return func(obj map[string]any) {
		spec := obj["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
		spec["containers"].([]any)[0].(map[string]any)[field] = value
	}
}

func wantDeployment(mods ...mod) *structpb.Struct {
	mods = append([]mod{annotated("terdut.ryuvia.com/database-credential", "1/s1/100")}, mods...)
	return manifest("apps/v1", "Deployment", "oncall-2d980b82cb", labels(), map[string]any{
		"replicas": 1,
		"selector": map[string]any{"matchLabels": labels()},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels()},
			"spec": map[string]any{
				"automountServiceAccountToken": false,
				"enableServiceLinks":           false,
				"securityContext":              map[string]any{"runAsNonRoot": true, "seccompProfile": map[string]any{"type": "RuntimeDefault"}},
				"volumes":                      []any{map[string]any{"name": "tmp", "emptyDir": map[string]any{}}},
				"containers": []any{map[string]any{
					"name":           "server",
					"image":          "registry.example.org/terdut-server:v1.2.3",
					"env":            wantEnv(),
					"ports":          []any{map[string]any{"name": "http", "containerPort": 8080, "protocol": "TCP"}},
					"volumeMounts":   []any{map[string]any{"name": "tmp", "mountPath": "/tmp"}},
					"readinessProbe": map[string]any{"httpGet": map[string]any{"path": "/healthz", "port": "http"}, "periodSeconds": 5, "failureThreshold": 3},
					"livenessProbe":  map[string]any{"tcpSocket": map[string]any{"port": "http"}, "periodSeconds": 10, "failureThreshold": 6},
					"securityContext": map[string]any{
						"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true,
						"capabilities": map[string]any{"drop": []any{"ALL"}},
					},
				}},
			},
		},
	}, mods...)
}

// rolledOut is what the Deployment says when its replica answers.
func rolledOut(obj map[string]any) {
	with("status", map[string]any{"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1})(obj)
	annotated("deployment.kubernetes.io/revision", "1")(obj)
}

// owner adds the Bootstrap as an owner.
func owner(uid string) mod {
	return with("metadata.ownerReferences", []any{map[string]any{"apiVersion": oncallVersion, "kind": "Bootstrap", "name": "oncall", "uid": uid}})
}

func wantService(mods ...mod) *structpb.Struct {
	return manifest("v1", "Service", "oncall", labels(), map[string]any{
		"type": "ClusterIP", "selector": labels(),
		"ports": []any{map[string]any{"name": "http", "protocol": "TCP", "port": 8080, "targetPort": "http"}},
	}, mods...)
}

const oncallVersion = "oncall.terdut.ryuvia.com/v1alpha1"

func wantBootstrap(mods ...mod) *structpb.Struct {
	return manifest(oncallVersion, "Bootstrap", "oncall", labels(), map[string]any{"forProvider": map[string]any{
		"endpoint": "http://oncall.ops.svc:8080", "adminUsername": "admin", "adminEmail": "admin@example.org", "deletionPolicy": "Retain",
	}}, mods...)
}

func wantConfig(mods ...mod) *structpb.Struct {
	return manifest(oncallVersion, "ProviderConfig", "oncall", labels(), map[string]any{
		"bootstrapRef": map[string]any{"name": "oncall"}, "allowedTeams": map[string]any{"namespaces": map[string]any{"from": "None"}},
	}, mods...)
}

// child is a managed resource of the team.
func wantChild(kind, name string, forProvider map[string]any, mods ...mod) *structpb.Struct {
	l := labels()
	if kind == "Team" {
		l = labels("terdut.ryuvia.com/team", "platform")
	} else {
		forProvider["teamRef"] = map[string]any{"name": teamName}
	}
	return manifest(oncallVersion, kind, name, l, map[string]any{"forProvider": forProvider}, mods...)
}

const (
	checkName       = "oncall-bb306b1d6b"
	teamName        = "oncall-platform-12dcb77741"
	policyName      = "oncall-platform-716136c359"
	switchName      = "oncall-platform-watchdog-466b6ef630"
	integrationName = "oncall-platform-prod-alertmanager-0cf94d55ed"
)

func wantTeam(mods ...mod) *structpb.Struct {
	return wantChild("Team", teamName, map[string]any{"displayName": "platform", "serverRef": map[string]any{"name": "oncall"}}, mods...)
}

func wantPolicy(mods ...mod) *structpb.Struct {
	return wantChild("EscalationPolicy", policyName, map[string]any{"repeatCount": 2, "fallbackTopic": "", "levels": wantLevels()}, mods...)
}

func wantSwitch(mods ...mod) *structpb.Struct {
	return wantChild("DeadmanSwitch", switchName, map[string]any{
		"name": "watchdog", "matcher": "alertname=Watchdog", "timeout": "15m", "severity": "critical",
	}, mods...)
}

func wantIntegration(mods ...mod) *structpb.Struct {
	return wantChild("Integration", integrationName, map[string]any{"name": "Prod Alertmanager", "kind": "alertmanager", "secretName": "webhook"}, mods...)
}

// ready is what a managed resource says when it is.
func ready(obj map[string]any) { yes(1, "Ready", "Synced")(obj) }

func bootstrapped(obj map[string]any) {
	with("status.atProvider.credentialsSecretRef", map[string]any{"name": "instance-1"})(obj)
	yes(1, "Bootstrapped", "Ready", "Synced")(obj)
}

func onServer(obj map[string]any) {
	with("status.atProvider.teamID", 7)(obj)
	yes(1, "TeamReady", "Ready", "Synced")(obj)
}

// Names of the composed resources.
const (
	credential  = "database-credential"
	team        = "team/platform"
	policy      = "policy/platform"
	watchdog    = "switch/platform/watchdog"
	integration = "integration/platform/Prod Alertmanager"
)

// everything is observed, and ready.
func everything() map[string]*structpb.Struct {
	return map[string]*structpb.Struct{
		"deployment":      observed(wantDeployment(), rolledOut),
		"service":         observed(wantService()),
		credential:        observed(wantCheck(), seen("db")),
		"bootstrap":       observed(wantBootstrap(), bootstrapped),
		"provider-config": observed(wantConfig(), yes(1, "Healthy")),
		team:              observed(wantTeam(), onServer),
		policy:            observed(wantPolicy(), ready),
		watchdog:          observed(wantSwitch(), ready),
		integration:       observed(wantIntegration(), ready),
	}
}

// everythingBut some resources.
func everythingBut(names ...string) map[string]*structpb.Struct {
	e := everything()
	for _, n := range names {
		delete(e, n)
	}
	return e
}

// everythingWith a resource changed.
func everythingWith(name string, mods ...mod) map[string]*structpb.Struct {
	e := everything()
	e[name] = object(e[name].AsMap(), mods...)
	return e
}

// free are the answers to the requirements when nobody has taken a name.
func free(names ...string) map[string]*fnv1.Resources {
	out := map[string]*fnv1.Resources{}
	for _, n := range names {
		out[n] = &fnv1.Resources{}
	}
	return out
}

// allFree are the answers when nothing is composed yet.
func allFree() map[string]*fnv1.Resources { return free("service", "bootstrap", "provider-config") }

// request with the observed composed resources, and the answers to requirements.
func request(composite *structpb.Struct, observed map[string]*structpb.Struct, required map[string]*fnv1.Resources) *fnv1.RunFunctionRequest {
	req := &fnv1.RunFunctionRequest{
		Meta:              &fnv1.RequestMeta{Tag: "tag"},
		Observed:          &fnv1.State{Composite: &fnv1.Resource{Resource: composite}, Resources: map[string]*fnv1.Resource{}},
		RequiredResources: required,
	}
	for name, s := range observed {
		req.Observed.Resources[name] = &fnv1.Resource{Resource: s}
	}
	return req
}
