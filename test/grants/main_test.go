// Package grants proves what must hold where not everybody is trusted, on a control plane of its own: the authors of contracts
// (--secret-authorization=grants), where what the provider reads of Secrets is taken from the API server's audit log, and who reaches its
// metrics (--metrics-secure). There the provider also runs as one of several (--leader-election).
package grants

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/test/onplane"
)

const (
	// patience is how long anything may take on a machine that does other things too.
	patience = 4 * time.Minute
	// providerUser is the provider to the API server.
	providerUser = "system:serviceaccount:" + local.SystemNamespace + ":provider-terdut"
)

// auditPolicy logs what the provider asks of Secrets: answers to lists whole, of which the kind matters, and of the rest who and what.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  users: ["` + providerUser + `"]
  verbs: [list]
  resources: [{group: "", resources: [secrets]}]
- level: Metadata
  users: ["` + providerUser + `"]
  resources: [{group: "", resources: [secrets]}]
- level: None
`

var (
	p        *product.Product
	auditLog string
	// certificates is the folder that Crossplane gives the provider with a certificate of its own authority, in a cluster /tls/server.
	certificates string
)

func TestMain(m *testing.M) {
	os.Exit(onplane.Tests{Name: "grants", Options: options, Started: func(started *product.Product) { p = started }}.Run(m))
}

func options(dir string) (product.Options, error) {
	plane, policy := filepath.Join(dir, "plane"), filepath.Join(dir, "audit.yaml")
	certificates = filepath.Join(plane, "packages", "tls", "ryuvia-provider-terdut-tls-server")
	auditLog = filepath.Join(dir, "audit.log")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return product.Options{}, fmt.Errorf("cannot write audit policy: %w", err)
	}
	return product.Options{
		Plane: local.Options{
			Dir:           plane,
			APIServerArgs: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + auditLog, "--audit-log-mode=blocking"},
		},
		ProviderArgs: []string{
			"--poll-interval=2s", "--secret-authorization=grants", "--contract-metrics", "--leader-election",
			"--metrics-secure", "--metrics-cert-dir=" + certificates,
		},
	}, nil
}
