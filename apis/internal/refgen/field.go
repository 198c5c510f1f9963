package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// A walker writes a row of a table for each field below an object.
type walker struct {
	kind string
	// explained is where the kind's conditions are.
	explained string
	rows      strings.Builder
}

// object writes the fields of an object, those that are required first.
func (w *walker) object(path string, s *extv1.JSONSchemaProps) {
	rank := func(name string) int {
		if slices.Contains(s.Required, name) {
			return 0
		}
		return 1
	}
	names := slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		p := s.Properties[name]
		w.field(path+"."+name, &p, rank(name) == 0)
	}
}

// field writes the row of a field and those of what is in it.
func (w *walker) field(path string, s *extv1.JSONSchemaProps, required bool) {
	if path == "status.conditions" {
		fmt.Fprintf(&w.rows, "| `%s` | list of conditions | | | Conditions with their reasons: [%s](%s) |\n", path, w.kind, w.explained)
		return
	}
	fallback := ""
	switch {
	case s.Default != nil:
		fallback = code(compact(s.Default.Raw))
	case required:
		fallback = "required"
	}
	description := s.Description
	if in := inner(s); description == "" && in != nil {
		description = in.Description
	}
	fmt.Fprintf(&w.rows, "| `%s` | %s | %s | %s | %s |\n", path, typeOf(s), fallback, strings.Join(limits(s), "; "), cell(description))
	w.inside(path, s)
}

// inside writes what is in a field that is an object, a list or a map.
func (w *walker) inside(path string, s *extv1.JSONSchemaProps) {
	switch in := inner(s); {
	case in == nil:
		w.object(path, s)
	case s.Items != nil:
		w.inside(path+"[]", in)
	default:
		w.inside(path+"{}", in)
	}
}

func typeOf(s *extv1.JSONSchemaProps) string {
	switch in := inner(s); {
	case s.XIntOrString:
		return "integer or string"
	case in != nil && s.Items != nil:
		return "list of " + typeOf(in)
	case in != nil:
		return "map to " + typeOf(in)
	case s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields:
		return "any"
	case s.Format != "":
		return s.Type + " (" + s.Format + ")"
	}
	return s.Type
}

// limits are what the API server holds a value to, those of a list's items included.
func limits(s *extv1.JSONSchemaProps) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if len(s.Enum) > 0 {
		values := make([]string, 0, len(s.Enum))
		for _, e := range s.Enum {
			values = append(values, code(strings.Trim(compact(e.Raw), `"`)))
		}
		add("%s", strings.Join(values, ", "))
	}
	bounds(add, "", s.Minimum, s.Maximum)
	bounds(add, " characters", s.MinLength, s.MaxLength)
	bounds(add, " items", s.MinItems, s.MaxItems)
	bounds(add, " entries", s.MinProperties, s.MaxProperties)
	if s.Pattern != "" {
		add("matches %s", code(s.Pattern))
	}
	if len(s.XListMapKeys) > 0 {
		add("one for each `%s`", strings.Join(s.XListMapKeys, "`, `"))
	}
	if s.XListType != nil && *s.XListType == "set" {
		add("none twice")
	}
	out = append(out, rules(s)...)
	if in := inner(s); in != nil {
		for _, l := range limits(in) {
			add("each: %s", l)
		}
	}
	return out
}

// inner is what a list or a map is of, or nil.
func inner(s *extv1.JSONSchemaProps) *extv1.JSONSchemaProps {
	switch {
	case s.Items != nil:
		return s.Items.Schema
	case s.AdditionalProperties != nil:
		return s.AdditionalProperties.Schema
	}
	return nil
}

// bounds of a number, or of how many there are of something.
func bounds[T int64 | float64](add func(string, ...any), what string, least, most *T) {
	// Numbers of a schema are floating point, which would be shown with an exponent.
	number := func(n *T) string { return strconv.FormatFloat(float64(*n), 'f', -1, 64) }
	switch {
	case least != nil && most != nil && *least == *most:
		add("%s%s", number(least), what)
	case least != nil && most != nil:
		add("%s to %s%s", number(least), number(most), what)
	case least != nil && (*least != 0 || what == ""):
		add("at least %s%s", number(least), what)
	case most != nil:
		add("at most %s%s", number(most), what)
	}
}

// rules in the words with which the API server refuses what breaks them.
func rules(s *extv1.JSONSchemaProps) []string {
	out := make([]string, 0, len(s.XValidations))
	for _, v := range s.XValidations {
		if v.Message == "" {
			out = append(out, code(v.Rule))
			continue
		}
		out = append(out, cell(v.Message))
	}
	return out
}

// compact JSON.
func compact(raw []byte) string {
	b := bytes.Buffer{}
	if err := json.Compact(&b, raw); err != nil {
		return string(raw)
	}
	return b.String()
}

// code in a cell of a table. Only a pipe would end it.
func code(s string) string { return "`" + strings.ReplaceAll(s, "|", `\|`) + "`" }

// cell is text in a cell of a table, where a line break or a pipe would end it.
func cell(s string) string { return strings.ReplaceAll(paragraph(s), "|", `\|`) }

// paragraph is text in one line, of which nothing is taken for a tag.
func paragraph(s string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(strings.Join(strings.Fields(s), " "))
}
