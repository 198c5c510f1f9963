// Command floor is a composition function that does the least that an answer takes: the composite's status says what is observed in the one
// object that it composes. What Crossplane and the API server need for that is the floor below every figure of the bench.
package main

import (
	"context"
	"time"

	"github.com/alecthomas/kong"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane/function-sdk-go"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
)

// ttl is long enough for Crossplane not to ask again while something is measured.
const ttl = time.Hour

type floor struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
}

// RunFunction composes a ConfigMap, whose data somebody else writes, and takes a value over from it.
func (floor) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, ttl)
	object, err := structpb.NewStruct(map[string]any{"apiVersion": "v1", "kind": "ConfigMap"})
	if err != nil {
		return nil, err
	}
	status := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	if v, ok := req.GetObserved().GetResources()["object"].GetResource().GetFields()["data"].GetStructValue().GetFields()["value"]; ok {
		status.Fields["value"] = v
	}
	rsp.Desired = &fnv1.State{
		Resources: map[string]*fnv1.Resource{"object": {Resource: object, Ready: fnv1.Ready_READY_TRUE}},
		Composite: &fnv1.Resource{
			Resource: &structpb.Struct{Fields: map[string]*structpb.Value{"status": structpb.NewStructValue(status)}},
			Ready:    fnv1.Ready_READY_TRUE,
		},
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
	ctx.FatalIfErrorf(function.Serve(floor{},
		function.Listen("tcp", cli.Address),
		function.MTLSCertificates(cli.Certs),
		function.WithMetricsServer(cli.MetricsAddress)))
}
