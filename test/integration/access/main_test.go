// Package access proves on a real server what the controllers of the generated kinds decide: what they write, what they leave alone, and
// what they say. They are called as the reconciler calls them, with the token that the documented policies give.
package access

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/openbao/openbao/api/v2"

	server "github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

var (
	// bao is the server that all tests of this package use, each with names of its own.
	bao *server.Server
	// token has what the policies in package/install give, and no more.
	token string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "access-test-")
	if err == nil {
		err = start(context.Background(), dir)
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
	for path, method := range map[string]string{"kubernetes": "kubernetes", "approle": "approle", "ma/chines": "approle"} {
		if err := bao.Root().Sys().EnableAuthWithOptionsWithContext(ctx, path, &api.EnableAuthOptions{Type: method}); err != nil {
			return err
		}
	}
	var names []string
	for _, name := range []string{"openbao-policy", "openbao-access-policy"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "package", "install", name+".hcl"))
		if err != nil {
			return err
		}
		if err := bao.Root().Sys().PutPolicyWithContext(ctx, name, string(text)); err != nil {
			return err
		}
		names = append(names, name)
	}
	// The documented policy is for methods that are mounted where they usually are.
	elsewhere := `path "auth/ma/chines/role/terdut.*" { capabilities = ["create", "read", "update", "delete"] }`
	if err := bao.Root().Sys().PutPolicyWithContext(ctx, "elsewhere", elsewhere); err != nil {
		return err
	}
	names = append(names, "elsewhere")
	s, err := bao.Root().Auth().Token().CreateOrphanWithContext(ctx, &api.TokenCreateRequest{Policies: names})
	if err != nil {
		return err
	}
	token = s.Auth.ClientToken
	return nil
}
