// Command function answers every request by writing a greeting to the composite resource.
package main

import (
	"context"

	"github.com/alecthomas/kong"

	"github.com/crossplane/function-sdk-go"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/request"
	"github.com/crossplane/function-sdk-go/response"
)

type greeter struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
}

// RunFunction writes the greeting.
func (greeter) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, response.DefaultTTL)
	xr, err := request.GetObservedCompositeResource(req)
	if err != nil {
		response.Fatal(rsp, err)
		return rsp, nil
	}
	who, err := xr.Resource.GetString("spec.name")
	if err != nil {
		response.Fatal(rsp, err)
		return rsp, nil
	}
	desired, err := request.GetDesiredCompositeResource(req)
	if err != nil {
		response.Fatal(rsp, err)
		return rsp, nil
	}
	if err := desired.Resource.SetString("status.greeting", "hello "+who); err != nil {
		response.Fatal(rsp, err)
		return rsp, nil
	}
	if err := response.SetDesiredCompositeResource(rsp, desired); err != nil {
		response.Fatal(rsp, err)
	}
	return rsp, nil
}

func main() {
	var cli struct {
		Address        string `default:":9443"`
		MetricsAddress string `env:"METRICS_ADDRESS"`
		Certs          string `env:"TLS_SERVER_CERTS_DIR"`
	}
	ctx := kong.Parse(&cli)
	ctx.FatalIfErrorf(function.Serve(greeter{},
		function.Listen("tcp", cli.Address),
		function.MTLSCertificates(cli.Certs),
		function.WithMetricsServer(cli.MetricsAddress)))
}
