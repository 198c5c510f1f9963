package openbao

import (
	"os"
	"strings"
	"testing"

	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// TestServer holds that servers run side by side, can be sealed and unsealed, and are gone when stopped.
func TestServer(t *testing.T) {
	ctx := t.Context()
	binary, err := toolchain.Binary(ctx, toolchain.KVServer)
	if err != nil {
		t.Fatal(err)
	}
	var servers []*Server
	for range 2 {
		s, err := Start(ctx, Options{Dir: t.TempDir(), Binary: binary})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Stop)
		servers = append(servers, s)
	}
	s := servers[0]
	if s.Address == servers[1].Address {
		t.Fatal("two servers have the same address")
	}

	data := map[string]any{"data": map[string]any{"k": "v"}}
	if _, err := s.Root().Logical().WriteWithContext(ctx, Mount+"/data/x", data); err != nil {
		t.Errorf("cannot write after start: %v", err)
	}
	if err := s.Seal(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Root().Logical().ReadWithContext(ctx, Mount+"/data/x"); err == nil {
		t.Error("a sealed server answers")
	}
	if err := s.Unseal(ctx); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Root().Logical().ReadWithContext(ctx, Mount+"/data/x"); err != nil || got == nil {
		t.Errorf("cannot read after unsealing: %v", err)
	}

	s.Stop()
	if _, err := s.Root().Sys().HealthWithContext(ctx); err == nil {
		t.Error("a stopped server answers")
	}
	log, err := os.ReadFile(s.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(log), s.RootToken) || strings.Contains(string(log), s.UnsealKey) {
		t.Error("the log holds a credential")
	}
}

// TestStartFails holds that a server that ends before it is ready is an error that names its log.
func TestStartFails(t *testing.T) {
	_, err := Start(t.Context(), Options{Dir: t.TempDir(), Binary: "/bin/false"})
	if err == nil || !strings.Contains(err.Error(), "openbao.log") {
		t.Errorf("Start(...): want an error that names the log, got: %v", err)
	}
}
