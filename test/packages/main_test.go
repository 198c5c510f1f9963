// Package packages proves the life of the packages on Crossplane's own package manager, on a control plane of its own: they are installed as
// they were when the Tenant first worked, upgraded and downgraded under objects that are in use, and taken away in each order.
//
// Where an order is the documented one, what is run are the commands of docs/install.md.
package packages

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// patience is how long anything may take on a machine that does other things too.
const patience = 5 * time.Minute

var (
	p *product.Product
	// then is what the plane begins with, now is this repository as it is.
	then, now product.Source
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var err error
	then, now, err = sources(ctx)
	if errors.Is(err, errNoHistory) {
		// Nothing is left to compare with, and nothing here is wrong.
		fmt.Fprintln(os.Stderr, "NOTHING WAS TESTED:", err)
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot get the packages:", err)
		return 1
	}
	dir, err := os.MkdirTemp("", "terdut-packages-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot create state folder:", err)
		return 1
	}
	p, err = product.Start(ctx, product.Options{
		Source: &then,
		Plane:  local.Options{Dir: dir, Keep: true, Progress: os.Stderr, Postgres: postgres.Options{TLS: true}},
		// Both providers know these flags.
		ProviderArgs: []string{"--poll-interval=2s", "--verify-interval=10s"},
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
