package openbao_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A combination of attributes beside those that say which resource it is.
type combination struct {
	reason string
	config object
}

const (
	kindPolicy     = "openbao_policy"
	kindKubernetes = "openbao_kubernetes_auth_role"
	kindAppRole    = "openbao_approle_role"
)

// tokenCombinations are those that every kind of role must take.
var tokenCombinations = map[string]combination{
	"Defaults":  {"Nothing optional is set.", object{}},
	"EmptySets": {"Empty sets are like none to the server.", object{"token_policies": []string{}, "token_bound_cidrs": []string{}}},
	"Everything": {"Everything is set.", object{
		"token_ttl": 60, "token_max_ttl": 120, "token_explicit_max_ttl": 240, "token_period": 30, "token_policies": []string{"b", "a", "default"},
		"token_bound_cidrs": []string{"198.51.100.7", "192.0.2.0/24"}, "token_no_default_policy": true, "token_num_uses": 7, "token_type": "service",
	}},
	"Batch": {"Another type of tokens.", object{"token_type": "batch", "token_ttl": 5}},
	"Longest": {"The longest durations and largest numbers.", object{
		"token_ttl": 9223372036, "token_max_ttl": 9223372036, "token_explicit_max_ttl": 9223372036, "token_num_uses": 2147483647,
	}},
	"Spellings": {"The server has other spellings for addresses.", object{"token_bound_cidrs": []string{
		"192.0.2.1/32", "2001:DB8:0::/32", "2001:DB8::7/128", "::1", "2001:db8:0:0:0:0:0:9", "198.51.100.77/24",
	}}},
	"SameAddresses": {"Two spellings of one address are two elements.", object{"token_bound_cidrs": []string{"192.0.2.1/32", "192.0.2.1", "192.0.2.2"}}},
	"ExplicitDefaults": {"What is the default anyway is set.", object{
		"token_ttl": 0, "token_max_ttl": 0, "token_explicit_max_ttl": 0, "token_period": 0, "token_no_default_policy": false, "token_num_uses": 0,
		"token_type": "default",
	}},
}

// TestSettles holds for every combination of attributes that after it was applied nothing more is to be done, in whatever state the resource was
// before, and that everything is as configured on the server: an import finds it.
func TestSettles(t *testing.T) {
	defer enable(t, "settles-k", "kubernetes")()
	defer enable(t, "settles/a", "approle")()
	base := map[string]object{
		kindPolicy:     {"name": "settles", "policy": "# nothing"},
		kindKubernetes: {"backend": "settles-k", "name": "x", "bound_service_account_names": []string{"a"}, "bound_service_account_namespaces": []string{"n"}},
		kindAppRole:    {"backend": "settles/a", "name": "x"},
	}
	own := map[string]map[string]combination{
		kindPolicy: {
			"Plain":      {"A policy.", object{"policy": "path \"x\" { capabilities = [\"read\"] }"}},
			"WhiteSpace": {"White space around and in it.", object{"policy": "\n\n  path \"x\" {\r\n\tcapabilities = [\"read\"]\n}\n\n "}},
			"JSON":       {"A policy in JSON.", object{"policy": `{"path":{"x":{"capabilities":["read"]}}}`}},
			"Characters": {"Characters that mean something in JSON and URLs.", object{"policy": "# <&>%2f\\ \u2028 é\n"}},
		},
		kindKubernetes: {
			"Wide":          {"Everybody.", object{"bound_service_account_names": []string{"*"}, "bound_service_account_namespaces": []string{"*"}}},
			"Order":         {"The order of elements means nothing.", object{"bound_service_account_names": []string{"z", "a-*", "m.n"}}},
			"Audience":      {"An audience.", object{"audience": "openbao"}},
			"EmptyAudience": {"An empty audience is like none to the server.", object{"audience": ""}},
			"ByName":        {"Another source of names.", object{"alias_name_source": "serviceaccount_name"}},
		},
		kindAppRole: {
			"RoleID":     {"A chosen role id.", object{"role_id": "My chosen-id"}},
			"NoSecretID": {"Addresses instead of a secret id.", object{"bind_secret_id": false, "secret_id_bound_cidrs": []string{"192.0.2.0/24", "198.51.100.7/32", "2001:DB8:0::/48", "2001:db8:0001::/64"}}},
			"SecretIDs":  {"Limits of secret ids.", object{"secret_id_num_uses": 3, "secret_id_ttl": 60, "secret_id_bound_cidrs": []string{}}},
		},
	}
	for _, kind := range []string{kindKubernetes, kindAppRole} {
		for name, c := range tokenCombinations {
			own[kind][name] = c
		}
	}

	for kind, combinations := range own {
		t.Run(kind, func(t *testing.T) {
			var state object // Is handed on, so that each combination also takes back what others have set.
			for _, rounds := range []string{"First", "Again"} {
				for name, c := range combinations {
					t.Run(rounds+name, func(t *testing.T) {
						tf := administrator(t)
						state = settle(t, tf, kind, state, base[kind].with(c.config), c.reason)
					})
				}
			}
		})
	}
}

// settle applies a configuration, and holds that nothing is left to do.
func settle(t *testing.T, tf *terraform, kind string, state, config object, reason string) object {
	t.Helper()
	applied, err := tf.apply(kind, state, config)
	if err != nil {
		t.Fatalf("\n%s\ncannot apply: %v", reason, err)
	}
	again, err := tf.read(kind, applied)
	if err != nil {
		t.Fatalf("\n%s\ncannot read: %v", reason, err)
	}
	if diff := cmp.Diff(applied, again); diff != "" {
		t.Errorf("\n%s\nstate after reading: -want, +got:\n%s", reason, diff)
	}
	for name, want := range config {
		if _, set := want.([]string); set {
			continue // Sets are compared by the plan.
		}
		if again[name] != want {
			t.Errorf("\n%s\n%s: want %v, got %v", reason, name, want, again[name])
		}
	}
	p, err := tf.plan(kind, again, config)
	if err != nil {
		t.Fatalf("\n%s\ncannot plan: %v", reason, err)
	}
	if changes := p.changes(); len(changes) > 0 {
		t.Errorf("\n%s\nthe plan would change %v", reason, changes)
	}

	imported, err := tf.importID(kind, applied["id"].(string))
	if err != nil {
		t.Fatalf("\n%s\ncannot import: %v", reason, err)
	}
	for name, want := range again {
		if _, set := want.([]string); !set && imported[name] != want {
			t.Errorf("\n%s\n%s after an import: want %v, got %v", reason, name, want, imported[name])
		}
	}
	return again
}
