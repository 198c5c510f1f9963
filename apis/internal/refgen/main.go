// Command refgen writes the API reference, in Markdown, from the generated definitions of all kinds: one page for each API group.
//
// CustomResourceDefinitions and CompositeResourceDefinitions say what they define in the same fields, so both are read as the former.
package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// CLI of this program.
type CLI struct {
	Output string   `help:"Folder to write the pages to. It is made when missing." required:"" type:"path"`
	From   []string `arg:"" help:"Folders with definitions." type:"existingdir"`
}

// Run reads all definitions and writes the pages.
func (c *CLI) Run() error {
	kinds, err := read(c.From)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Output, 0o755); err != nil {
		return fmt.Errorf("cannot create output folder: %w", err)
	}
	pages := map[string]string{"README.md": index(kinds)}
	for _, k := range kinds {
		section, err := k.markdown()
		if err != nil {
			return err
		}
		if pages[k.page()] == "" {
			pages[k.page()] = heading(k.Spec.Group)
		}
		pages[k.page()] += section
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(c.Output, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("cannot write page: %w", err)
		}
	}
	return nil
}

// read the definitions in folders, in the order in which they are shown: claims first, then by group and name.
func read(folders []string) ([]kind, error) {
	var kinds []kind
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			return nil, fmt.Errorf("cannot list definitions: %w", err)
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("cannot find a definition in %s", folder)
		}
		for _, f := range files {
			data, err := os.ReadFile(filepath.Clean(f))
			if err != nil {
				return nil, fmt.Errorf("cannot read definition: %w", err)
			}
			k := kind{}
			if err := yaml.Unmarshal(data, &k.CustomResourceDefinition); err != nil {
				return nil, fmt.Errorf("cannot parse %s: %w", f, err)
			}
			kinds = append(kinds, k)
		}
	}
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.Spec.Group, b.Spec.Group), cmp.Compare(a.Spec.Names.Kind, b.Spec.Names.Kind))
	})
	slices.SortStableFunc(kinds, func(a, b kind) int {
		return cmp.Compare(strings.Count(a.Spec.Group, "."), strings.Count(b.Spec.Group, "."))
	})
	return kinds, nil
}

// notice is the first line of each page.
const notice = "<!-- Generated from the Go types in apis; run make generate instead of editing it. -->\n\n"

func heading(group string) string {
	return notice + "# " + group + "\n\n" +
		"All kinds of this API group, with every field. Conditions, their reasons, and what to do are in [operations.md](../operations.md).\n"
}

func index(kinds []kind) string {
	b := strings.Builder{}
	b.WriteString(notice + `# API reference

Every kind and every field: type, default, limits, and what it means. Made from the same definitions that are installed, so
` + "`kubectl explain`" + ` says the same. Pages for people: [Tenant](../tenant.md), [TerdutServer](../terdutserver.md), [SecretContract](../secretcontract.md),
[provider configs](../install.md#6-clusterproviderconfigs), and [conditions and reasons](../operations.md).

| kind | of group | scope | |
| --- | --- | --- | --- |
`)
	for _, k := range kinds {
		fmt.Fprintf(&b, "| [%s](%s#%s) | `%s` | %s | %s |\n", k.Spec.Names.Kind, k.page(), strings.ToLower(k.Spec.Names.Kind), k.Spec.Group, k.Spec.Scope, cell(k.description()))
	}
	return b.String()
}

func main() {
	ctx := kong.Parse(&CLI{}, kong.Description("Generates the API reference."))
	ctx.FatalIfErrorf(ctx.Run())
}

// A kind is what a definition defines.
type kind struct{ extv1.CustomResourceDefinition }

// page that the kind is on, named by the first part of its group.
func (k kind) page() string {
	first, _, _ := strings.Cut(k.Spec.Group, ".")
	return first + ".md"
}

func (k kind) description() string {
	for i := range k.Spec.Versions {
		if s := k.Spec.Versions[i].Schema; s != nil {
			return s.OpenAPIV3Schema.Description
		}
	}
	return ""
}
