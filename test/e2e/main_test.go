// Package e2e proves on a local control plane, with a real Crossplane, PostgreSQL, OpenBao-compatible server and External Secrets, what
// people see of the product: they apply manifests, and look at conditions, Secrets and the servers.
//
// All tests share one control plane, each in namespaces of its own. The plane is as a user's: Crossplane with its default flags, the
// provider with its own ServiceAccount and the roles of the install manifest, PostgreSQL with a management role that is no superuser.
package e2e

import (
	"os"
	"testing"

	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/test/onplane"
)

// poll is how often the provider of the tests looks at an unchanged resource. At rest is judged over ten of them.
const poll = "2s"

// flavour of the product that is tested. The tests are the same.
var flavour = product.Flavour(os.Getenv("TERDUT_E2E_FLAVOUR"))

// p is the product that all tests use.
var p *product.Product

func TestMain(m *testing.M) {
	os.Exit(onplane.Tests{
		Name: "e2e", Parallel: 8, Started: func(started *product.Product) { p = started },
		Options: func(string) (product.Options, error) {
			return product.Options{
				// Every statement is logged: no password may be in one.
				Plane:        local.Options{Postgres: postgres.Options{TLS: true, Conf: map[string]string{"log_statement": "all"}}},
				ProviderArgs: []string{"--debug", "--poll-interval=" + poll, "--verify-interval=10s", "--contract-metrics", "--state-metrics-every=5s"},
				FunctionArgs: []string{"--debug"},
				Flavour:      flavour,
			}, nil
		},
	}.Run(m))
}
