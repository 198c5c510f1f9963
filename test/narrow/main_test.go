// Package narrow proves, on a control plane of its own, the profile of docs/security.md in which the provider has rights in some namespaces
// only: it does its work there, cannot read what is elsewhere, and nothing else is bound to it, whatever Crossplane's RBAC manager wants.
package narrow

import (
	"os"
	"testing"
	"time"

	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/test/onplane"
)

const (
	// patience is how long anything may take on a machine that does other things too.
	patience = 4 * time.Minute
	// account of the provider, in Crossplane's namespace.
	account = "provider-terdut"
	user    = "system:serviceaccount:" + local.SystemNamespace + ":" + account
)

var p *product.Product

func TestMain(m *testing.M) {
	os.Exit(onplane.Tests{
		Name: "narrow", Started: func(started *product.Product) { p = started },
		Options: func(string) (product.Options, error) {
			// The namespaces of the page.
			return product.Options{
				ProviderArgs: []string{"--poll-interval=2s", "--watch-namespaces=shop,billing"},
				Flavour:      product.Flavour(os.Getenv("TERDUT_E2E_FLAVOUR")),
			}, nil
		},
	}.Run(m))
}
