// Package e2e proves on a local control plane, with a real Crossplane, PostgreSQL, OpenBao-compatible server and External Secrets, what
// people see of the product: they apply manifests, and look at conditions, Secrets and the servers.
//
// All tests share one control plane, each in namespaces of its own. The plane is as a user's: Crossplane with its default flags, the
// provider with its own ServiceAccount and the roles of the install manifest, PostgreSQL with a management role that is no superuser.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// poll is how often the provider of the tests looks at an unchanged resource. At rest is judged over ten of them.
const poll = "2s"

// flavour of the product that is tested. The tests are the same.
var flavour = product.Flavour(os.Getenv("TERDUT_E2E_FLAVOUR"))

// p is the product that all tests use.
var p *product.Product

func TestMain(m *testing.M) { os.Exit(run(m)) }

// together is how many parallel tests run at a time. They wait for the plane most of the time.
const together = "8"

func run(m *testing.M) int {
	flag.Parse()
	if err := flag.Set("test.parallel", together); err != nil {
		fmt.Fprintln(os.Stderr, "cannot set flag:", err)
		return 1
	}
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	dir, err := os.MkdirTemp("", "terdut-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot create state folder:", err)
		return 1
	}
	p, err = product.Start(ctx, product.Options{
		Plane: local.Options{
			Dir: dir, Keep: true, Progress: os.Stderr,
			// Every statement is logged: no password may be in one.
			Postgres: postgres.Options{TLS: true, Conf: map[string]string{"log_statement": "all"}},
		},
		ProviderArgs: []string{"--debug", "--poll-interval=" + poll, "--verify-interval=10s", "--contract-metrics", "--state-metrics-every=5s"},
		FunctionArgs: []string{"--debug"},
		Flavour:      flavour,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot start the product:", err)
		return 1
	}
	defer p.Stop()
	// From here on an interrupt ends the tests at once, and every process of the plane with them.
	stop()

	code := m.Run()
	if code == 0 {
		_ = os.RemoveAll(dir)
	} else {
		fmt.Fprintln(os.Stderr, "logs are in", p.Plane.Logs)
	}
	return code
}
