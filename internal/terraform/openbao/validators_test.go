package openbao_test

import (
	"strings"
	"testing"
)

// TestValidate holds that what the server would refuse, or would make something else of, is refused before anything is planned.
func TestValidate(t *testing.T) {
	good := example("k", "a")
	bad := map[string]map[string][]any{
		kindPolicy: {
			"name":   {"", "X", "a/b", "a,b", "root", "default", "response-wrapping", "control-group", " x", "a..b"},
			"policy": {"", " \n", "IyBub3RoaW5n", "Iy\nA=", "abcd"},
		},
		kindKubernetes: {
			"bound_service_account_names":      {[]string{}, []string{"*", "a"}, []string{""}, []string{"A"}, []string{"a,b"}, []string{"a b"}},
			"bound_service_account_namespaces": {[]string{}, []string{"*", "a"}, []string{""}, []string{"a/b"}},
			"alias_name_source":                {"", "uid"},
		},
		kindAppRole: {
			"role_id":               {"", " x"},
			"secret_id_bound_cidrs": {[]string{"192.0.2.1"}, []string{"192.0.2.0/24", "x"}, []string{"::ffff:192.0.2.1/128"}},
			"secret_id_num_uses":    {-1, 1 << 31},
			"secret_id_ttl":         {-1, 9223372037},
		},
	}
	for _, kind := range []string{kindKubernetes, kindAppRole} {
		for name, values := range map[string][]any{
			"name": {"", "X", "a/b", "-x", "x.", "a..b", "é", strings.Repeat("x", 4097)}, "backend": {"", "/x", "x/", "a//b", "..", "a/../b"},
			"token_ttl": {-1, 9223372037}, "token_max_ttl": {-1, 9223372037}, "token_explicit_max_ttl": {-1, 9223372037}, "token_period": {-1, 9223372037},
			"token_num_uses": {-1, 1 << 31}, "token_type": {"", "default-service", "golden"},
			"token_policies":    {[]string{"a", "A"}, []string{""}, []string{"a,b"}, []string{"root"}, []string{" a"}},
			"token_bound_cidrs": {[]string{""}, []string{"x"}, []string{"192.0.2.1:80"}, []string{"fe80::1%eth0"}, []string{"::ffff:192.0.2.1"}, []string{"192.0.2.1/33"}},
		} {
			bad[kind][name] = values
		}
	}
	tf := administrator(t)
	for kind, attributes := range bad {
		if err := tf.validate(kind, good[kind]); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		for name, values := range attributes {
			for _, v := range values {
				if err := tf.validate(kind, good[kind].with(object{name: v})); err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: %s: want an error for %v, got: %v", kind, name, v, err)
				}
			}
			required := name == "name" || name == "policy" || strings.HasPrefix(name, "bound_")
			if err := tf.validate(kind, good[kind].with(object{name: nil})); (err != nil) != required {
				t.Errorf("%s: %s: required %t, and without it: %v", kind, name, required, err)
			}
		}
	}
}
