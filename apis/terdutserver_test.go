package apis

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
)

// What rules may cost an API server, as its package apis/cel says.
const (
	costOfRule = 1_000_000
	costOfAll  = 10_000_000
)

// An admission judges objects of one kind as the API server does.
type admission struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
}

// admit objects of a composite resource definition.
func admit(t *testing.T, definition string) *admission {
	t.Helper()
	data, err := os.ReadFile(definition)
	if err != nil {
		t.Fatal(err)
	}
	xrd := &xv1.CompositeResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, xrd); err != nil {
		t.Fatal(err)
	}
	xrd.SetUID("uid") // As the API server gives it, for the owner reference.
	crd, err := xcrd.ForCompositeResource(xrd)
	if err != nil {
		t.Fatal(err)
	}
	return admitAs(t, crd)
}

// admitAs admits objects of a kind.
func admitAs(t *testing.T, crd *extv1.CustomResourceDefinition) *admission {
	t.Helper()
	props := &apiextensions.JSONSchemaProps{}
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, props, nil); err != nil {
		t.Fatal(err)
	}
	a := &admission{}
	var err error
	if a.structural, err = schema.NewStructural(props); err != nil {
		t.Fatal(err)
	}
	if a.validator, _, err = validation.NewSchemaValidator(props); err != nil {
		t.Fatal(err)
	}
	return a
}

// refusals of an object, which may be an update of an old one. Defaults are set first.
func (a *admission) refusals(t *testing.T, obj, old map[string]any) []string {
	t.Helper()
	for _, o := range []map[string]any{obj, old} {
		if o != nil {
			defaulting.Default(o, a.structural)
		}
	}
	errs := validation.ValidateCustomResource(nil, obj, a.validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, a.structural, obj)...)
	var before any
	if old != nil {
		before = old
	}
	rules, _ := cel.NewValidator(a.structural, true, costOfRule).Validate(t.Context(), (*field.Path)(nil), a.structural, obj, before, costOfAll)
	errs = append(errs, rules...)
	out := make([]string, 0, len(errs))
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return out
}

// aTerdutServer with fields of its spec replaced, as JSON. Null takes a field away.
func aTerdutServer(t *testing.T, fields string) map[string]any {
	t.Helper()
	obj := map[string]any{}
	if err := json.Unmarshal([]byte(`{"apiVersion": "terdut.ryuvia.com/v1alpha1", "kind": "TerdutServer", "metadata": {"name": "oncall", "namespace": "ops"}, "spec": {
		"image": {"repository": "example.org/server", "tag": "v1"}, "admin": {"username": "admin", "email": "a@example.org"}, "database": {"dsn": "postgres://u@h/d"}
	}}`), &obj); err != nil {
		t.Fatal(err)
	}
	change := map[string]any{}
	if err := json.Unmarshal([]byte(fields), &change); err != nil {
		t.Fatalf("%s: %v", fields, err)
	}
	spec := obj["spec"].(map[string]any)
	for k, v := range change {
		if v == nil {
			delete(spec, k)
		} else {
			spec[k] = v
		}
	}
	return obj
}

// TestTerdutServerInput gives the API server good and bad input: what is bad is refused with the path of the field.
func TestTerdutServerInput(t *testing.T) {
	a := admit(t, "../package/configuration/definitions/terdutservers.yaml")
	team := func(fields string) string { return `{"teams": [{"name": "a", ` + fields + `}]}` }
	level := func(timeout, targets string) string {
		return team(`"escalation": {"levels": [{"timeout": "` + timeout + `", "targets": [` + targets + `]}]}`)
	}
	cases := map[string]struct {
		spec string
		old  string // Of an update.
		want string // Part of a refusal, or nothing.
	}{
		"Least":              {spec: `{}`},
		"NoImage":            {spec: `{"image": null}`, want: "spec.image: Required value"},
		"NoTag":              {spec: `{"image": {"repository": "a"}}`, want: "spec.image: Invalid value: set tag, digest or both"},
		"NoReplicas":         {spec: `{"replicas": 0}`, want: "spec.replicas: Invalid value: 0"},
		"TwoDatabases":       {spec: `{"database": {"dsn": "a", "tenantRef": {"name": "b"}}}`, want: "spec.database: Invalid value: set exactly one of dsn, postgresClusterRef and tenantRef"},
		"ThreeDatabases":     {spec: `{"database": {"dsn": "a", "tenantRef": {"name": "b"}, "postgresClusterRef": {"name": "c"}}}`, want: "spec.database: Invalid value: set exactly one of"},
		"NoDatabase":         {spec: `{"database": {}}`, want: "spec.database: Invalid value: set exactly one of"},
		"PasswordOfTenant":   {spec: `{"database": {"tenantRef": {"name": "b"}, "passwordSecretRef": {"name": "a", "key": "b"}}}`, want: "spec.database: Invalid value: passwordSecretRef belongs to dsn"},
		"PasswordInURL":      {spec: `{"database": {"dsn": "postgres://u:S3cr3t@h/d"}}`, want: "dsn must not carry a password: use passwordSecretRef"},
		"EmptyPasswordInURL": {spec: `{"database": {"dsn": "postgresql://u:@h/d"}}`, want: "dsn must not carry a password: use passwordSecretRef"},
		"PasswordUnescaped":  {spec: `{"database": {"dsn": " postgres+x://u:Su#%40/S3cr3t@h/d"}}`, want: "dsn must not carry a password: use passwordSecretRef"},
		"PasswordHidden":     {spec: `{"database": {"dsn": "postgres://u@h:5432/d?a=b&passwor%64=S3cr3t"}}`, want: "dsn must spell the names of its parameters without %"},
		"PasswordInQuery":    {spec: `{"database": {"dsn": "postgres://h/d?sslmode=require&password=S3cr3t"}}`, want: "dsn must not carry a password: use passwordSecretRef"},
		"PasswordInKeywords": {spec: `{"database": {"dsn": "host=h PASSWORD = S3cr3t"}}`, want: "dsn must not carry a password: use passwordSecretRef"},
		"KeywordsWithout":    {spec: `{"database": {"dsn": "host=h user=nopassword dbname=d"}}`},
		"PortInURL":          {spec: `{"database": {"dsn": "postgres://u@h:5432/d?sslmode=require"}}`},
		"ClusterKind":        {spec: `{"database": {"postgresClusterRef": {"name": "a", "kind": "Other"}}}`, want: "spec.database.postgresClusterRef.kind: Unsupported value"},
		"Selector":           {spec: `{"allowedTeams": {"namespaces": {"from": "Selector"}}}`, want: "spec.allowedTeams.namespaces: Invalid value: set selector for from: Selector, and for that alone"},
		"SelectorOfAll":      {spec: `{"allowedTeams": {"namespaces": {"from": "All", "selector": {}}}}`, want: "spec.allowedTeams.namespaces: Invalid value: set selector for from: Selector, and for that alone"},
		"From":               {spec: `{"allowedTeams": {"namespaces": {"from": "Some"}}}`, want: "spec.allowedTeams.namespaces.from: Unsupported value"},
		"Listener":           {spec: `{"networking": {"hostname": "h", "gatewayListener": "gw"}}`, want: "spec.networking.gatewayListener: Invalid value"},
		"ListenerNoHost":     {spec: `{"networking": {"gatewayListener": "ns/gw/https"}}`, want: "spec.networking: Invalid value: set hostname with gatewayListener"},
		"ListenerSection":    {spec: `{"networking": {"hostname": "h", "gatewayListener": "ns/gw/https"}}`},
		"PortChanged":        {spec: `{"networking": {"servicePort": 80}}`, old: `{}`, want: "servicePort is immutable: the provider's credential is bound to the endpoint"},
		"HostnameChanged":    {spec: `{"networking": {"hostname": "h"}}`, old: `{}`},
		"OIDC":               {spec: `{"oidc": {"enabled": true, "issuer": "https://id"}}`, want: "spec.oidc: Invalid value: set issuer and clientID when enabled"},
		"OIDCOff":            {spec: `{"oidc": {"issuer": "https://id"}}`},
		"Email":              {spec: `{"admin": {"username": "a", "email": "nobody"}}`, want: "spec.admin.email: Invalid value"},
		"EnvTwice":           {spec: `{"env": [{"name": "A"}, {"name": "A"}]}`, want: "spec.env[1]: Duplicate value"},
		"EnvName":            {spec: `{"env": [{"name": "A-B"}]}`, want: "spec.env[0].name: Invalid value"},
		"EnvBoth":            {spec: `{"env": [{"name": "A", "value": "a", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]}`, want: "spec.env[0]: Invalid value: set at most one of value and valueFrom"},
		"EnvNowhere":         {spec: `{"env": [{"name": "A", "valueFrom": {}}]}`, want: "spec.env[0].valueFrom: Invalid value: set exactly one of secretKeyRef and configMapKeyRef"},
		"SweeperZero":        {spec: `{"sweeper": {"staleAfter": "0s"}}`, want: "spec.sweeper.staleAfter: Invalid value: \"0s\": must be at least 1s"},
		"TeamTwice":          {spec: `{"teams": [{"name": "a"}, {"name": "a"}]}`, want: "spec.teams[1]: Duplicate value"},
		"TeamName":           {spec: `{"teams": [{"name": "A/b"}]}`, want: "spec.teams[0].name: Invalid value"},
		"SwitchTwice": {
			spec: team(`"deadmanSwitches": [{"name": "s", "matcher": "a=b", "timeout": "1m"}, {"name": "s", "matcher": "a=c", "timeout": "1m"}]`),
			want: "spec.teams[0].deadmanSwitches[1]: Duplicate value",
		},
		"SwitchNegative":    {spec: team(`"deadmanSwitches": [{"name": "s", "matcher": "a=b", "timeout": "-1m"}]`), want: "spec.teams[0].deadmanSwitches[0].timeout: Invalid value"},
		"SwitchFiner":       {spec: team(`"deadmanSwitches": [{"name": "s", "matcher": "a=b", "timeout": "1500ms"}]`), want: "spec.teams[0].deadmanSwitches[0].timeout: Invalid value"},
		"SwitchEmpty":       {spec: team(`"deadmanSwitches": [{"name": "s", "matcher": "a=b", "timeout": ""}]`), want: "spec.teams[0].deadmanSwitches[0].timeout: Invalid value: \"\": must be at least 1s"},
		"SwitchMatcher":     {spec: team(`"deadmanSwitches": [{"name": "s", "matcher": "a=~b,", "timeout": "1m"}]`), want: "spec.teams[0].deadmanSwitches[0].matcher: Invalid value"},
		"IntegrationTwice":  {spec: team(`"integrations": [{"name": "i", "secretName": "a"}, {"name": "i", "secretName": "b"}]`), want: "spec.teams[0].integrations[1]: Duplicate value"},
		"IntegrationKind":   {spec: team(`"integrations": [{"name": "i", "secretName": "a", "kind": "pager"}]`), want: "spec.teams[0].integrations[0].kind: Unsupported value"},
		"IntegrationSecret": {spec: team(`"integrations": [{"name": "i"}]`), want: "spec.teams[0].integrations[0].secretName: Required value"},
		"SecretChanged":     {spec: team(`"integrations": [{"name": "i", "secretName": "a"}]`), old: team(`"integrations": [{"name": "i", "secretName": "b"}]`), want: "spec.teams[0].integrations[0].secretName: Invalid value: \"a\": secretName is immutable"},
		"LevelZero":         {spec: level("0m", `{"kind": "oncall"}`), want: "spec.teams[0].escalation.levels[0].timeout: Invalid value: \"0m\": must be at least 1s"},
		"NoTarget":          {spec: level("5m", ``), want: "spec.teams[0].escalation.levels[0].targets: Invalid value"},
		"TargetKind":        {spec: level("5m", `{"kind": "team"}`), want: "spec.teams[0].escalation.levels[0].targets[0].kind: Unsupported value"},
		"UserNoName":        {spec: level("5m", `{"kind": "user"}`), want: "spec.teams[0].escalation.levels[0].targets[0]: Invalid value: set username for kind user, and for that alone"},
		"OnCallName":        {spec: level("5m", `{"kind": "oncall", "username": "a"}`), want: "spec.teams[0].escalation.levels[0].targets[0]: Invalid value: set username for kind user, and for that alone"},
		"LevelGood":         {spec: level("1h30m", `{"kind": "oncall"}, {"kind": "user", "username": "a"}`)},
		"PolicyValue":       {spec: `{"deletionPolicy": "Keep"}`, want: "spec.deletionPolicy: Unsupported value"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var old map[string]any
			if tc.old != "" {
				old = aTerdutServer(t, tc.old)
			}
			got := strings.Join(a.refusals(t, aTerdutServer(t, tc.spec), old), "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("want %q, got:\n%s", tc.want, got)
			}
			// What is refused is shown to others too, by whatever applies manifests.
			if strings.Contains(got, "S3cr3t") {
				t.Error("the refusal repeats a password")
			}
		})
	}
}
