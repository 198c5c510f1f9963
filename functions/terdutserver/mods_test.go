package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
)

// A mod changes an object of a fixture.
type mod func(obj map[string]any)

// with sets the field at a dotted path.
func with(path string, value any) mod {
	return func(obj map[string]any) {
		fields := strings.Split(path, ".")
		for _, f := range fields[:len(fields)-1] {
			next, ok := obj[f].(map[string]any)
			if !ok {
				next = map[string]any{}
				obj[f] = next
			}
			obj = next
		}
		obj[fields[len(fields)-1]] = value
	}
}

// without removes the field at a dotted path.
func without(path string) mod {
	return func(obj map[string]any) {
		fields := strings.Split(path, ".")
		for _, f := range fields[:len(fields)-1] {
			next, ok := obj[f].(map[string]any)
			if !ok {
				return
			}
			obj = next
		}
		delete(obj, fields[len(fields)-1])
	}
}

// said adds a condition that was set upon a generation.
func said(conditionType, status, reason, message string, generation int) mod {
	return func(obj map[string]any) {
		c := map[string]any{"type": conditionType, "status": status, "reason": reason, "lastTransitionTime": "2026-01-02T03:04:05Z"}
		if message != "" {
			c["message"] = message
		}
		if generation > 0 {
			c["observedGeneration"] = generation
		}
		st, _ := obj["status"].(map[string]any)
		if st == nil {
			st = map[string]any{}
			obj["status"] = st
		}
		var conditions []any
		for _, old := range list(st["conditions"]) {
			if old.(map[string]any)["type"] != conditionType {
				conditions = append(conditions, old)
			}
		}
		st["conditions"] = append(conditions, c)
	}
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// yes sets conditions to True for a generation.
func yes(generation int, types ...string) mod {
	return func(obj map[string]any) {
		for _, t := range types {
			said(t, "True", "Passed", "", generation)(obj)
		}
	}
}

func object(obj map[string]any, mods ...mod) *structpb.Struct {
	for _, m := range mods {
		m(obj)
	}
	s, err := structpb.NewStruct(obj)
	if err != nil {
		panic(err) // A mistake in a fixture.
	}
	return s
}

// annotated has an annotation, or has not when it is empty.
func annotated(name, value string) mod {
	return func(obj map[string]any) {
		m := obj["metadata"].(map[string]any)
		a, _ := m["annotations"].(map[string]any)
		if a == nil {
			a = map[string]any{}
			m["annotations"] = a
		}
		a[name] = value
		if value == "" {
			delete(a, name)
		}
		if len(a) == 0 {
			delete(m, "annotations")
		}
	}
}

// stamped with hashes of what is desired.
func stamped(obj map[string]any) {
	hash := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // A mistake in a fixture.
		}
		h := sha256.Sum256(b)
		return hex.EncodeToString(h[:16])
	}
	annotated("terdut.ryuvia.com/desired", hash([]any{obj["metadata"].(map[string]any)["labels"], obj["spec"]}))(obj)
}
