package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"

	"github.com/ryuvia/provider-terdut/functions/internal/composite"
	"github.com/ryuvia/provider-terdut/functions/terdutserver/internal/server"
)

// A Function composes TerdutServers.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	log logging.Logger
	// now is the time, which decides how many new composed resources Crossplane may be burdened with, how soon it asks again, and nothing else.
	now func() time.Time
}

// RunFunction composes a TerdutServer. What it cannot understand is a fatal result, upon which Crossplane changes nothing.
func (f *Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, composite.Soon)
	if req.GetInput() != nil {
		composite.Fatal(req, rsp, fmt.Errorf("cannot use input: this function takes none"))
		return rsp, nil
	}

	if known, err := composite.AskForClaim(req, rsp); err != nil {
		composite.Fatal(req, rsp, fmt.Errorf("cannot compose on-call server: composite: %w", err))
		return rsp, nil
	} else if !known {
		return rsp, nil
	}

	in := server.Input{
		Composite: req.GetObserved().GetComposite().GetResource(),
		Observed:  make(map[string]*structpb.Struct, len(req.GetObserved().GetResources())),
		Required:  composite.Required(req),
		Now:       f.now(),
	}
	for name, r := range req.GetObserved().GetResources() {
		in.Observed[name] = r.GetResource()
	}
	c, requirements, shown, err := server.Compose(in)
	if err != nil {
		composite.Fatal(req, rsp, fmt.Errorf("cannot compose on-call server: %w", err))
		return rsp, nil
	}

	desired, err := c.AddTo(req.GetDesired())
	if err != nil {
		composite.Fatal(req, rsp, err)
		return rsp, nil
	}
	rsp.Desired = desired
	maps.Copy(requirements, rsp.GetRequirements().GetResources())
	if len(requirements) > 0 {
		rsp.Requirements = &fnv1.Requirements{Resources: requirements}
	}
	c.SetConditions(rsp)
	rsp.Meta.Ttl = durationpb.New(c.AskAgain(in.Composite, in.Observed, shown, in.Now, composite.Slow))
	f.log.Debug("Composed an on-call server", "service", c.Status["serviceName"], "resources", len(c.Resources), "ready", c.Ready)
	return rsp, nil
}
