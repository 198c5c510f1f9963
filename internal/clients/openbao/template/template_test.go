package template

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestRender(t *testing.T) {
	type want struct {
		out string
		err error
	}
	data := map[string]string{
		"username":   "shop",
		"password":   `p@ss:w/or d?&"<é>%`,
		"dotted.key": "dotted",
	}
	cases := map[string]struct {
		reason string
		text   string
		want   want
	}{
		"Plain": {
			reason: "Text without actions is the value.",
			text:   "hello",
			want:   want{out: "hello"},
		},
		"Encoded": {
			reason: "Each part of a URI is encoded so that no character of a value ends it.",
			text:   "postgresql://{{ uriUser .username }}:{{ uriUser .password }}@db:5432/{{ uriPath .password }}?x={{ uriQuery .password }}",
			want: want{out: "postgresql://shop:p%40ss%3Aw%2For%20d%3F%26%22%3C%C3%A9%3E%25@db:5432/p%40ss%3Aw%2For%20d%3F%26%22%3C%C3%A9%3E%25" +
				"?x=p%40ss%3Aw%2For%20d%3F%26%22%3C%C3%A9%3E%25"},
		},
		"Pipeline": {
			reason: "Functions can be chained, also in parentheses.",
			text:   `{{ .username | base64 }} {{ base64 (index . "dotted.key") }} {{ (.username) }}`,
			want:   want{out: "c2hvcA== ZG90dGVk shop"},
		},
		"JSON": {
			reason: "Values are quoted without changing characters that only matter in HTML.",
			text:   `{"p": {{ toJson .password }}}`,
			want:   want{out: `{"p": "p@ss:w/or d?&\"<é>%"}`},
		},
		"WholeJSON": {
			reason: "All values can be one object.",
			text:   `{{ toJson . }}`,
			want:   want{out: `{"dotted.key":"dotted","password":"p@ss:w/or d?&\"<é>%","username":"shop"}`},
		},
		"Comment": {
			reason: "A comment leaves nothing behind.",
			text:   `a{{/* comment */}}b`,
			want:   want{out: "ab"},
		},
		"MissingField": {
			reason: "A missing key is an error, not an empty string.",
			text:   `{{ .nope }}`,
			want:   want{err: ErrExecute},
		},
		"MissingIndex": {
			reason: "A missing key is an error, however it is named.",
			text:   `{{ index . "nope" }}`,
			want:   want{err: ErrExecute},
		},
		"WrongType": {
			reason: "A function that cannot use its argument fails without saying what the argument was.",
			text:   `{{ uriUser . }}`,
			want:   want{err: ErrExecute},
		},
		"WrongCount": {
			reason: "A function with too many arguments fails without saying what they were.",
			text:   `{{ base64 .username .password }}`,
			want:   want{err: ErrExecute},
		},
		"Growing": {
			reason: "Quoting again and again doubles the value each time, and is stopped.",
			text:   `{{ .password` + strings.Repeat(" | toJson", 100) + ` }}`,
			want:   want{err: ErrExecute},
		},
		"Broken": {
			reason: "What does not parse is an error of its own.",
			text:   `{{ .username `,
			want:   want{err: cmpopts.AnyError},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := Render(tc.text, data)
			if diff := cmp.Diff(tc.want.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nRender(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want.out, out); diff != "" {
				t.Errorf("\n%s\nRender(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
	}{
		"Empty":        {"A template that can only be empty is a mistake.", ""},
		"Unknown":      {"Functions are a fixed list.", `{{ env "HOME" }}`},
		"Printf":       {"Formatting could be told to make megabytes.", `{{ printf "%1000000d" 1 }}`},
		"Call":         {"Functions of text/template are left out.", `{{ call .f }}`},
		"HTML":         {"Functions of text/template are left out.", `{{ html .password }}`},
		"Len":          {"The length of a secret is not for output.", `{{ len .password }}`},
		"Slice":        {"Parts of a secret are not for output.", `{{ slice .password 1 }}`},
		"Range":        {"A loop could run for ever.", `{{ range 10000000000 }}{{ end }}`},
		"If":           {"There are no conditions.", `{{ if .password }}x{{ end }}`},
		"With":         {"There are no conditions.", `{{ with .password }}x{{ end }}`},
		"Define":       {"There are no definitions.", `{{ define "x" }}y{{ end }}{{ template "x" . }}`},
		"Recursion":    {"A template cannot call itself.", `{{ template "t" . }}`},
		"Variable":     {"There are no variables.", `{{ $x := .password }}{{ $x }}`},
		"Dot":          {"All values as Go prints them are of no use to anybody.", `{{ . }}`},
		"Nested":       {"Values have no fields.", `{{ .a.b }}`},
		"NestedArg":    {"Values have no fields.", `{{ base64 .a.b }}`},
		"FieldArgs":    {"Values are not functions.", `{{ .a .b }}`},
		"Number":       {"No function takes a number.", `{{ base64 1 }}`},
		"ChainedField": {"Values have no fields.", `{{ (index . "a").b }}`},
		"Long":         {"The size is bounded.", strings.Repeat("x", maxTemplate+1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := Check(tc.text); err == nil {
				t.Errorf("\n%s\nCheck(...): want an error", tc.reason)
			}
			if _, err := Render(tc.text, map[string]string{}); err == nil || errors.Is(err, ErrExecute) {
				t.Errorf("\n%s\nRender(...): want Check's error", tc.reason)
			}
		})
	}

	t.Run("Line", func(t *testing.T) {
		err := Check("a\nb\n{{ nope }}")
		if err == nil || !strings.Contains(err.Error(), "line 3") {
			t.Errorf("Check(...): want an error that names line 3, got: %v", err)
		}
	})
}

// FuzzRender holds that nothing of the values comes out in an error, and that templates that pass Check and render stay in bounds.
func FuzzRender(f *testing.F) {
	for _, s := range []string{
		`{{ .password }}`, `{{ .password.x }}`, `{{ uriUser . }}`, `{{ index . .password }}`, `{{ index .password "x" }}`, `{{ base64 .password . }}`,
		`{{ toJson .password | uriQuery }}`, `{{ .password | index . }}`, `{{ if`, `{{ "\x" }}`, `{{`, `{{ .password`, "{{ `raw` }}", `{{ index . (toJson .password) }}`,
		`{{ template .password }}`, `{{ break }}`, `{{ 'x' }}`, `{{ nil }}`, `{{ .nope | base64 .password }}`,
	} {
		f.Add(s)
	}
	const sentinel = "S3ntinel-Value"
	f.Fuzz(func(t *testing.T, text string) {
		out, err := Render(text, map[string]string{"password": sentinel, "username": "u"})
		if len(out) > maxOutput {
			t.Error("the output is out of bounds")
		}
		if err == nil {
			return
		}
		for _, form := range []string{sentinel, url.QueryEscape(sentinel), "UzNudGluZWwtVmFsdWU"} {
			if strings.Contains(err.Error(), form) {
				t.Error("the error holds the value")
			}
		}
		if checked := Check(text); checked == nil && !errors.Is(err, ErrExecute) {
			t.Error("a template that passes Check fails with another error than the static one")
		}
	})
}
