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
	"github.com/ryuvia/provider-terdut/functions/terdutserver/internal/server"
)

const (
	// ttlWaiting is how soon Crossplane asks again while a TerdutServer is not Ready, or does not show all of it. Watches are faster, but stop
	// for a while when too much happens at once.
	ttlWaiting = 5 * time.Second
	// ttlReady is how soon Crossplane asks again when a TerdutServer is Ready.
	ttlReady = 5 * time.Minute
)

// A Function composes TerdutServers.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	log logging.Logger
	// now is the time, which decides how many new composed resources Crossplane may be burdened with and nothing else.
	now func() time.Time
}

// RunFunction composes a TerdutServer. What it cannot understand is a fatal result, upon which Crossplane changes nothing.
func (f *Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, ttlWaiting)
	if req.GetInput() != nil {
		response.Fatal(rsp, fmt.Errorf("cannot use input: this function takes none"))
		return rsp, nil
	}

	in := server.Input{
		Composite: req.GetObserved().GetComposite().GetResource(),
		Observed:  make(map[string]*structpb.Struct, len(req.GetObserved().GetResources())),
		Required:  make(map[string][]*structpb.Struct, len(req.GetRequiredResources())),
		Now:       f.now(),
	}
	for name, r := range req.GetObserved().GetResources() {
		in.Observed[name] = r.GetResource()
	}
	for name, r := range req.GetRequiredResources() {
		items := []*structpb.Struct{}
		for _, i := range r.GetItems() {
			items = append(items, i.GetResource())
		}
		in.Required[name] = items
	}
	c, requirements, shown, err := server.Compose(in)
	if err != nil {
		response.Fatal(rsp, fmt.Errorf("cannot compose on-call server: %w", err))
		return rsp, nil
	}

	desired, err := c.AddTo(req.GetDesired())
	if err != nil {
		response.Fatal(rsp, err)
		return rsp, nil
	}
	rsp.Desired = desired
	if len(requirements) > 0 {
		rsp.Requirements = &fnv1.Requirements{Resources: requirements}
	}
	c.SetConditions(rsp)
	if c.Ready && shown && !composite.Paused(in.Composite) {
		rsp.Meta.Ttl = durationpb.New(ttlReady)
	}
	f.log.Debug("Composed an on-call server", "service", c.Status["serviceName"], "resources", len(c.Resources), "ready", c.Ready)
	return rsp, nil
}
