// Package claims proves on a control plane of its own what is special where the kinds are claims, with composites of cluster scope behind them:
// the manifests of the examples become Ready as they are, data belongs to the claim whatever becomes of its composite, and a status never
// claims a generation of the claim that it is not about. The end-to-end tests run on claims too: TERDUT_E2E_FLAVOUR=claims.
package claims

import (
	"os"
	"testing"
	"time"

	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/test/onplane"
)

// patience is how long anything may take on a machine that does other things too.
const patience = 5 * time.Minute

var p *product.Product

func TestMain(m *testing.M) {
	os.Exit(onplane.Tests{
		Name: "claims", Parallel: 8, Started: func(started *product.Product) { p = started },
		Options: func(string) (product.Options, error) {
			return product.Options{ProviderArgs: []string{"--poll-interval=2s"}, Flavour: product.FlavourClaims}, nil
		},
	}.Run(m))
}
