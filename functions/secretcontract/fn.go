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

const (
	// ttlWaiting is how soon Crossplane asks again while there is no answer, or not all of it is shown. Watches are faster, but stop for a
	// while when too much happens at once.
	ttlWaiting = 5 * time.Second
	// ttlViolated is how soon Crossplane asks again when the answer is no: contracts may stay violated for days.
	ttlViolated = time.Minute
	// ttlReady is how soon Crossplane asks again when a contract is satisfied.
	ttlReady = 5 * time.Minute
)

// A Function composes SecretContracts.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	log logging.Logger
}

// RunFunction composes a SecretContract. What it cannot understand is a fatal result, upon which Crossplane changes nothing.
func (f *Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, ttlWaiting)
	if req.GetInput() != nil {
		response.Fatal(rsp, fmt.Errorf("cannot use input: this function takes none"))
		return rsp, nil
	}
	xr := req.GetObserved().GetComposite().GetResource()
	observed := make(map[string]*structpb.Struct, len(req.GetObserved().GetResources()))
	for name, r := range req.GetObserved().GetResources() {
		observed[name] = r.GetResource()
	}
	c, shown, err := answer.Compose(xr, observed)
	if err != nil {
		response.Fatal(rsp, fmt.Errorf("cannot compose contract: %w", err))
		return rsp, nil
	}
	desired, err := c.AddTo(req.GetDesired())
	if err != nil {
		response.Fatal(rsp, err)
		return rsp, nil
	}
	rsp.Desired = desired
	c.SetConditions(rsp)
	switch {
	case !shown, composite.Paused(xr):
	case c.Ready:
		rsp.Meta.Ttl = durationpb.New(ttlReady)
	default:
		rsp.Meta.Ttl = durationpb.New(ttlViolated)
	}
	f.log.Debug("Composed a contract", "shown", shown, "satisfied", c.Ready)
	return rsp, nil
}
