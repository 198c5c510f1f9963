package main

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// What upjet writes for every provider, and what it is here.
var replacements = []struct {
	from *regexp.Regexp
	to   string
}{
	// Where Crossplane's common types are now.
	{regexp.MustCompile(`v1 "github.com/crossplane/crossplane-runtime/v2/apis/common/v1"\n`), ""},
	{regexp.MustCompile(`v2 "github.com/crossplane/crossplane-runtime/v2/apis/common/v2"`), `xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"`},
	{regexp.MustCompile(`\bv1\.ResourceStatus\b`), "xpv2.ManagedResourceStatus"},
	{regexp.MustCompile(`\bv2\.ManagedResourceSpec\b`), "xpv2.ManagedResourceSpec"},
	// English.
	{regexp.MustCompile(`// (\w+) is the Schema for the \w+ API\. `), "// "},
	{regexp.MustCompile(`// (\w+)List contains a list of \w+\n`), "// ${1}List contains a list of $1.\n"},
	{regexp.MustCompile(`(?m)^// (\w+) (defines the .*[^.])\.?$`), "// $1 $2."},
	{regexp.MustCompile(`\tID \*string`), "\t// ID of the object, as the Terraform provider has it.\n\tID *string"},
	{regexp.MustCompile(`(?m)^type (\w+)Parameters struct`), "// ${1}Parameters are what is asked for.\ntype ${1}Parameters struct"},
	{regexp.MustCompile(`(?m)^type (\w+)Observation struct`), "// ${1}Observation is what was found.\ntype ${1}Observation struct"},
	// The columns of this provider's other kinds.
	{
		regexp.MustCompile(`(?s)(// \+kubebuilder:printcolumn:name="SYNCED"[^\n]*\n)(// \+kubebuilder:printcolumn:name="READY"[^\n]*\n)`),
		"$2$1",
	},
	{
		regexp.MustCompile(`(// \+kubebuilder:printcolumn:name="AGE")`),
		`// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason",priority=1` + "\n$1",
	},
}

// A structure whose fields only repeat what was asked for, or what is: the rules are those of the parameters.
var repeats = regexp.MustCompile(`(?s)type \w+(Observation|InitParameters) struct \{.*?\n\}`)

// rule of a field.
var rule = regexp.MustCompile(`(?m)^\t// \+kubebuilder:(default|validation).*\n`)

// adapt a generated file, and write it.
func adapt(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("cannot read: %w", err)
	}
	s := string(text)
	for _, r := range replacements {
		s = r.from.ReplaceAllString(s, r.to)
	}
	s = repeats.ReplaceAllStringFunc(s, func(t string) string { return rule.ReplaceAllString(t, "") })
	return write(to, s)
}

// write a Go file.
func write(to, text string) error {
	out, err := format.Source([]byte(text))
	if err != nil {
		return fmt.Errorf("cannot format %s: %w", to, err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return fmt.Errorf("cannot create directory: %w", err)
	}
	if err := os.WriteFile(to, []byte(strings.TrimSpace(string(out))+"\n"), 0o600); err != nil {
		return fmt.Errorf("cannot write: %w", err)
	}
	return nil
}
