// Package packages proves the life of the packages on Crossplane's own package manager, on a control plane of its own: they are installed as
// they were when the Tenant first worked, upgraded and downgraded under objects that are in use, and taken away in each order.
//
// Where an order is the documented one, what is run are the commands of docs/install.md.
package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/test/onplane"
)

// patience is how long anything may take on a machine that does other things too.
const patience = 5 * time.Minute

var (
	p *product.Product
	// then is what the plane begins with, now is this repository as it is.
	then, now product.Source
)

func TestMain(m *testing.M) {
	var err error
	then, now, err = sources(context.Background())
	switch {
	case errors.Is(err, errNoHistory):
		// Nothing is left to compare with, and nothing here is wrong.
		fmt.Fprintln(os.Stderr, "NOTHING WAS TESTED:", err)
		os.Exit(0)
	case err != nil:
		fmt.Fprintln(os.Stderr, "cannot get the packages:", err)
		os.Exit(1)
	}
	os.Exit(onplane.Tests{
		Name: "packages", Started: func(started *product.Product) { p = started },
		Options: func(string) (product.Options, error) {
			return product.Options{
				Source: &then,
				Plane:  local.Options{Postgres: postgres.Options{TLS: true}},
				// Both providers know these flags.
				ProviderArgs: []string{"--poll-interval=2s", "--verify-interval=10s"},
			}, nil
		},
	}.Run(m))
}
