package main

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// junk are values that a field can wrongly have. Nil stands for a value of no kind at all.
var junk = map[string]*structpb.Value{
	"nothing": nil,
	"null":    structpb.NewNullValue(),
	"text":    structpb.NewStringValue("junk"),
	"empty":   structpb.NewStringValue(""),
	"number":  structpb.NewNumberValue(-1.5),
	"huge":    structpb.NewNumberValue(1e300),
	"nan":     structpb.NewNumberValue(math.NaN()),
	"bool":    structpb.NewBoolValue(true),
	"list":    structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{nil, structpb.NewNullValue()}}),
	"object":  structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"junk": nil}}),
}

// eachField calls f for every field and list item below a struct, with a function that replaces it.
func eachField(path string, s *structpb.Struct, f func(path string, replace func(*structpb.Value))) {
	for _, k := range slices.Sorted(maps.Keys(s.GetFields())) {
		f(path+"."+k, func(v *structpb.Value) { s.Fields[k] = v })
		below := s.GetFields()[k]
		eachField(path+"."+k, below.GetStructValue(), f)
		for i, item := range below.GetListValue().GetValues() {
			f(path+"."+k+"[]", func(v *structpb.Value) { below.GetListValue().Values[i] = v })
			eachField(path+"."+k+"[]", item.GetStructValue(), f)
		}
	}
}

// checkKept checks what must hold for any request: a result is fatal, or all that is observed is desired, because Crossplane would
// delete it, and so is what other functions desire.
func checkKept(t *testing.T, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()
	if fatal(rsp) != "" {
		return
	}
	for _, name := range []string{"database", "credential", "external-secret"} {
		if _, observed := req.GetObserved().GetResources()[name]; observed && rsp.GetDesired().GetResources()[name] == nil {
			t.Errorf("f.RunFunction(...): %s is observed but not desired", name)
		}
	}
	for name := range req.GetDesired().GetResources() {
		if rsp.GetDesired().GetResources()[name] == nil {
			t.Errorf("f.RunFunction(...): %s of another function is lost", name)
		}
	}
}

// TestH44JunkAnywhere replaces each field of everything that is observed by each kind of junk.
func TestH44JunkAnywhere(t *testing.T) {
	roots := func() map[string]*structpb.Struct {
		r := everything()
		r["xr"] = xr(with("spec.database", "a"), with("spec.owner", "b"), with("spec.secretName", "c"), with("spec.rotation.trigger", "d"))
		return r
	}
	for root, original := range roots() {
		eachField(root, original, func(path string, _ func(*structpb.Value)) {
			for kind, v := range junk {
				mutated := roots()
				eachField(root, mutated[root], func(p string, replace func(*structpb.Value)) {
					if p == path {
						replace(v)
					}
				})
				composite := mutated["xr"]
				delete(mutated, "xr")
				req := request(composite, mutated)
				checkKept(t, req, once(t, req))
				if t.Failed() {
					t.Fatalf("with %s at %s", kind, path)
				}
			}
		})
	}
}

// FuzzH47RunFunction sends whatever a request can be. The function must not panic.
func FuzzH47RunFunction(f *testing.F) {
	seed := func(req *fnv1.RunFunctionRequest) {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(req)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	seed(&fnv1.RunFunctionRequest{})
	seed(request(xr(), nil))
	seed(request(xr(), everything()))
	seed(request(xr(with("spec", []any{nil, map[string]any{}})), everything()))
	seed(request(xr(), everythingWith("database", with("status", nil))))
	seed(request(xr(), everythingWith("credential", with("spec.forProvider.data", []any{nil, 5, map[string]any{"key": "uri"}}))))
	seed(request(xr(), everythingWith("external-secret", with("spec.dataFrom", []any{nil}), with("status.conditions", []any{nil}))))
	seed(request(&structpb.Struct{Fields: map[string]*structpb.Value{"spec": nil, "metadata": {}}}, map[string]*structpb.Struct{"database": nil}))

	seed(request(xr(with("metadata.name", strings.Repeat("a.", 126)+"b"), with("metadata.generation", -1)), everything()))
	seed(request(xr(with("spec.extensions", []any{map[string]any{"name": strings.Repeat("x", 1<<16)}})), everything()))
	seed(request(xr(with("status", map[string]any{"phase": "Ready", "conditions": []any{nil, map[string]any{"type": "Ready"}}})), everything()))
	withOthers := request(xr(), everything())
	withOthers.Desired = &fnv1.State{Composite: &fnv1.Resource{}, Resources: map[string]*fnv1.Resource{"theirs": {}, "database": nil}}
	withOthers.RequiredResources = map[string]*fnv1.Resources{"x": nil}
	seed(withOthers)

	fn := newFunction()
	f.Fuzz(func(t *testing.T, b []byte) {
		req := &fnv1.RunFunctionRequest{}
		if proto.Unmarshal(b, req) != nil {
			return
		}
		rsp, err := fn.RunFunction(t.Context(), req)
		if err != nil {
			t.Fatalf("f.RunFunction(...): unexpected error: %v", err)
		}
		checkKept(t, req, rsp)
	})
}
