package apis

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
)

// TestProvisionInput gives the API server contracts that have their Secret made: what is bad is refused with the path of the field.
func TestProvisionInput(t *testing.T) {
	a := admit(t, "../package/configuration/definitions/secretcontracts.yaml")
	contract := func(t *testing.T, secret, rules, more string) map[string]any {
		t.Helper()
		obj := map[string]any{}
		if err := json.Unmarshal([]byte(`{"apiVersion": "terdut.ryuvia.com/v1alpha1", "kind": "SecretContract", "metadata": {"name": "orders", "namespace": "shop"}, "spec": {
			"secretRef": {"name": "`+secret+`"}, "requiredKeys": [`+rules+`] `+more+`}}`), &obj); err != nil {
			t.Fatalf("%s %s: %v", rules, more, err)
		}
		return obj
	}
	const (
		secret = "orders-db"
		rules  = `{"name": "password", "minLength": 16, "maxLength": 64}, {"name": "host"}`
		keys   = `"keys": [{"name": "password", "generate": {}}, {"name": "host", "value": "db"}]`
		plain  = `, "provision": {` + keys + `}`
	)
	cases := map[string]struct {
		secret, rules, spec string
		old                 string // Of an update; its Secret and rules are those above.
		want                string // Part of a refusal, or nothing.
	}{
		"Least":         {secret, rules, plain, "", ""},
		"Whole":         {secret, rules, `, "provision": {"baoRef": {"name": "b"}, "secretStoreRef": {"kind": "SecretStore", "name": "s"}, "path": "smtp/web", "rotation": {"trigger": "may"}, ` + keys + `}`, "", ""},
		"SomeKeys":      {secret, rules, `, "provision": {"keys": [{"name": "host", "value": "db"}]}`, "", ""},
		"Symbols":       {secret, rules, `, "provision": {"keys": [{"name": "password", "generate": {"length": 64, "symbols": true}}]}`, "", ""},
		"NoKeys":        {secret, rules, `, "provision": {}`, "", "spec.provision.keys: Required value"},
		"EmptyKeys":     {secret, rules, `, "provision": {"keys": []}`, "", "spec.provision.keys: Invalid value: 0"},
		"Twice":         {secret, rules, `, "provision": {"keys": [{"name": "host", "value": "a"}, {"name": "host", "value": "b"}]}`, "", "spec.provision.keys[1]: Duplicate value"},
		"NotNamed":      {secret, rules, `, "provision": {"keys": [{"name": "token", "generate": {}}]}`, "", "provision.keys may only name keys of requiredKeys"},
		"Both":          {secret, rules, `, "provision": {"keys": [{"name": "host", "value": "a", "generate": {}}]}`, "", "spec.provision.keys[0]: Invalid value: set exactly one of value and generate"},
		"Neither":       {secret, rules, `, "provision": {"keys": [{"name": "host"}]}`, "", "spec.provision.keys[0]: Invalid value: set exactly one of value and generate"},
		"TooShort":      {secret, `{"name": "password", "minLength": 33}, {"name": "host"}`, plain, "", "provision.keys must generate values as long as requiredKeys ask for"},
		"TooLong":       {secret, `{"name": "password", "maxLength": 31}, {"name": "host"}`, plain, "", "provision.keys must generate values as long as requiredKeys ask for"},
		"JustRight":     {secret, `{"name": "password", "minLength": 32, "maxLength": 32}, {"name": "host", "minLength": 2000}`, plain, "", ""},
		"Weak":          {secret, `{"name": "password"}`, `, "provision": {"keys": [{"name": "password", "generate": {"length": 8}}]}`, "", "spec.provision.keys[0].generate.length"},
		"OtherStore":    {secret, rules, `, "provision": {"secretStoreRef": {"kind": "Vault", "name": "s"}, ` + keys + `}`, "", `spec.provision.secretStoreRef.kind: Unsupported value: "Vault"`},
		"TwoDeliveries": {secret, rules, `, "externalSecretRef": {"name": "x"}` + plain, "", "set one of provision and externalSecretRef"},
		"Dots":          {secret, rules, `, "provision": {"path": "a/../b", ` + keys + `}`, "", "path must not have empty, . or .. segments"},
		"Slash":         {secret, rules, `, "provision": {"path": "/a", ` + keys + `}`, "", "path must not have empty, . or .. segments"},
		"Control":       {secret, rules, `, "provision": {"path": "a\u0000b", ` + keys + `}`, "", "spec.provision.path"},

		"Added":        {secret, rules, plain, " ", ""},
		"Removed":      {secret, rules, "", plain, ""},
		"NewValue":     {secret, rules, `, "provision": {"keys": [{"name": "host", "value": "other"}], "rotation": {"trigger": "1"}}`, plain, ""},
		"NewStore":     {secret, rules, `, "provision": {"secretStoreRef": {"name": "s"}, ` + keys + `}`, plain, ""},
		"NewServer":    {secret, rules, `, "provision": {"baoRef": {"name": "b"}, ` + keys + `}`, plain, "baoRef is immutable"},
		"NewPath":      {secret, rules, `, "provision": {"path": "b", ` + keys + `}`, `, "provision": {"path": "a", ` + keys + `}`, "path is immutable"},
		"PathAdded":    {secret, rules, `, "provision": {"path": "b", ` + keys + `}`, plain, "path is immutable"},
		"PathRemoved":  {secret, rules, plain, `, "provision": {"path": "b", ` + keys + `}`, "path is immutable"},
		"NewSecret":    {"other", rules, plain, plain, "secretRef is immutable while the Secret is provisioned"},
		"PlainRenamed": {"other", rules, "", " ", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var old map[string]any
			if tc.old != "" {
				old = contract(t, secret, rules, tc.old)
			}
			got := a.refusals(t, contract(t, tc.secret, tc.rules, tc.spec), old)
			switch {
			case tc.want == "" && len(got) > 0:
				t.Errorf("refused: %v", got)
			case tc.want != "" && (len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), tc.want)):
				t.Errorf("refusals: got %q, want %q", got, tc.want)
			}
		})
	}
}
