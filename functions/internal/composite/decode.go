package composite

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"google.golang.org/protobuf/types/known/structpb"
	kjson "sigs.k8s.io/json"
)

// Decode a struct into a Go value. Fields that the Go type does not have are ignored.
func Decode(s *structpb.Struct, into any) error {
	b, err := json.Marshal(s.AsMap()) // Half as long as protojson.Marshal takes.
	if err != nil {
		return fmt.Errorf("cannot convert to JSON: %w", err)
	}
	return withPath(kjson.UnmarshalCaseSensitivePreserveInts(b, into))
}

// DecodeStrict is Decode, but a field that the Go type does not have is an error.
func DecodeStrict(s *structpb.Struct, into any) error {
	b, err := json.Marshal(s.AsMap())
	if err != nil {
		return fmt.Errorf("cannot convert to JSON: %w", err)
	}
	unknown, err := kjson.UnmarshalStrict(b, into)
	if err != nil {
		return withPath(err)
	}
	if len(unknown) == 0 {
		return nil
	}
	// Fields come in no particular order; the first one by name makes a stable message.
	first := ""
	for _, e := range unknown {
		if fe, ok := errors.AsType[kjson.FieldError](e); ok && (first == "" || fe.FieldPath() < first) {
			first = fe.FieldPath()
		}
	}
	return fmt.Errorf("%s: unknown field", first)
}

// withPath puts the path of a field of the wrong type first. What was found is named by its type alone.
func withPath(err error) error {
	te, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || te.Field == "" {
		return err
	}
	// The decoder also names embedded Go structs, which no manifest has. Fields of the API begin with a small letter.
	var path []string
	for part := range strings.SplitSeq(te.Field, ".") {
		if part != "" && !unicode.IsUpper(rune(part[0])) {
			path = append(path, part)
		}
	}
	return fmt.Errorf("%s: must be %s, not %s", strings.Join(path, "."), jsonType(te.Type), te.Value)
}

// jsonType is what a Go type is called in a manifest.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonType(t.Elem())
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "an array"
	case reflect.Bool:
		return "a boolean"
	case reflect.Int32, reflect.Int64:
		return "an integer of " + strconv.Itoa(t.Bits()) + " bits"
	}
	return "a string"
}
