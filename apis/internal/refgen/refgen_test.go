package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// widget is a definition with one field of each sort.
const widget = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.parts.example.org}
spec:
  group: parts.example.org
  names: {kind: Widget, plural: widgets, shortNames: [wd], categories: [managed]}
  scope: Namespaced
  versions:
  - name: v1
    additionalPrinterColumns:
    - {name: READY, type: string, jsonPath: .status.ready}
    - {name: REASON, type: string, jsonPath: .status.reason, priority: 1}
    schema:
      openAPIV3Schema:
        description: A Widget is a part.
        type: object
        properties:
          apiVersion: {type: string}
          spec:
            type: object
            required: [name]
            x-kubernetes-validations: [{rule: "true", message: set a or b}]
            properties:
              name: {type: string, description: "Name of <it> | them.", minLength: 1, maxLength: 63, pattern: "^(a|b)$"}
              count: {type: integer, format: int32, default: 3, minimum: 0, maximum: 2097152}
              mode: {type: string, enum: [Fast, Slow], default: Fast, x-kubernetes-validations: [{rule: self == oldSelf, message: mode is immutable}]}
              items:
                type: array
                maxItems: 4
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [key]
                items:
                  type: object
                  required: [key]
                  properties: {key: {type: string, maxLength: 5}}
              labels: {type: object, additionalProperties: {type: string, maxLength: 9}}
          status:
            type: object
            properties:
              ready: {type: boolean}
`

// write a definition into a folder of its own.
func write(t *testing.T, definition string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "kind.yaml"), []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestReference holds that type, default, limits and description of each field are told, and that nothing breaks out of its table.
func TestReference(t *testing.T) {
	out := filepath.Join(t.TempDir(), "reference")
	if err := (&CLI{Output: out, From: []string{write(t, widget)}}).Run(); err != nil {
		t.Fatalf("c.Run(): unexpected error: %v", err)
	}
	page, err := os.ReadFile(filepath.Join(out, "parts.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(string(page), "## Widget\n")
	want := `
A Widget is a part.

` + "`apiVersion: parts.example.org/v1`, namespaced. For kubectl: `widgets`, `wd`, in the categories `managed`; columns READY; with `-o wide` also REASON." + `

### Widget: spec

Of the whole ` + "`spec`" + `: set a or b.

| field | type | default | limits | |
| --- | --- | --- | --- | --- |
` +
		"| `spec.name` | string | required | 1 to 63 characters; matches `^(a\\|b)$` | Name of &lt;it&gt; \\| them. |\n" +
		"| `spec.count` | integer (int32) | `3` | 0 to 2097152 |  |\n" +
		"| `spec.items` | list of object |  | at most 4 items; one for each `key` |  |\n" +
		"| `spec.items[].key` | string | required | at most 5 characters |  |\n" +
		"| `spec.labels` | map to string |  | each: at most 9 characters |  |\n" +
		"| `spec.mode` | string | `\"Fast\"` | `Fast`, `Slow`; mode is immutable |  |\n" + `
### Widget: status

| field | type | default | limits | |
| --- | --- | --- | --- | --- |
` + "| `status.ready` | boolean |  |  |  |\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("section of a kind: -want, +got:\n%s", diff)
	}
	index, err := os.ReadFile(filepath.Join(out, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if row := "| [Widget](parts.md#widget) | `parts.example.org` | Namespaced | A Widget is a part. |\n"; !strings.HasSuffix(string(index), row) {
		t.Errorf("index: got\n%s\nwant the row %s", index, row)
	}
}

// TestConditions holds that the reference says where the conditions of a kind are explained, also of a composite, whose conditions are
// Crossplane's to add, and that no kind with conditions can be forgotten.
func TestConditions(t *testing.T) {
	const field = "conditions: {type: array, items: {type: object, properties: {type: {type: string}}}}"
	cases := map[string]struct {
		reason, kind, status, want string
	}{
		"Managed":   {"The field links to the reasons.", "Team", field, "| `status.conditions` | list of conditions | | | Conditions with their reasons: [Team](../operations.md#team) |"},
		"Composite": {"There is no such field, but there are conditions.", "Tenant", "ready: {type: boolean}", "`status.conditions`: [their reasons](../operations.md#tenant)"},
		"Unknown":   {"Nothing may link to nowhere.", "Widget", field, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			in := write(t, strings.NewReplacer("kind: Widget", "kind: "+tc.kind, "ready: {type: boolean}", tc.status).Replace(widget))
			err := (&CLI{Output: out, From: []string{in}}).Run()
			if tc.want == "" {
				if err == nil {
					t.Errorf("\n%s\nc.Run(): got no error", tc.reason)
				}
				return
			}
			if err != nil {
				t.Fatalf("c.Run(): unexpected error: %v", err)
			}
			page, err := os.ReadFile(filepath.Join(out, "parts.md"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(page), tc.want) {
				t.Errorf("\n%s\ngot\n%s\nwant %s", tc.reason, page, tc.want)
			}
		})
	}
}
