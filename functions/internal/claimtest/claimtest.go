// Package claimtest makes, of what tests of functions have of a namespaced composite, what there is when the same manifest is a claim.
package claimtest

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// What a composite behind a claim is called. Neither its name, nor its uid, nor its generation is the claim's.
const (
	suffix = "-x7k2p"
	// UID of the composite behind the claim.
	UID = "c1a1e000-0000-4000-8000-00000000c1a1"
	// Generation of the composite behind the claim.
	Generation = 91
)

// Behind returns the claim that a namespaced composite is in the other flavour, and the composite that stands behind it.
func Behind(namespaced *structpb.Struct) (xr, claim *structpb.Struct) {
	obj := namespaced.AsMap()
	metadata := section(obj, "metadata")
	kind, _ := obj["kind"].(string)
	name, _ := metadata["name"].(string)
	ref := func(more map[string]any) map[string]any {
		out := map[string]any{"apiVersion": obj["apiVersion"]}
		maps.Copy(out, more)
		return out
	}

	own := section(obj, "spec")
	delete(own, "crossplane")
	own["compositionRef"] = map[string]any{"name": "composition"}
	composite, cm := maps.Clone(own), maps.Clone(own)
	composite["claimRef"] = ref(map[string]any{"kind": kind, "namespace": metadata["namespace"], "name": name})
	composite["resourceRefs"] = []any{}
	cm["resourceRef"] = ref(map[string]any{"kind": "X" + kind, "name": name + suffix})

	x := maps.Clone(obj)
	x["kind"], x["spec"] = "X"+kind, composite
	m := maps.Clone(metadata)
	delete(m, "namespace")
	m["name"], m["uid"], m["generation"] = name+suffix, UID, Generation
	m["labels"] = map[string]any{
		"crossplane.io/claim-name": name, "crossplane.io/claim-namespace": metadata["namespace"], "crossplane.io/composite": name + suffix,
	}
	x["metadata"] = m
	c := maps.Clone(obj)
	c["spec"] = cm
	return structOf(x), structOf(c)
}

// Request is what Crossplane sends for the composite behind the claim that the composite of a request is in the other flavour, once it knows
// what is required.
func Request(namespaced *fnv1.RunFunctionRequest) *fnv1.RunFunctionRequest {
	req := proto.CloneOf(namespaced)
	was := req.GetObserved().GetComposite().GetResource()
	xr, claim := Behind(was)
	req.Observed.Composite.Resource = xr
	uid := section(was.AsMap(), "metadata")["uid"]
	for _, r := range req.GetObserved().GetResources() {
		r.Resource = controlled(r.GetResource(), uid)
	}
	required := map[string]*fnv1.Resources{"claim": {Items: []*fnv1.Resource{{Resource: claim}}}}
	for name, rs := range req.GetRequiredResources() {
		for _, r := range rs.GetItems() {
			r.Resource = controlled(r.GetResource(), uid)
		}
		required[name] = rs
	}
	req.RequiredResources = required
	if req.GetMeta() == nil {
		req.Meta = &fnv1.RequestMeta{}
	}
	req.Meta.Capabilities = []fnv1.Capability{fnv1.Capability_CAPABILITY_CAPABILITIES, fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES}
	return req
}

// controlled is an object whose owner references to one uid are to the composite behind the claim.
func controlled(s *structpb.Struct, uid any) *structpb.Struct {
	obj := s.AsMap()
	refs, _ := section(obj, "metadata")["ownerReferences"].([]any)
	for _, r := range refs {
		if r, ok := r.(map[string]any); ok && r["uid"] == uid {
			r["uid"] = UID
		}
	}
	return structOf(obj)
}

func section(obj map[string]any, field string) map[string]any {
	s, _ := obj[field].(map[string]any)
	if s == nil {
		s = map[string]any{}
	}
	return s
}

func structOf(obj map[string]any) *structpb.Struct {
	s, err := structpb.NewStruct(obj)
	if err != nil {
		panic(err) // A mistake in a fixture.
	}
	return s
}

// SameAnswer fails a test when a function answers otherwise to the composite behind a claim than it did to the namespaced composite of the same
// manifest. Requests that are no such manifest are passed over.
func SameAnswer(tb testing.TB, f fnv1.FunctionRunnerServiceServer, namespaced *fnv1.RunFunctionRequest, want *fnv1.RunFunctionResponse) {
	tb.Helper()
	xr := namespaced.GetObserved().GetComposite().GetResource().AsMap()
	metadata := section(xr, "metadata")
	for _, v := range []any{xr["apiVersion"], xr["kind"], metadata["namespace"], metadata["name"], metadata["uid"]} {
		if s, ok := v.(string); !ok || s == "" {
			return
		}
	}
	if _, ok := xr["spec"].(map[string]any); !ok || namespaced.GetInput() != nil {
		return
	}
	got, err := f.RunFunction(tb.Context(), Request(namespaced))
	if err != nil {
		tb.Fatalf("behind a claim: unexpected error: %v", err)
	}
	got = proto.CloneOf(got)
	for i, r := range want.GetResults() {
		// The composite's events are not the claim's: it is told what is wrong as well.
		if told := got.GetResults()[i]; told.GetTarget() != fnv1.Target_TARGET_COMPOSITE_AND_CLAIM || told.GetMessage() != r.GetMessage() {
			tb.Errorf("behind a claim: the claim is told %q, want %q", told, r.GetMessage())
		}
		got.Results = slices.Delete(got.GetResults(), i, i+1)
	}
	if required := got.GetRequirements().GetResources(); required["claim"] == nil {
		tb.Error("behind a claim: the claim is not required")
	} else if delete(required, "claim"); len(required) == 0 {
		got.Requirements = nil
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		tb.Errorf("behind a claim: -namespaced, +got:\n%s", diff)
	}
}
