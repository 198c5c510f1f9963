package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"

	"github.com/ryuvia/provider-terdut/functions/tenant/internal/tenant"
)

const (
	// ttlWaiting is how soon Crossplane asks again while a Tenant is not Ready. Watches are faster, but stop for a while when too much
	// happens at once.
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
	c, err := tenant.Compose(req.GetObserved().GetComposite().GetResource(), observed)
	if err != nil {
		response.Fatal(rsp, fmt.Errorf("cannot compose tenant: %w", err))
		return rsp, nil
	}

	desired, err := addTo(req.GetDesired(), c)
	if err != nil {
		response.Fatal(rsp, err)
		return rsp, nil
	}
	rsp.Desired = desired
	for _, cond := range c.Conditions {
		setCondition(rsp, cond)
	}
	if c.Ready {
		rsp.Meta.Ttl = durationpb.New(ttlReady)
	}
	if paused(req.GetObserved().GetComposite().GetResource()) {
		rsp.Meta.Ttl = durationpb.New(ttlWaiting)
	}
	f.log.Debug("Composed a tenant", "database", c.Status["database"], "phase", c.Status["phase"])
	return rsp, nil
}

// addTo adds a Tenant to what earlier functions desire. Theirs is passed through.
func addTo(desired *fnv1.State, c *tenant.Composition) (*fnv1.State, error) {
	out := &fnv1.State{}
	if desired != nil {
		out = proto.CloneOf(desired)
	}
	if out.GetResources() == nil {
		out.Resources = map[string]*fnv1.Resource{}
	}
	if out.GetComposite() == nil {
		out.Composite = &fnv1.Resource{}
	}

	for name, r := range c.Resources {
		ready := fnv1.Ready_READY_FALSE
		if r.Ready {
			ready = fnv1.Ready_READY_TRUE
		}
		out.Resources[name] = &fnv1.Resource{Resource: r.Manifest, Ready: ready}
	}

	status, err := structpb.NewStruct(c.Status)
	if err != nil {
		return nil, fmt.Errorf("cannot render status: %w", err)
	}
	xr := out.GetComposite()
	if xr.GetResource().GetFields() == nil {
		xr.Resource = &structpb.Struct{Fields: map[string]*structpb.Value{}}
	}
	if theirs := xr.GetResource().GetFields()["status"].GetStructValue(); theirs.GetFields() != nil {
		proto.Merge(theirs, status)
	} else {
		xr.Resource.Fields["status"] = structpb.NewStructValue(status)
	}

	// An explicit answer overrides the readiness of each composed resource, so with resources of other functions there is none: ours
	// are all ready then and Crossplane looks at theirs.
	switch {
	case !c.Ready:
		xr.Ready = fnv1.Ready_READY_FALSE
	case len(out.GetResources()) == len(c.Resources) && xr.GetReady() != fnv1.Ready_READY_FALSE:
		xr.Ready = fnv1.Ready_READY_TRUE
	}
	return out, nil
}

// setCondition of the composite, and of the claim when there is one.
func setCondition(rsp *fnv1.RunFunctionResponse, c tenant.Condition) {
	set := response.ConditionUnknown
	switch c.Status {
	case corev1.ConditionTrue:
		set = response.ConditionTrue
	case corev1.ConditionFalse:
		set = response.ConditionFalse
	case corev1.ConditionUnknown:
	}
	o := set(rsp, c.Type, c.Reason).TargetCompositeAndClaim()
	if c.Message != "" {
		o.WithMessage(c.Message)
	}
}
