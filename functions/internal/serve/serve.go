// Package serve is the command line of the composition functions, and how they are served.
package serve

import (
	"fmt"
	"runtime/debug"

	"github.com/alecthomas/kong"

	function "github.com/crossplane/function-sdk-go"
	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// gcPercent lets garbage grow to four times what is in use before it is collected. What is in use is a few megabytes, and collecting it
// often is most of what the slowest calls wait for.
const gcPercent = 400

type cli struct {
	Debug bool `help:"Emit debug logs in addition to info logs." short:"d"`

	Network            string `default:"tcp"   help:"Network to listen for gRPC connections on."`
	Address            string `default:":9443" help:"Address to listen for gRPC connections at."`
	MetricsAddress     string `default:":8080" env:"METRICS_ADDRESS" help:"Address to serve Prometheus metrics at. Empty serves none."`
	TLSServerCertsDir  string `env:"TLS_SERVER_CERTS_DIR" help:"Directory with the server's certificate and key (tls.crt, tls.key) and the CA that verifies clients (ca.crt)."`
	Insecure           bool   `help:"Serve without mTLS. With this flag --tls-server-certs-dir is ignored."`
	MaxRecvMessageSize int    `default:"4"     help:"Largest request that is accepted, in MiB."`
}

// Main serves a function until that fails, which ends the process. The description is of the command.
func Main(description string, newFunction func(logging.Logger) fnv1.FunctionRunnerServiceServer) {
	debug.SetGCPercent(gcPercent)
	c := &cli{}
	k := kong.Parse(c, kong.Description(description))
	k.FatalIfErrorf(c.serve(newFunction))
}

func (c *cli) serve(newFunction func(logging.Logger) fnv1.FunctionRunnerServiceServer) error {
	log, err := function.NewLogger(c.Debug)
	if err != nil {
		return fmt.Errorf("cannot create logger: %w", err)
	}
	certs := function.MTLSCertificates(c.TLSServerCertsDir)
	if c.Insecure {
		certs = function.Insecure(true)
	}
	return function.Serve(newFunction(log),
		function.Listen(c.Network, c.Address),
		certs,
		function.MaxRecvMessageSize(c.MaxRecvMessageSize*1024*1024),
		function.WithMetricsServer(c.MetricsAddress))
}
