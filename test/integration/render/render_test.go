// Package render renders the examples with the Crossplane CLI and compares with what they are known to be composed of.
package render

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/cluster/local/render"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// TestTenant renders each step of a Tenant's creation, and what a conflict looks like.
func TestTenant(t *testing.T) { compare(t, "tenant") }

// TestTerdutServer renders each step of a TerdutServer's creation, and what a conflict looks like.
func TestTerdutServer(t *testing.T) { compare(t, "terdutserver") }

// TestSecretContract renders a contract that nobody has looked at yet, one that is satisfied, and one that is not.
func TestSecretContract(t *testing.T) { compare(t, "secretcontract") }

// compare all steps of an example with the golden files.
func compare(t *testing.T, example string) {
	t.Helper()
	r, err := render.Start(t.Context(), example, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	steps, err := r.Steps()
	if err != nil {
		t.Fatal(err)
	}

	for _, step := range append([]string{""}, steps...) {
		name := step
		if name == "" {
			name = "0-first"
		}
		t.Run(name, func(t *testing.T) {
			got, err := r.Render(t.Context(), step)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", example, name+".yaml")
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("run this test with -update to write it: %v", err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("r.Render(...): -want, +got:\n%s", diff)
			}
			compareClaim(t, r, step, got)
		})
	}
}
