// Command xrdgen turns the CustomResourceDefinitions of composite resources, which controller-gen writes from Go types, into
// CompositeResourceDefinitions. Crossplane turns those back into CustomResourceDefinitions of its own.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// CLI of this program.
type CLI struct {
	CRDs   string `help:"Folder with the CustomResourceDefinitions." name:"crds" required:"" type:"existingdir"`
	Output string `help:"Folder to write definitions, and compositions, to. It is made when missing." required:"" type:"path"`
	Claims bool   `help:"Write definitions that offer the kinds as claims, with composite resources of cluster scope behind them."`

	Compositions string `help:"Folder with the Compositions of namespaced composite resources. Those of composite resources behind claims are made of them." type:"existingdir"`
}

// Run converts each definition of the folder.
func (c *CLI) Run() error {
	files, err := filepath.Glob(filepath.Join(c.CRDs, "*.yaml"))
	if err != nil {
		return fmt.Errorf("cannot list definitions: %w", err)
	}
	if len(files) == 0 {
		return fmt.Errorf("cannot find a definition in %s", c.CRDs)
	}
	if err := os.MkdirAll(filepath.Join(c.Output, "definitions"), 0o755); err != nil {
		return fmt.Errorf("cannot create output folder: %w", err)
	}
	for _, f := range files {
		if err := c.convert(f); err != nil {
			return fmt.Errorf("cannot convert %s: %w", f, err)
		}
	}
	return c.compositions()
}

func (c *CLI) convert(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		return err
	}
	xrd, err := Namespaced(crd)
	if c.Claims {
		xrd, err = Claims(crd)
	}
	if err != nil {
		return err
	}
	return write(filepath.Join(c.Output, "definitions", crd.Spec.Names.Plural+".yaml"), "the Go types in apis", xrd)
}

// write a definition to a file, which says what it was made from.
func write(path, from string, d *Definition) error {
	out, err := yaml.Marshal(d)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Generated from %s; run make generate instead of editing it.\n", from)
	b.Write(out)
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func main() {
	ctx := kong.Parse(&CLI{}, kong.Description("Generates CompositeResourceDefinitions."))
	ctx.FatalIfErrorf(ctx.Run())
}
