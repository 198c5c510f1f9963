// Package openbao starts the key-value server of the local control plane, which speaks OpenBao's API and keeps everything in memory.
package openbao

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/openbao/openbao/api/v2"

	"github.com/ryuvia/provider-terdut/cluster/local/process"
)

const (
	// Mount of the KV version 2 engine that a started server has.
	Mount = "kv"

	startTimeout = 30 * time.Second
	stopGrace    = 5 * time.Second
)

// Options of a server.
type Options struct {
	// Dir receives the server's log, openbao.log.
	Dir string
	// Binary is the executable, see toolchain.KVServer.
	Binary string
	// Port of the loopback interface. 0 chooses a free one.
	Port int
}

// A Server that runs, initialised and unsealed.
type Server struct {
	// Address is the server's URL.
	Address string
	// RootToken may do everything.
	RootToken string
	// UnsealKey is the only key share.
	UnsealKey string

	process *process.Process
	root    *api.Client
}

// Start a server, initialise and unseal it, and mount a KV version 2 engine at Mount. The context bounds the start alone.
func Start(ctx context.Context, o Options) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()

	port := o.Port
	if port == 0 {
		var err error
		if port, err = process.FreePort(); err != nil {
			return nil, err
		}
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	p, err := process.Start(process.Spec{
		Name:    "openbao",
		Path:    o.Binary,
		Args:    []string{"--address=" + address},
		LogFile: filepath.Join(o.Dir, "openbao.log"),
	})
	if err != nil {
		return nil, err
	}
	s := &Server{Address: "http://" + address, process: p}
	if err := s.prepare(ctx); err != nil {
		p.Kill()
		return nil, err
	}
	return s, nil
}

// prepare makes a server that was just started usable.
func (s *Server) prepare(ctx context.Context) error {
	cfg := api.NewConfig()
	cfg.Address = s.Address
	cfg.MaxRetries = 0
	var err error
	if s.root, err = api.NewClient(cfg); err != nil {
		return fmt.Errorf("cannot create client: %w", err)
	}
	if err := s.process.Wait(ctx, func(ctx context.Context) error {
		_, err := s.root.Sys().InitStatusWithContext(ctx)
		return err
	}); err != nil {
		return err
	}

	init, err := s.root.Sys().InitWithContext(ctx, &api.InitRequest{SecretShares: 1, SecretThreshold: 1})
	if err != nil {
		return fmt.Errorf("cannot initialise openbao: %w", err)
	}
	s.RootToken, s.UnsealKey = init.RootToken, init.KeysB64[0]
	s.root.SetToken(s.RootToken)
	if err := s.Unseal(ctx); err != nil {
		return err
	}
	return s.MountKV(ctx, Mount, 2)
}

// Root returns a client that may do everything.
func (s *Server) Root() *api.Client { return s.root }

// LogFile of the server.
func (s *Server) LogFile() string { return s.process.LogFile() }

// MountKV mounts a key-value engine of version 1 or 2 and waits until it can be used.
func (s *Server) MountKV(ctx context.Context, path string, version int) error {
	in := &api.MountInput{Type: "kv", Options: map[string]string{"version": strconv.Itoa(version)}}
	if err := s.root.Sys().MountWithContext(ctx, path, in); err != nil {
		return fmt.Errorf("cannot mount kv at %q: %w", path, err)
	}
	if version == 1 {
		return nil
	}
	// A new engine of version 2 refuses requests while it prepares its storage.
	return s.process.Wait(ctx, func(ctx context.Context) error {
		_, err := s.root.Logical().ReadWithContext(ctx, path+"/config")
		return err
	})
}

// Seal the server: it forgets its key and refuses all but a few calls.
func (s *Server) Seal(ctx context.Context) error {
	if err := s.root.Sys().SealWithContext(ctx); err != nil {
		return fmt.Errorf("cannot seal openbao: %w", err)
	}
	return nil
}

// Unseal the server and wait until it can be used.
func (s *Server) Unseal(ctx context.Context) error {
	status, err := s.root.Sys().UnsealWithContext(ctx, s.UnsealKey)
	if err != nil {
		return fmt.Errorf("cannot unseal openbao: %w", err)
	}
	if status.Sealed {
		return errors.New("openbao is still sealed")
	}
	return s.process.Wait(ctx, func(ctx context.Context) error {
		h, err := s.root.Sys().HealthWithContext(ctx)
		if err != nil {
			return err
		}
		if h.Sealed || h.Standby {
			return errors.New("openbao is not active yet")
		}
		return nil
	})
}

// Stop the server. What it held is gone.
func (s *Server) Stop() { s.process.Stop(stopGrace) }
