package main

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"

	"github.com/ryuvia/provider-terdut/functions/internal/composite"
	"github.com/ryuvia/provider-terdut/functions/secretcontract/internal/answer"
)

// A Function composes SecretContracts.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	log logging.Logger
	// now is the time, which decides how soon Crossplane asks again and nothing else.
	now func() time.Time
}

// RunFunction composes a SecretContract. What it cannot understand is a fatal result, upon which Crossplane changes nothing.
func (f *Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, composite.Soon)
	if req.GetInput() != nil {
		composite.Fatal(req, rsp, fmt.Errorf("cannot use input: this function takes none"))
		return rsp, nil
	}
	if known, err := composite.AskForClaim(req, rsp); err != nil {
		composite.Fatal(req, rsp, fmt.Errorf("cannot compose contract: %w", err))
		return rsp, nil
	} else if !known {
		return rsp, nil
	}
	xr := req.GetObserved().GetComposite().GetResource()
	observed := make(map[string]*structpb.Struct, len(req.GetObserved().GetResources()))
	for name, r := range req.GetObserved().GetResources() {
		observed[name] = r.GetResource()
	}
	c, shown, err := answer.Compose(xr, observed, composite.Required(req))
	if err != nil {
		composite.Fatal(req, rsp, fmt.Errorf("cannot compose contract: %w", err))
		return rsp, nil
	}
	desired, err := c.AddTo(req.GetDesired())
	if err != nil {
		composite.Fatal(req, rsp, err)
		return rsp, nil
	}
	rsp.Desired = desired
	c.SetConditions(rsp)
	limit := composite.Slow
	if c.Resources[answer.ResourceCheck].Ready {
		// Contracts may stay violated for days.
		limit = composite.Late
	}
	rsp.Meta.Ttl = durationpb.New(c.AskAgain(xr, observed, shown, f.now(), limit))
	f.log.Debug("Composed a contract", "shown", shown, "satisfied", c.Ready)
	return rsp, nil
}
