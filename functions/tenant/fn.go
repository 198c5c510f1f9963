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
	"github.com/ryuvia/provider-terdut/functions/tenant/internal/tenant"
)

const (
	// ttlWaiting is how soon Crossplane asks again while a Tenant is not Ready, or does not show all of it. Watches are faster, but stop for a
	// while when too much happens at once.
	ttlWaiting = 5 * time.Second
	// ttlReady is how soon Crossplane asks again when a Tenant is Ready.
	ttlReady = 5 * time.Minute
)

// A Function composes Tenants.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	log logging.Logger
}

// RunFunction composes a Tenant. What it cannot understand is a fatal result, upon which Crossplane changes nothing.
func (f *Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, ttlWaiting)
	if req.GetInput() != nil {
		response.Fatal(rsp, fmt.Errorf("cannot use input: this function takes none"))
		return rsp, nil
	}

	observed := make(map[string]*structpb.Struct, len(req.GetObserved().GetResources()))
	for name, r := range req.GetObserved().GetResources() {
		observed[name] = r.GetResource()
	}
	c, shown, err := tenant.Compose(req.GetObserved().GetComposite().GetResource(), observed)
	if err != nil {
		response.Fatal(rsp, fmt.Errorf("cannot compose tenant: %w", err))
		return rsp, nil
	}

	desired, err := c.AddTo(req.GetDesired())
	if err != nil {
		response.Fatal(rsp, err)
		return rsp, nil
	}
	rsp.Desired = desired
	c.SetConditions(rsp)
	if c.Ready && shown && !composite.Paused(req.GetObserved().GetComposite().GetResource()) {
		rsp.Meta.Ttl = durationpb.New(ttlReady)
	}
	f.log.Debug("Composed a tenant", "database", c.Status["database"], "phase", c.Status["phase"])
	return rsp, nil
}
