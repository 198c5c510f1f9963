package openbao_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/terraform/openbao"
)

// TestConfigure holds that a configuration that cannot work is refused without its token.
func TestConfigure(t *testing.T) {
	const sentinel = "S3ntinel-Value"
	for name, tc := range map[string]struct {
		reason string
		config object
		want   string
	}{
		"Nothing":   {"There must be a server.", object{}, "address"},
		"NoAddress": {"There must be an address.", object{"token": sentinel}, "address"},
		"NoToken":   {"There must be a token.", object{"address": "https://bao"}, "authentication"},
		"NoCA":      {"Certificates must be some.", object{"address": "https://bao", "token": sentinel, "ca_cert": sentinel}, "CA bundle"},
		"User":      {"An address has no credential.", object{"address": "https://u:" + sentinel + "@bao", "token": sentinel}, "address"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := serve(t, tc.config)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("\n%s\nwant an error about %q, got another or none", tc.reason, tc.want)
			}
			if strings.Contains(err.Error(), sentinel) {
				t.Errorf("\n%s\nthe error holds the token", tc.reason)
			}
		})
	}
}

// recorder is a client that refuses writes, as one would that knows who owns what.
type recorder struct {
	openbao.API
	policies map[string]string
}

var errForeign = errors.New("it belongs to somebody else")

func (r recorder) ReadPolicy(_ context.Context, name string) (string, error) {
	return r.policies[name], nil
}

func (r recorder) WritePolicy(context.Context, string, string) error { return errForeign }

// TestWithAPI holds that resources use the client that they are given and nothing else, and pass on what it says.
func TestWithAPI(t *testing.T) {
	tf, err := serve(t, object{}, openbao.WithAPI(recorder{policies: map[string]string{"x": "# theirs"}}))
	if err != nil {
		t.Fatal(err)
	}
	state, err := tf.apply(kindPolicy, nil, object{"name": "x", "policy": "# ours"})
	if err == nil || !strings.Contains(err.Error(), errForeign.Error()) || state != nil {
		t.Errorf("want the client's refusal and no state, got %v, %v", state, err)
	}
	state, err = tf.read(kindPolicy, object{"id": "x"})
	if diff := cmp.Diff(object{"id": "x", "name": "x", "policy": "# theirs"}, state); diff != "" || err != nil {
		t.Errorf("state of what was read by its id: %v, -want, +got:\n%s", err, diff)
	}
	// A server that trims policies has not changed them.
	spaced := object{"id": "x", "name": "x", "policy": "\n  # theirs\n"}
	state, err = tf.read(kindPolicy, spaced)
	if diff := cmp.Diff(spaced, state); diff != "" || err != nil {
		t.Errorf("state of a policy that differs in white space: %v, -want, +got:\n%s", err, diff)
	}
}

// halfAppRole is a client that writes roles and cannot read them.
type halfAppRole struct{ openbao.API }

func (halfAppRole) ReadAppRoleRole(context.Context, string, string) (*client.AppRoleRole, error) {
	return nil, errForeign
}

func (halfAppRole) WriteAppRoleRole(context.Context, string, string, client.AppRoleRole) error {
	return nil
}

// TestRoleID holds that a role id is the server's choice until one is chosen, that it then stays, and that a role whose id could not be read
// was made all the same.
func TestRoleID(t *testing.T) {
	defer enable(t, "role-id", "approle")()
	tf := administrator(t)
	config := object{"backend": "role-id", "name": "x"}
	state := settle(t, tf, kindAppRole, nil, config, "No role id.")
	chosenByServer := state["role_id"]
	if chosenByServer == "" {
		t.Error("there is no role id")
	}
	p, err := tf.plan(kindAppRole, state, config.with(object{"token_ttl": 5}))
	if diff := cmp.Diff([]string{"token_ttl"}, p.changes()); diff != "" || err != nil {
		t.Errorf("changes in the plan: %v, -want, +got:\n%s", err, diff)
	}
	state = settle(t, tf, kindAppRole, state, config.with(object{"token_ttl": 5}), "Another setting.")
	if state["role_id"] != chosenByServer {
		t.Error("the role id changed with another setting")
	}
	state = settle(t, tf, kindAppRole, state, config.with(object{"role_id": "chosen"}), "A chosen role id.")
	state = settle(t, tf, kindAppRole, state, config, "Not chosen any more.")
	if state["role_id"] != "chosen" {
		t.Errorf("the role id did not stay: %v", state["role_id"])
	}
	if _, err := tf.apply(kindAppRole, nil, object{"backend": "role-id", "name": "y", "role_id": "chosen"}); err == nil || !strings.Contains(err.Error(), "already in use") {
		t.Errorf("want an error about a role id that another role has, got: %v", err)
	}

	// A secret id that was made is not part of the state.
	write(t, "auth/role-id/role/x/custom-secret-id", map[string]any{"secret_id": "S3ntinel-Value"})
	state, err = tf.read(kindAppRole, state)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(state)
	if err != nil || strings.Contains(string(b), "S3ntinel") {
		t.Errorf("the state has a secret: %v", err)
	}

	half, err := serve(t, object{}, openbao.WithAPI(halfAppRole{}))
	if err != nil {
		t.Fatal(err)
	}
	made, err := half.apply(kindAppRole, nil, config)
	if err != nil || made["id"] != "role-id/x" || made["role_id"] != nil {
		t.Errorf("want a role without a role id in the state, got %v, %v", made, err)
	}
	state, err = tf.read(kindAppRole, made)
	if err != nil || state["role_id"] != "chosen" {
		t.Errorf("want the role id with the next read, got %v, %v", state, err)
	}
}

// TestReplace holds that another name and another backend make another resource, and nothing else does.
func TestReplace(t *testing.T) {
	tf := administrator(t)
	for kind, config := range example("replace-k", "replace-a") {
		state := config.with(object{"id": "x"})
		if kind != kindPolicy {
			state = state.with(object{"id": config["backend"].(string) + "/x"})
		}
		for _, name := range []string{"name", "backend"} {
			if kind == kindPolicy && name == "backend" {
				continue
			}
			p, err := tf.plan(kind, state, config.with(object{name: "other"}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{name}, p.replace); diff != "" {
				t.Errorf("%s: attributes that make another: -want, +got:\n%s", kind, diff)
			}
		}
	}
}

// TestImport holds that roles are found by backend and name, also where the backend has slashes, and that other ids are refused.
func TestImport(t *testing.T) {
	defer enable(t, "import/west", "kubernetes")()
	tf := administrator(t)
	config := object{
		"backend": "import/west", "name": "x.y", "bound_service_account_names": []string{"b", "a"}, "bound_service_account_namespaces": []string{"n"},
		"token_policies": []string{"p"}, "audience": "z",
	}
	state := settle(t, tf, kindKubernetes, nil, config, "Before.")
	imported, err := tf.importID(kindKubernetes, "import/west/x.y")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(state, imported); diff != "" {
		t.Errorf("state after an import: -want, +got:\n%s", diff)
	}
	for _, kind := range []string{kindKubernetes, kindAppRole} {
		for _, id := range []string{"x", "/x", "import/west/", "import/west/X", "../sys/x", "a//b"} {
			if got, err := tf.importID(kind, id); err == nil {
				t.Errorf("%s: import of %q: want an error, got %v", kind, id, got)
			}
		}
	}
	for _, id := range []string{"root", "default", "X", "a/b", " a"} {
		if got, err := tf.importID(kindPolicy, id); err == nil {
			t.Errorf("%s: import of %q: want an error, got %v", kindPolicy, id, got)
		}
	}
}
