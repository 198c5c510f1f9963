// Package openbao proves on a real KV server what the controller of BaoSecrets decides: what it writes, what it leaves alone, and what it
// says. The controller is called as the reconciler calls it, with the token that the documented policy gives.
package openbao

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openbao/openbao/api/v2"

	server "github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

var (
	// bao is the server that all tests of this package use, each with records of its own.
	bao *server.Server
	// token has what package/install/openbao-policy.hcl gives, and no more.
	token string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "baosecret-test-")
	if err == nil {
		err = start(ctx, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer bao.Stop()
	code := m.Run()
	if code == 0 {
		_ = os.RemoveAll(dir)
	}
	return code
}

func start(ctx context.Context, dir string) error {
	binary, err := toolchain.Binary(ctx, toolchain.KVServer)
	if err != nil {
		return err
	}
	if bao, err = server.Start(ctx, server.Options{Dir: dir, Binary: binary}); err != nil {
		return err
	}
	policy, err := os.ReadFile(filepath.Join("..", "..", "..", "package", "install", "openbao-policy.hcl"))
	if err != nil {
		return err
	}
	if err := bao.Root().Sys().PutPolicyWithContext(ctx, "provider-terdut", string(policy)); err != nil {
		return err
	}
	s, err := bao.Root().Auth().Token().CreateOrphanWithContext(ctx, &api.TokenCreateRequest{Policies: []string{"provider-terdut"}})
	if err != nil {
		return err
	}
	token = s.Auth.ClientToken
	return nil
}

// admin sends a request as the administrator of the server, with a body of raw JSON, and returns the data of the answer, nil for not found.
func admin(t *testing.T, method, path, body string) map[string]json.RawMessage {
	t.Helper()
	r := bao.Root().NewRequest(method, "/v1/"+path)
	if name, query, ok := strings.Cut(path, "?version="); ok {
		r = bao.Root().NewRequest(method, "/v1/"+name)
		r.Params.Set("version", query)
	}
	r.BodyBytes = []byte(body)
	rsp, err := bao.Root().RawRequestWithContext(context.Background(), r) // The typed calls lose the exact numbers.
	if rsp != nil {
		defer rsp.Body.Close() // Only read from.
	}
	if rsp != nil && rsp.StatusCode == http.StatusNotFound {
		return nil
	}
	if err != nil {
		t.Fatalf("%s %s failed", method, path) // The error may repeat what was sent.
	}
	var a struct{ Data map[string]json.RawMessage }
	if rsp.StatusCode != http.StatusNoContent && json.NewDecoder(rsp.Body).Decode(&a) != nil {
		t.Fatalf("%s %s: the answer is not JSON", method, path)
	}
	return a.Data
}

// put a version by hand, as raw JSON.
func put(t *testing.T, path, data string) {
	t.Helper()
	admin(t, http.MethodPost, "kv/data/"+path, `{"data":`+data+`}`)
}

// A found record is what the server holds of it, as JSON.
type found struct {
	Version int
	Custom  map[string]string
	// Data of the current version by key. It must not be printed.
	Data map[string]string
}

// look at a record. It is nil when there is none.
func look(t *testing.T, path string) *found {
	t.Helper()
	m := admin(t, http.MethodGet, "kv/metadata/"+path, "")
	if m == nil {
		return nil
	}
	f := &found{Data: map[string]string{}}
	if json.Unmarshal(m["current_version"], &f.Version) != nil || json.Unmarshal(m["custom_metadata"], &f.Custom) != nil {
		t.Fatalf("metadata of %s is not what it should be", path)
	}
	var data map[string]json.RawMessage
	if d := admin(t, http.MethodGet, "kv/data/"+path, ""); d != nil && json.Unmarshal(d["data"], &data) != nil {
		t.Fatalf("data of %s is not what it should be", path)
	}
	for k, v := range data {
		f.Data[k] = string(v)
	}
	return f
}

// same fails unless a record is exactly what it was.
func same(t *testing.T, path string, was *found) {
	t.Helper()
	now := look(t, path)
	if now == nil || was == nil {
		t.Fatalf("record %s does not exist", path)
	}
	if now.Version != was.Version {
		t.Errorf("record %s is at version %d, it was at %d", path, now.Version, was.Version)
	}
	sameTags(t, path, was.Custom, now.Custom)
	for k := range was.Data {
		if now.Data[k] != was.Data[k] {
			t.Errorf("key %q of record %s is not what it was", k, path)
		}
	}
	if len(now.Data) != len(was.Data) {
		t.Errorf("record %s has %d keys, it had %d", path, len(now.Data), len(was.Data))
	}
}

func sameTags(t *testing.T, path string, was, now map[string]string) {
	t.Helper()
	if len(was) != len(now) {
		t.Errorf("record %s has %d tags, it had %d", path, len(now), len(was))
	}
	for k, v := range was {
		if now[k] != v {
			t.Errorf("tag %s of record %s is %q, it was %q", k, path, now[k], v)
		}
	}
}
