// Package main is function-secretcontract, the composition function that has a SecretContract checked.
package main

import (
	"runtime/debug"

	"fmt"

	"github.com/alecthomas/kong"

	function "github.com/crossplane/function-sdk-go"
)

// CLI of this function.
type CLI struct {
	Debug bool `help:"Emit debug logs in addition to info logs." short:"d"`

	Network            string `default:"tcp"   help:"Network to listen for gRPC connections on."`
	Address            string `default:":9443" help:"Address to listen for gRPC connections at."`
	MetricsAddress     string `default:":8080" env:"METRICS_ADDRESS" help:"Address to serve Prometheus metrics at. Empty serves none."`
	TLSServerCertsDir  string `env:"TLS_SERVER_CERTS_DIR" help:"Directory with the server's certificate and key (tls.crt, tls.key) and the CA that verifies clients (ca.crt)."`
	Insecure           bool   `help:"Serve without mTLS. With this flag --tls-server-certs-dir is ignored."`
	MaxRecvMessageSize int    `default:"4"     help:"Largest request that is accepted, in MiB."`
}

// Run this function until it fails.
func (c *CLI) Run() error {
	log, err := function.NewLogger(c.Debug)
	if err != nil {
		return fmt.Errorf("cannot create logger: %w", err)
	}
	certs := function.MTLSCertificates(c.TLSServerCertsDir)
	if c.Insecure {
		certs = function.Insecure(true)
	}
	return function.Serve(&Function{log: log},
		function.Listen(c.Network, c.Address),
		certs,
		function.MaxRecvMessageSize(c.MaxRecvMessageSize*1024*1024),
		function.WithMetricsServer(c.MetricsAddress))
}

// gcPercent lets garbage grow to four times what is in use before it is collected. What is in use is a few megabytes, and collecting it
// often is most of what the slowest calls wait for.
const gcPercent = 400

func main() {
	debug.SetGCPercent(gcPercent)
	ctx := kong.Parse(&CLI{}, kong.Description("A composition function that composes SecretContracts."))
	ctx.FatalIfErrorf(ctx.Run())
}
