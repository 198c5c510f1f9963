package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/ryuvia/provider-terdut/functions/internal/names"
)

// rule is one rule of a policy as the function writes them. What is left of a policy without its rules is blank.
var rule = regexp.MustCompile(`(?m)^path ("(?:[^"\\]|\\.)*") \{\n  capabilities = \["(read|update)"\]\n\}\n`)

// matches tells whether a rule is for a path, by what OpenBao documents under "Policies": a * at the end stands for any rest, a segment + for
// any one segment, and what is between {{ and }} for whatever the token's identity says. All else stands for itself.
func matches(pattern, path string) bool {
	if strings.Contains(pattern, "{{") {
		return true
	}
	pattern, prefix := strings.CutSuffix(strings.TrimPrefix(pattern, "/"), "*")
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(got) < len(want) || !prefix && len(got) != len(want) {
		return false
	}
	for i, segment := range want {
		last := prefix && i == len(want)-1
		if segment != "+" && segment != got[i] && (!last || !strings.HasPrefix(got[i], segment)) {
			return false
		}
	}
	return true
}

// TestMatches holds what matches is to find: a matcher that finds nothing would pass every policy.
func TestMatches(t *testing.T) {
	cases := map[string]struct {
		pattern, path string
		want          bool
	}{
		"Same":         {"kv/data/a", "kv/data/a", true},
		"Longer":       {"kv/data/a", "kv/data/ab", false},
		"Below":        {"kv/data/a", "kv/data/a/b", false},
		"Prefix":       {"kv/data/a*", "kv/data/ab", true},
		"PrefixBelow":  {"kv/data/a*", "kv/data/a/b", true},
		"PrefixOther":  {"kv/data/a*", "kv/data/b", false},
		"Folder":       {"kv/data/*", "kv/data/a/b", true},
		"Segment":      {"kv/data/+/b", "kv/data/a/b", true},
		"SegmentOther": {"kv/data/+/b", "kv/data/a/c", false},
		"InsideIsText": {"kv/data/a+", "kv/data/ab", false},
		"StarIsText":   {"kv/*/a", "kv/data/a", false},
		"Template":     {"kv/data/{{identity.entity.name}}", "kv/data/a", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := matches(tc.pattern, tc.path); got != tc.want {
				t.Errorf("matches(%q, %q): want %t", tc.pattern, tc.path, tc.want)
			}
		})
	}
}

// policyOf is what a Tenant may do with which paths, once its record is stored below a mount. It is nil when no policy is composed. The record's path is
// what the Tenant asks for, unless another is given.
func policyOf(t *testing.T, namespace, name, mount, path string) map[string]string {
	t.Helper()
	tenant := xr(kubernetes, with("metadata.namespace", namespace), with("metadata.name", name))
	p := &plane{t: t, observed: map[string]*structpb.Struct{}}
	p.run(tenant)
	p.says("database", consumer, yes(1, "PreflightPassed"))
	p.run(tenant)
	if path == "" {
		path = p.observed["credential"].AsMap()["spec"].(map[string]any)["forProvider"].(map[string]any)["path"].(string)
	}
	p.says("credential", stored, withAccess("Kubernetes"), with("status.atProvider.mount", mount), with("status.atProvider.path", path))
	p.run(tenant)
	policy, ok := p.observed["policy"]
	if !ok {
		return nil
	}
	text := policy.AsMap()["spec"].(map[string]any)["forProvider"].(map[string]any)["policy"].(string)
	if rest := strings.TrimSpace(rule.ReplaceAllString(text, "")); rest != "" {
		t.Fatalf("%s/%s: not a rule of the policy: %s", namespace, name, rest)
	}
	rules := map[string]string{}
	for _, m := range rule.FindAllStringSubmatch(text, -1) {
		pattern, err := strconv.Unquote(m[1])
		if err != nil {
			t.Fatalf("%s/%s: cannot read path %s: %v", namespace, name, m[1], err)
		}
		rules[pattern] = m[2]
	}
	return rules
}

// allowed are the capabilities that rules give on a path.
func allowed(rules map[string]string, path string) []string {
	var out []string
	for pattern, capability := range rules {
		if matches(pattern, path) {
			out = append(out, capability)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestPolicyCoversOneTenant holds the policies of Tenants with names that are alike against the paths of all of them: each is for its own record.
func TestPolicyCoversOneTenant(t *testing.T) {
	labels := []string{"a", "b", "a-b", "aa", "tenants", "data", "metadata", "kv"}
	subdomains := append([]string{"a.b", "a.a", "a-b.a", "b.a", "orders", "orders2", "orders.v2", "orders-v2", "order"}, labels...)
	for _, mount := range []string{"kv", "team/kv"} {
		policies := map[[2]string]map[string]string{}
		for _, namespace := range labels {
			for _, name := range subdomains {
				id := [2]string{namespace, name}
				if policies[id] = policyOf(t, namespace, name, mount, ""); policies[id] == nil {
					t.Fatalf("%s/%s: no policy", namespace, name)
				}
			}
		}
		for reader, rules := range policies {
			for owner := range policies {
				for _, api := range []string{"data", "metadata", "subkeys", "delete", "undelete", "destroy"} {
					path := fmt.Sprintf("%s/%s/%s", mount, api, names.Path(owner[0], owner[1]))
					var want []string
					if reader == owner && (api == "data" || api == "metadata") {
						want = []string{"read"}
					}
					if got := allowed(rules, path); !slices.Equal(got, want) {
						t.Errorf("policy of %v: %s: want capabilities %v, got %v", reader, path, want, got)
					}
				}
			}
			for _, path := range []string{mount + "/metadata/tenants", mount + "/metadata/tenants/" + reader[0], mount + "/metadata/", mount + "/config", "sys/policies/acl/x", "auth/token/create"} {
				if got := allowed(rules, path); got != nil {
					t.Errorf("policy of %v: %s: want no capabilities, got %v", reader, path, got)
				}
			}
		}
	}
}

// FuzzPolicyIsExact holds that a policy is for the record that the BaoSecret reports and no other, whatever its mount and path hold: if they cannot be
// named alone, there is no policy.
func FuzzPolicyIsExact(f *testing.F) {
	for _, path := range []string{
		"tenants/shop/orders", "tenants/shop/*", "tenants/*", "*", "tenants/+/orders", "tenants/shop/+", "+", "{{identity.entity.id}}", "tenants/shop/a{{b",
		"a\" {\n  capabilities = [\"read\"]\n}\npath \"kv/data/tenants/shop/billing", "a\"", "a\\", "a\nb", "$" + "{a}", "%{a}", "tenants/shop/ä",
	} {
		f.Add("kv", path, "tenants/shop/billing")
		f.Add(path, "tenants/shop/orders", "tenants/shop/billing")
	}
	f.Fuzz(func(t *testing.T, mount, path, other string) {
		if !utf8.ValidString(mount) || !utf8.ValidString(path) || path == "" || other == path {
			return
		}
		rules := policyOf(t, "shop", "orders", mount, path)
		if rules == nil {
			return
		}
		own := []string{mount + "/data/" + path, mount + "/metadata/" + path, "auth/token/lookup-self", "auth/token/revoke-self"}
		slices.Sort(own)
		if got := slices.Sorted(maps.Keys(rules)); !slices.Equal(got, slices.Compact(own)) {
			t.Fatalf("rules are for %q, want %q", got, own)
		}
		for _, api := range []string{"data", "metadata"} {
			if p := mount + "/" + api + "/" + other; !slices.Contains(own, p) && allowed(rules, p) != nil {
				t.Errorf("the policy for %q is for %q too", path, other)
			}
		}
	})
}
