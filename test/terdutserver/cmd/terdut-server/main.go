// Command terdut-server runs the stand-in for terdut-server as a process, with the environment variables of the real one:
//
//	TERDUT_LISTEN_ADDR   address to listen on; default :8080
//	TERDUT_BASE_URL      what URLs of integrations start with
//	TERDUT_DATABASE_DSN  PostgreSQL database; default: the state ends with the process
//	PGPASSWORD           password for it
//	TERDUT_CONTROL_ADDR  the stand-in's own: where its control handler listens; default: nowhere
//
// Other settings of the real server are accepted and do nothing. It ends with SIGINT or SIGTERM.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "terdut-server:", err)
		stop()
		os.Exit(1) //nolint:gocritic // What is deferred was called.
	}
}

func run(ctx context.Context) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	o := terdutserver.Options{
		Addr:        os.Getenv("TERDUT_LISTEN_ADDR"),
		BaseURL:     os.Getenv("TERDUT_BASE_URL"),
		DatabaseDSN: os.Getenv("TERDUT_DATABASE_DSN"),
		Log:         log,
	}
	if o.Addr == "" {
		o.Addr = ":8080"
	}
	s, err := terdutserver.Start(o)
	if err != nil {
		return err
	}
	defer s.Close()
	if addr := os.Getenv("TERDUT_CONTROL_ADDR"); addr != "" {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return fmt.Errorf("cannot listen on %q: %w", addr, err)
		}
		c := &http.Server{Handler: s.Control(), ReadHeaderTimeout: 10 * time.Second}
		defer c.Close()
		go func() { _ = c.Serve(l) }()
	}
	log.Info("Listening", "url", s.URL())
	<-ctx.Done()
	return nil
}
