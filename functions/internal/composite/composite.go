// Package composite holds what the composition functions share: how they read a composite and what is observed of its composed resources,
// whose answers count, and how they say what a composite is composed of.
//
// Everything is computed from what is observed, each time anew. What is not understood is an error, upon which nothing may change.
package composite

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
)

// A Resource is a composed resource.
type Resource struct {
	// Manifest holds the fields that the function owns, and no others.
	Manifest *structpb.Struct
	Ready    bool
}

// A Composition is what a composite is composed of.
type Composition struct {
	// Resources by composition resource name.
	Resources map[string]Resource
	// Status of the composite, whole.
	Status     map[string]any
	Conditions []Condition
	// Ready is true when everything that the spec asks for is proven.
	Ready bool
}

// AddTo adds the composition to what earlier functions desire. Theirs is passed through.
func (c *Composition) AddTo(desired *fnv1.State) (*fnv1.State, error) {
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

// SetConditions of the composite, and of the claim when there is one.
func (c *Composition) SetConditions(rsp *fnv1.RunFunctionResponse) {
	for _, cond := range c.Conditions {
		set := response.ConditionUnknown
		switch cond.Status {
		case corev1.ConditionTrue:
			set = response.ConditionTrue
		case corev1.ConditionFalse:
			set = response.ConditionFalse
		case corev1.ConditionUnknown:
		}
		o := set(rsp, cond.Type, cond.Reason).TargetCompositeAndClaim()
		if cond.Message != "" {
			o.WithMessage(cond.Message)
		}
	}
}
