package server

import (
	"google.golang.org/protobuf/types/known/structpb"
)

// holds tells whether an observed object has everything that a manifest says of its labels and its spec. What defaults, other controllers
// or people added is theirs.
func holds(manifest, observed *structpb.Struct) bool {
	labels := func(s *structpb.Struct) *structpb.Value {
		return s.GetFields()["metadata"].GetStructValue().GetFields()["labels"]
	}
	return within(labels(manifest), labels(observed)) && within(manifest.GetFields()["spec"], observed.GetFields()["spec"])
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
