// Command openbao is the key-value server of the local control plane.
//
// It serves the HTTP API that OpenBao has kept from the code it was forked from, with storage in memory: the key-value secrets engine
// and the AppRole, Kubernetes and token authentication methods. It starts uninitialised and sealed, as a real server does, so that
// whoever starts it initialises and unseals it over HTTP.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	kubernetes "github.com/hashicorp/vault-plugin-auth-kubernetes"
	kv "github.com/hashicorp/vault-plugin-secrets-kv"
	"github.com/hashicorp/vault/builtin/credential/approle"
	vaulthttp "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/sdk/helper/logging"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/inmem"
	"github.com/hashicorp/vault/vault"
)

// stopTimeout is how long requests in flight may take once the server was asked to stop.
const stopTimeout = 2 * time.Second

func main() {
	address := flag.String("address", "127.0.0.1:8200", "host:port to serve on")
	cert := flag.String("tls-cert-file", "", "PEM certificate chain; serves plain HTTP when empty")
	key := flag.String("tls-private-key-file", "", "PEM private key of the certificate")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx, *address, *cert, *key); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve the API until the context ends.
func serve(ctx context.Context, address, cert, key string) error {
	core, err := newCore()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	s := &http.Server{
		Handler:           vaulthttp.Handler.Handler(&vault.HandlerProperties{Core: core}),
		ReadHeaderTimeout: 10 * time.Second,
	}

	ended := make(chan error, 1)
	go func() {
		if cert != "" {
			ended <- s.ServeTLS(l, cert, key)
			return
		}
		ended <- s.Serve(l)
	}()

	select {
	case err = <-ended:
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		err = s.Shutdown(grace)
	}
	if serr := core.Shutdown(); serr != nil {
		err = errors.Join(err, serr)
	}
	if err != nil {
		return fmt.Errorf("cannot serve: %w", err)
	}
	return nil
}

// newCore returns an uninitialised server core that keeps everything in memory.
func newCore() (*vault.Core, error) {
	logger := logging.NewVaultLoggerWithWriter(os.Stderr, hclog.Info)
	storage, err := inmem.NewInmem(nil, logger.Named("storage"))
	if err != nil {
		return nil, fmt.Errorf("cannot create storage: %w", err)
	}
	core, err := vault.NewCore(&vault.CoreConfig{
		Physical:           storage,
		StorageType:        "inmem",
		Logger:             logger,
		DisableMlock:       true,
		BuiltinRegistry:    builtins{},
		LogicalBackends:    map[string]logical.Factory{"kv": kv.Factory},
		CredentialBackends: map[string]logical.Factory{"approle": approle.Factory, "kubernetes": kubernetes.Factory},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot create core: %w", err)
	}
	return core, nil
}
