package openbao_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openbao/openbao/api/v2"

	server "github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// bao is the server that all tests of this package use, each with records of its own.
var bao *server.Server

func TestMain(m *testing.M) {
	os.Exit(func() int {
		ctx := context.Background()
		binary, err := toolchain.Binary(ctx, toolchain.KVServer)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		dir, err := os.MkdirTemp("", "openbao-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if bao, err = server.Start(ctx, server.Options{Dir: dir, Binary: binary}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer bao.Stop()
		code := m.Run()
		if code == 0 {
			_ = os.RemoveAll(dir)
		}
		return code
	}())
}

// calls counts requests by operation.
type calls struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *calls) add(call openbao.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[call.Operation]++
}

func (c *calls) of(operation string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[operation]
}

// newClient returns a client of the server, and what counts its calls.
func newClient(t *testing.T, auth openbao.Auth, mods ...func(*openbao.Config)) (*openbao.Client, *calls) {
	t.Helper()
	n := &calls{}
	cfg := openbao.Config{Address: bao.Address, Auth: auth, OnCall: n.add}
	for _, m := range mods {
		m(&cfg)
	}
	c, err := openbao.New(cfg)
	if err != nil {
		t.Fatalf("New(...): %v", err)
	}
	return c, n
}

func rootClient(t *testing.T) *openbao.Client {
	t.Helper()
	c, _ := newClient(t, openbao.Auth{Token: bao.RootToken})
	return c
}

// policy makes a policy named after the test.
func policy(t *testing.T, rules string) string {
	t.Helper()
	name := strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
	if err := bao.Root().Sys().PutPolicyWithContext(t.Context(), name, rules); err != nil {
		t.Fatal(err)
	}
	return name
}

// tokenWith returns a token that has a policy of the given rules.
func tokenWith(t *testing.T, rules string) string {
	t.Helper()
	s, err := bao.Root().Auth().Token().CreateWithContext(t.Context(), &api.TokenCreateRequest{Policies: []string{policy(t, rules)}})
	if err != nil {
		t.Fatal(err)
	}
	return s.Auth.ClientToken
}

// admin sends a request as the administrator of the server.
func admin(t *testing.T, method, path string, body map[string]any) *api.Secret {
	t.Helper()
	r := bao.Root().NewRequest(method, "/v1/"+path)
	if body != nil {
		if err := r.SetJSONBody(body); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := bao.Root().RawRequestWithContext(t.Context(), r) // The typed calls escape paths in their own way.
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close() // Only read from.
	if resp.StatusCode == 204 {
		return nil
	}
	s, err := api.ParseSecret(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// until calls step until it returns true, and fails the test when that takes too long.
func until(t *testing.T, step func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !step() {
		if time.Now().After(deadline) {
			t.Fatal("the condition was not met in time")
		}
		<-tick.C
	}
}
