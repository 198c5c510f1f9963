package openbao_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/openbao/openbao/api/v2"

	server "github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// bao is the server that all tests of this package use, each with policies and mounts of its own.
var bao *server.Server

func TestMain(m *testing.M) {
	os.Exit(func() int {
		ctx := context.Background()
		binary, err := toolchain.Binary(ctx, toolchain.KVServer)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		dir, err := os.MkdirTemp("", "terraform-openbao-test-")
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

// enable an authentication method, and return what takes it away again.
func enable(t *testing.T, mount, kind string) (disable func()) {
	t.Helper()
	if err := bao.Root().Sys().EnableAuthWithOptionsWithContext(t.Context(), mount, &api.EnableAuthOptions{Type: kind}); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := bao.Root().Sys().DisableAuthWithContext(t.Context(), mount); err != nil {
			t.Fatal(err)
		}
	}
}

// write to the server past the provider.
func write(t *testing.T, path string, data map[string]any) {
	t.Helper()
	if _, err := bao.Root().Logical().WriteWithContext(t.Context(), path, data); err != nil {
		t.Fatal(err)
	}
}

// administrator serves the provider with a token that may do everything.
func administrator(t *testing.T) *terraform {
	t.Helper()
	return withToken(t, bao.RootToken)
}

func withToken(t *testing.T, token string) *terraform {
	t.Helper()
	tf, err := serve(t, object{"address": bao.Address, "token": token})
	if err != nil {
		t.Fatal(err)
	}
	return tf
}
