package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"
)

// annotationDesired of a composed resource is a hash of the labels and the spec that it was last applied with. What a manifest leaves out that
// an earlier one had can be told by nothing else: the API server fills in fields, and others have theirs.
const annotationDesired = "terdut.ryuvia.com/desired"

// holds tells whether an observed object is what a manifest makes of it: it was applied with these labels and this spec, and still has
// everything that they say. What defaults, other controllers or people added is theirs.
func holds(manifest *structpb.Struct, o *object) bool {
	return o.Metadata.Annotations[annotationDesired] == annotation(manifest, annotationDesired) &&
		within(labelsOf(manifest), labelsOf(o.manifest)) && within(manifest.GetFields()["spec"], o.manifest.GetFields()["spec"])
}

// stamp a manifest with the hash of what it says. The order of a list counts, also where items have names: Kubernetes takes over the order that
// was applied.
func stamp(manifest *structpb.Struct) error {
	says := structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{labelsOf(manifest), manifest.GetFields()["spec"]}})
	b, err := json.Marshal(says.AsInterface())
	if err != nil {
		return fmt.Errorf("cannot encode what is desired: %w", err)
	}
	h := sha256.Sum256(b)
	annotate(manifest, annotationDesired, hex.EncodeToString(h[:16]))
	return nil
}

// annotate a manifest.
func annotate(manifest *structpb.Struct, name, value string) {
	metadata := manifest.GetFields()["metadata"].GetStructValue().GetFields()
	all := metadata["annotations"].GetStructValue().GetFields()
	if all == nil {
		all = map[string]*structpb.Value{}
	}
	all[name] = structpb.NewStringValue(value)
	metadata["annotations"] = structpb.NewStructValue(&structpb.Struct{Fields: all})
}

// annotation of a manifest, empty when it has none of the name.
func annotation(manifest *structpb.Struct, name string) string {
	metadata := manifest.GetFields()["metadata"].GetStructValue().GetFields()
	return metadata["annotations"].GetStructValue().GetFields()[name].GetStringValue()
}

func labelsOf(manifest *structpb.Struct) *structpb.Value {
	return manifest.GetFields()["metadata"].GetStructValue().GetFields()["labels"]
}

// within tells whether a desired value is contained in an observed one: each field of an object, and each item of a list. Items that have
// names are found by them, others by their position in lists of the same length.
func within(desired, observed *structpb.Value) bool {
	switch d := desired.GetKind().(type) {
	case nil:
		return true
	case *structpb.Value_StructValue:
		o := observed.GetStructValue().GetFields()
		for name, value := range d.StructValue.GetFields() {
			if _, ok := o[name]; !ok || !within(value, o[name]) {
				return false
			}
		}
		return true
	case *structpb.Value_ListValue:
		return listWithin(d.ListValue.GetValues(), observed.GetListValue().GetValues())
	case *structpb.Value_StringValue:
		o, ok := observed.GetKind().(*structpb.Value_StringValue)
		return ok && o.StringValue == d.StringValue
	case *structpb.Value_NumberValue:
		o, ok := observed.GetKind().(*structpb.Value_NumberValue)
		return ok && o.NumberValue == d.NumberValue
	case *structpb.Value_BoolValue:
		o, ok := observed.GetKind().(*structpb.Value_BoolValue)
		return ok && o.BoolValue == d.BoolValue
	}
	return false
}

func listWithin(desired, observed []*structpb.Value) bool {
	byName := map[string]*structpb.Value{}
	for _, o := range observed {
		byName[nameOf(o)] = o
	}
	for i, d := range desired {
		o := byName[nameOf(d)]
		if nameOf(d) == "" {
			if len(observed) != len(desired) {
				return false
			}
			o = observed[i]
		}
		if o == nil || !within(d, o) {
			return false
		}
	}
	return true
}

// nameOf an item of a list, or nothing.
func nameOf(v *structpb.Value) string { return v.GetStructValue().GetFields()["name"].GetStringValue() }
