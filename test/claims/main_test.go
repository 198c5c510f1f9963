// Package claims proves on a control plane of its own what is special where the kinds are claims, with composites of cluster scope behind them:
// the manifests of the examples become Ready as they are, data belongs to the claim whatever becomes of its composite, and a status never
// claims a generation of the claim that it is not about. The end-to-end tests run on claims too: TERDUT_E2E_FLAVOUR=claims.
package claims

import (
	"context"
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
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// patience is how long anything may take on a machine that does other things too.
const patience = 5 * time.Minute

var p *product.Product

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	// They wait for the plane most of the time.
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, "cannot set flag:", err)
		return 1
	}
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "terdut-claims-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot create state folder:", err)
		return 1
	}
	p, err = product.Start(ctx, product.Options{
		Plane:        local.Options{Dir: dir, Keep: true, Progress: os.Stderr},
		ProviderArgs: []string{"--poll-interval=2s"},
		Flavour:      product.FlavourClaims,
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
