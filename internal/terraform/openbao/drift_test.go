package openbao_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// example returns a small configuration of each kind, with roles at the mounts k and a of the test.
func example(k, a string) map[string]object {
	return map[string]object{
		kindPolicy:     {"name": k, "policy": "# nothing"},
		kindKubernetes: {"backend": k, "name": "x", "bound_service_account_names": []string{"a"}, "bound_service_account_namespaces": []string{"n"}},
		kindAppRole:    {"backend": a, "name": "x"},
	}
}

// paths of the examples on the server.
func paths(k, a string) map[string]string {
	return map[string]string{kindPolicy: "sys/policies/acl/" + k, kindKubernetes: "auth/" + k + "/role/x", kindAppRole: "auth/" + a + "/role/x"}
}

// TestDrift holds that what somebody else changed is read, is in the next plan under its name, and is put back by it.
func TestDrift(t *testing.T) {
	defer enable(t, "drift-k", "kubernetes")()
	defer enable(t, "drift-a", "approle")()
	tf := administrator(t)
	configs, at := example("drift-k", "drift-a"), paths("drift-k", "drift-a")
	token := map[string]any{
		"token_ttl": 1, "token_max_ttl": 2, "token_explicit_max_ttl": 3, "token_period": 4, "token_policies": []string{"evil"}, "token_bound_cidrs": []string{"192.0.2.1"},
		"token_no_default_policy": true, "token_num_uses": 5, "token_type": "service",
	}
	changes := map[string]map[string]any{
		kindPolicy: {"policy": "# other"},
		kindKubernetes: {
			"bound_service_account_names": []string{"a", "evil"}, "bound_service_account_namespaces": []string{"*"}, "audience": "x", "alias_name_source": "serviceaccount_name",
		},
		kindAppRole: {
			"bind_secret_id": false, "secret_id_bound_cidrs": []string{"192.0.2.0/24"}, "secret_id_num_uses": 6, "secret_id_ttl": 7, "role_id": "other",
		},
	}
	for kind, change := range changes {
		if kind != kindPolicy {
			for name, v := range token {
				change[name] = v
			}
		}
		config := configs[kind]
		if kind == kindAppRole {
			config["role_id"] = "mine"
		}
		state, err := tf.apply(kind, nil, config)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for name := range change {
			want = append(want, name)
		}
		slices.Sort(want)
		write(t, at[kind], change)

		drifted, err := tf.read(kind, state)
		if err != nil {
			t.Fatal(err)
		}
		p, err := tf.plan(kind, drifted, config)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, p.changes()); diff != "" {
			t.Errorf("%s: changes in the plan: -want, +got:\n%s", kind, diff)
		}
		if len(p.replace) > 0 {
			t.Errorf("%s: %v would make another", kind, p.replace)
		}
		settle(t, tf, kind, drifted, config, "What was changed by somebody else is put back.")
	}
}

// TestOtherSpelling holds that an address which somebody else spelled in another way is no change.
func TestOtherSpelling(t *testing.T) {
	defer enable(t, "spelling", "approle")()
	tf := administrator(t)
	config := object{"backend": "spelling", "name": "x", "secret_id_bound_cidrs": []string{"2001:db8::/32", "192.0.2.0/24"}}
	state := settle(t, tf, kindAppRole, nil, config, "Before.")
	write(t, "auth/spelling/role/x", map[string]any{"secret_id_bound_cidrs": []string{"192.0.2.0/24", "2001:DB8::/32"}})
	again, err := tf.read(kindAppRole, state)
	if diff := cmp.Diff(state, again); diff != "" || err != nil {
		t.Errorf("state after reading: %v, -want, +got:\n%s", err, diff)
	}
}

// TestAbsent holds that what is not there any more is made again, and that deleting it succeeds.
func TestAbsent(t *testing.T) {
	defer enable(t, "absent-k", "kubernetes")()
	defer enable(t, "absent-a", "approle")()
	tf := administrator(t)
	at := paths("absent-k", "absent-a")
	for kind, config := range example("absent-k", "absent-a") {
		state, err := tf.apply(kind, nil, config)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bao.Root().Logical().DeleteWithContext(t.Context(), at[kind]); err != nil {
			t.Fatal(err)
		}
		if again, err := tf.read(kind, state); err != nil || again != nil {
			t.Errorf("%s: want no state for what is not there, got %v, %v", kind, again, err)
		}
		if _, err := tf.importID(kind, state["id"].(string)); err != nil {
			t.Errorf("%s: an import of what is not there: %v", kind, err)
		}
		state = settle(t, tf, kind, nil, config, "What is gone is made again.")
		for _, what := range []string{"there", "not there any more"} {
			if left, err := tf.apply(kind, state, nil); err != nil || left != nil {
				t.Errorf("%s: delete what is %s: %v, %v", kind, what, left, err)
			}
		}
		if s, err := bao.Root().Logical().ReadWithContext(t.Context(), at[kind]); err != nil || s != nil {
			t.Errorf("%s: it is there after a deletion: %v", kind, err)
		}
	}
}

// TestMountGone holds that roles of a method that is not mounted any more are not taken for roles that are not there, and that they can be
// deleted.
func TestMountGone(t *testing.T) {
	disableK, disableA := enable(t, "gone-k", "kubernetes"), enable(t, "gone-a", "approle")
	tf := administrator(t)
	configs := example("gone-k", "gone-a")
	delete(configs, kindPolicy)
	states := map[string]object{}
	for kind, config := range configs {
		states[kind] = settle(t, tf, kind, nil, config, "Before.")
	}
	disableK()
	disableA()
	for kind, state := range states {
		if again, err := tf.read(kind, state); err == nil || again == nil {
			t.Errorf("%s: want an error and the state as it was, got %v, %v", kind, again, err)
		}
		if _, err := tf.apply(kind, nil, configs[kind]); err == nil {
			t.Errorf("%s: want an error when there is nothing to make a role in", kind)
		}
		if left, err := tf.apply(kind, state, nil); err != nil || left != nil {
			t.Errorf("%s: delete what is gone with its mount: %v, %v", kind, left, err)
		}
	}

	// Another method at the same path says of every role that it is not there.
	defer enable(t, "gone-k", "approle")()
	defer enable(t, "gone-a", "kubernetes")()
	tf = administrator(t)
	for kind, state := range states {
		if again, err := tf.read(kind, state); err == nil || again == nil {
			t.Errorf("%s: want an error and the state as it was with another method, got %v, %v", kind, again, err)
		}
		if _, err := tf.apply(kind, nil, configs[kind]); err == nil {
			t.Errorf("%s: a role was made in another method", kind)
		}
	}
}

// TestErrors holds that a server that denies, is sealed or is not there has neither lost nor taken anything.
func TestErrors(t *testing.T) {
	defer enable(t, "errors-k", "kubernetes")()
	defer enable(t, "errors-a", "approle")()
	configs := example("errors-k", "errors-a")
	states := map[string]object{}
	for kind, config := range configs {
		states[kind] = settle(t, administrator(t), kind, nil, config, "Before.")
	}
	check := func(t *testing.T, tf *terraform, want string) {
		t.Helper()
		for kind, state := range states {
			again, err := tf.read(kind, state)
			if diff := cmp.Diff(state, again); diff != "" {
				t.Errorf("%s: state after an error: -want, +got:\n%s", kind, diff)
			}
			change := object{"token_ttl": 5}
			if kind == kindPolicy {
				change = object{"policy": "# other"}
			}
			kept, uerr := tf.apply(kind, state, configs[kind].with(change))
			if diff := cmp.Diff(state, kept); diff != "" {
				t.Errorf("%s: state after a failed update: -want, +got:\n%s", kind, diff)
			}
			made, cerr := tf.apply(kind, nil, configs[kind])
			if made != nil {
				t.Errorf("%s: state after a failed creation: %v", kind, made)
			}
			left, derr := tf.apply(kind, state, nil)
			if diff := cmp.Diff(state, left); diff != "" {
				t.Errorf("%s: state after a failed deletion: -want, +got:\n%s", kind, diff)
			}
			for call, err := range map[string]error{"read": err, "update": uerr, "create": cerr, "delete": derr} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %s: want an error that says %q, got: %v", kind, call, want, err)
				}
			}
		}
	}

	t.Run("Denied", func(t *testing.T) { check(t, withToken(t, "unknown"), "permission denied") })
	t.Run("Unreachable", func(t *testing.T) {
		tf, err := serve(t, object{"address": "http://127.0.0.1:1", "token": "x"})
		if err != nil {
			t.Fatal(err)
		}
		check(t, tf, "cannot be reached")
	})
	t.Run("Sealed", func(t *testing.T) {
		tf := administrator(t)
		if err := bao.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := bao.Unseal(context.WithoutCancel(t.Context())); err != nil {
				t.Fatal(err)
			}
		}()
		check(t, tf, "sealed")
	})
	for kind, config := range configs {
		settle(t, administrator(t), kind, states[kind], config, "Afterwards.")
	}
}
