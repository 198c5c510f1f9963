package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// teams replaces the teams of the spec.
func teams(teams ...map[string]any) mod {
	list := []any{}
	for _, t := range teams {
		list = append(list, t)
	}
	return with("spec.teams", list)
}

func TestH47BrokenInput(t *testing.T) {
	const secret = "s3cr3t-in-a-dsn"
	sw := func(fields map[string]any) mod {
		return teams(map[string]any{"name": "a", "deadmanSwitches": []any{fields}})
	}
	cases := map[string]struct {
		reason   string
		xr       *structpb.Struct
		observed map[string]*structpb.Struct
		required map[string]*fnv1.Resources
		want     string
	}{
		"Nothing":      {reason: "There is no composite at all.", want: "composite: metadata.name: required"},
		"NoUID":        {xr: xr(without("metadata.uid")), want: "composite: metadata.uid: required"},
		"NoNamespace":  {xr: xr(without("metadata.namespace")), want: "composite: metadata.namespace: required, because"},
		"NoSpec":       {xr: xr(without("spec")), want: "composite: spec: required, and must be an object"},
		"NullSpec":     {xr: xr(with("spec", nil)), want: "composite: spec: required, and must be an object"},
		"Unknown":      {xr: xr(with("spec.imgae", "x")), want: "composite: spec.imgae: unknown field"},
		"DeepUnknown":  {xr: xr(teams(map[string]any{"name": "a", "oidc": map[string]any{"group": "x"}})), want: "composite: spec.teams[0].oidc.group: unknown field"},
		"FieldType":    {xr: xr(with("spec.replicas", "two")), want: "composite: spec.replicas: must be an integer of 32 bits, not string"},
		"Fraction":     {xr: xr(with("spec.replicas", 1.5)), want: "composite: spec.replicas: must be an integer of 32 bits, not number 1.5"},
		"NoReplica":    {xr: xr(with("spec.replicas", 0)), want: "composite: spec.replicas: must be at least 1"},
		"NoImage":      {xr: xr(without("spec.image")), want: "composite: spec.image.repository: required"},
		"NoTag":        {xr: xr(without("spec.image.tag")), want: "composite: spec.image: set tag, digest or both"},
		"Port":         {xr: xr(with("spec.networking.servicePort", 70000)), want: "composite: spec.networking.servicePort: must be from 1 to 65535"},
		"NoHostname":   {xr: xr(with("spec.networking.gatewayListener", "infra/gw")), want: "composite: spec.networking.hostname: required with gatewayListener"},
		"Listener":     {xr: xr(with("spec.networking", map[string]any{"hostname": "h", "gatewayListener": "gw"})), want: "composite: spec.networking.gatewayListener: must be namespace/gateway"},
		"NoAdmin":      {xr: xr(without("spec.admin")), want: "composite: spec.admin.username: required"},
		"NoDatabase":   {xr: xr(with("spec.database", map[string]any{})), want: "composite: spec.database: set exactly one of dsn, postgresClusterRef and tenantRef"},
		"TwoDatabases": {xr: xr(with("spec.database.tenantRef", map[string]any{"name": "db"})), want: "composite: spec.database: set exactly one of dsn, postgresClusterRef and tenantRef"},
		"TwoPasswords": {
			xr: xr(without("spec.database.dsn"), with("spec.database.tenantRef", map[string]any{"name": "db"})), want: "composite: spec.database.passwordSecretRef: belongs to dsn",
		},
		"PasswordInURL":      {xr: xr(with("spec.database.dsn", "postgres://u:"+secret+"@h/d")), want: "composite: spec.database.dsn: must not carry a password: use passwordSecretRef"},
		"PasswordWithHash":   {xr: xr(with("spec.database.dsn", "postgresql://u:Su#"+secret+"@h/d")), want: "composite: spec.database.dsn: must not carry a password: use passwordSecretRef"},
		"PasswordWithSlash":  {xr: xr(with("spec.database.dsn", " postgres+x://u:%40/"+secret+"@h/d")), want: "composite: spec.database.dsn: must not carry a password: use passwordSecretRef"},
		"PasswordHidden":     {xr: xr(with("spec.database.dsn", "postgres://u@h/d?a=b&passwor%64="+secret)), want: "composite: spec.database.dsn: must not carry a password: use passwordSecretRef"},
		"PasswordInQuery":    {xr: xr(with("spec.database.dsn", "postgres://u@h/d?password="+secret)), want: "composite: spec.database.dsn: must not carry a password: use passwordSecretRef"},
		"PasswordInKeywords": {xr: xr(with("spec.database.dsn", "host=h Password = "+secret)), want: "composite: spec.database.dsn: must not carry a password: use passwordSecretRef"},
		"ClusterKind": {
			xr: xr(with("spec.database", map[string]any{"postgresClusterRef": map[string]any{"name": "a", "kind": "X"}})), want: "composite: spec.database.postgresClusterRef.kind: must be postgresql or Cluster",
		},
		"Selector":       {xr: xr(with("spec.allowedTeams.namespaces.from", "Selector")), want: "composite: spec.allowedTeams.namespaces: set selector for from: Selector, and for that alone"},
		"SameTeam":       {xr: xr(teams(map[string]any{"name": "a"}, map[string]any{"name": "a"})), want: "composite: spec.teams[1].name: must not repeat"},
		"TeamName":       {xr: xr(teams(map[string]any{"name": "a/b"})), want: "composite: spec.teams[0].name: a lowercase RFC 1123 label"},
		"SameVariable":   {xr: xr(with("spec.env", env("A", "1", "A", "2"))), want: "composite: spec.env[1].name: must not repeat"},
		"NoDuration":     {xr: xr(sw(map[string]any{"name": "s", "matcher": "a=b", "timeout": ""})), want: "composite: spec.teams[0].deadmanSwitches[0].timeout: must be at least 1s"},
		"ZeroDuration":   {xr: xr(sw(map[string]any{"name": "s", "matcher": "a=b", "timeout": "0s"})), want: "composite: spec.teams[0].deadmanSwitches[0].timeout: must be at least 1s"},
		"FinerDuration":  {xr: xr(sw(map[string]any{"name": "s", "matcher": "a=b", "timeout": "1500ms"})), want: "composite: spec.teams[0].deadmanSwitches[0].timeout: must be at least 1s"},
		"SecretName":     {xr: xr(teams(map[string]any{"name": "a", "integrations": []any{map[string]any{"name": "i", "secretName": "No_Name"}}})), want: "composite: spec.teams[0].integrations[0].secretName: a lowercase"},
		"KindOfChild":    {xr: xr(), observed: everythingWith(team, with("kind", "ConfigMap")), want: `observed resource "team/platform": kind: must be Team`},
		"EmptyChild":     {xr: xr(), observed: map[string]*structpb.Struct{"bootstrap": nil}, want: `observed resource "bootstrap": kind: must be Bootstrap`},
		"StatusOfChild":  {xr: xr(), observed: everythingWith(team, with("status", []any{1})), want: `observed resource "team/platform": status: must be an object, not array`},
		"StatusOfTenant": {xr: xr(with("spec.database", map[string]any{"tenantRef": map[string]any{"name": "db"}})), required: map[string]*fnv1.Resources{"database-tenant": found(readyTenant(with("status.port", "x")))}, want: `required resource "database-tenant": status.port: must be an integer of 32 bits, not string`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(tc.xr, tc.observed, tc.required))
			got := fatal(rsp)
			want := "cannot compose on-call server: " + tc.want
			if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
				t.Errorf("\n%s\nf.RunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
			if strings.Contains(got, secret) {
				t.Error("the message repeats a secret")
			}
			if len(rsp.GetDesired().GetResources()) > 0 {
				t.Errorf("f.RunFunction(...): a fatal result desires %d resources", len(rsp.GetDesired().GetResources()))
			}
		})
	}
}

func TestInputIsRefused(t *testing.T) {
	req := request(xr(), nil, nil)
	req.Input = object(map[string]any{"kind": "Input"})
	if diff := cmp.Diff("cannot use input: this function takes none", fatal(run(t, req))); diff != "" {
		t.Errorf("f.RunFunction(...): -want, +got:\n%s", diff)
	}
}
