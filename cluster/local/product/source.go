package product

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ryuvia/provider-terdut/cluster/images"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// A Source is this repository, as it is or as it was, from which packages are built and installed.
type Source struct {
	// Dir is the folder of its go.mod.
	Dir string
	// Version that its packages are installed as.
	Version string
	// Packages that it has. Dependencies come before what depends on them.
	Packages []images.Package
}

// Own is the repository as it is.
func Own(ctx context.Context) (Source, error) {
	root, err := toolchain.Root(ctx)
	if err != nil {
		return Source{}, err
	}
	return Source{Dir: root, Version: Version, Packages: images.Packages()}, nil
}

// of what is installed with a Configuration: the others are other flavours.
func (s Source) of(configuration string) []images.Package {
	return slices.DeleteFunc(slices.Clone(s.Packages), func(p images.Package) bool {
		return strings.HasPrefix(p.Name, Configuration) && p.Name != configuration
	})
}

// applyRoles applies the manifests that packages cannot carry.
func (p *Product) applyRoles(ctx context.Context, s Source) error {
	for _, f := range []string{"provider.yaml", "crossplane.yaml"} {
		documents, err := os.ReadFile(filepath.Join(s.Dir, "package", "install", f))
		if err != nil {
			return fmt.Errorf("cannot read manifest: %w", err)
		}
		if err := p.Plane.Apply(ctx, documents); err != nil {
			return err
		}
	}
	return nil
}

// kindsServed waits until the API server serves every kind that the packages of a source bring.
func (p *Product) kindsServed(ctx context.Context, s Source) error {
	names, err := s.kinds()
	if err != nil {
		return err
	}
	return p.WaitFor(ctx, "kinds to be served", func(ctx context.Context) error {
		for _, name := range names {
			if err := p.served(ctx, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// kinds are the names of the CustomResourceDefinitions that the packages bring, which the names of their files tell.
func (s Source) kinds() ([]string, error) {
	var names []string
	for pattern, name := range map[string]func(file string) string{
		"package/crds/*.yaml": func(file string) string {
			group, plural, _ := strings.Cut(file, "_")
			return plural + "." + group
		},
		"package/configuration/definitions/*.yaml": func(file string) string { return file + ".terdut.ryuvia.com" },
	} {
		files, err := filepath.Glob(filepath.Join(s.Dir, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("cannot find kinds: no file %s in %s", pattern, s.Dir)
		}
		for _, f := range files {
			names = append(names, name(strings.TrimSuffix(filepath.Base(f), ".yaml")))
		}
	}
	slices.Sort(names)
	return names, nil
}
