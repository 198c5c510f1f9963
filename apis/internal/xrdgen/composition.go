package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	xv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
)

// compositions writes, of each Composition of namespaced composites, that of the composites behind claims.
func (c *CLI) compositions() error {
	if c.Compositions == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(c.Compositions, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("cannot find a Composition in %s", c.Compositions)
	}
	out := filepath.Join(c.Output, "compositions")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("cannot create output folder: %w", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return fmt.Errorf("cannot read Composition: %w", err)
		}
		in := &xv1.Composition{}
		if err := yaml.UnmarshalStrict(data, in); err != nil {
			return fmt.Errorf("cannot convert %s: %w", f, err)
		}
		if err := write(filepath.Join(out, filepath.Base(f)), "package/configuration", BehindClaims(in)); err != nil {
			return fmt.Errorf("cannot convert %s: %w", f, err)
		}
	}
	return nil
}

// BehindClaims returns the Composition of the composites of cluster scope that stand behind claims: the same functions for another kind.
func BehindClaims(c *xv1.Composition) *Definition {
	spec := c.Spec.DeepCopy()
	spec.CompositeTypeRef.Kind = claimPrefix + spec.CompositeTypeRef.Kind
	return &Definition{
		APIVersion: xv1.SchemeGroupVersion.String(), Kind: "Composition", Metadata: Metadata{Name: claimPrefixLower + c.GetName()}, Spec: spec,
	}
}
