// Command package builds the product's Crossplane packages into a folder, as files that `crossplane xpkg push` takes.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/alecthomas/kong"

	"github.com/ryuvia/provider-terdut/cluster/images"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// CLI of this program.
type CLI struct {
	Source    string   `default:"."                    help:"Folder of the product's go.mod." type:"existingdir"`
	Output    string   `default:"_output"              help:"Folder to write the packages to." short:"o" type:"path"`
	Platforms []string `default:"${platform}"          help:"Platforms to build for."`
}

// Run builds all packages.
func (c *CLI) Run() error {
	if err := os.MkdirAll(c.Output, 0o755); err != nil {
		return fmt.Errorf("cannot create output folder: %w", err)
	}
	for _, s := range c.Platforms {
		platform, err := v1.ParsePlatform(s)
		if err != nil {
			return fmt.Errorf("cannot parse platform %q: %w", s, err)
		}
		b := &images.Builder{Source: c.Source, Cache: filepath.Join(c.Output, "cache"), Platform: *platform}
		for _, p := range images.Packages() {
			if err := build(b, p, filepath.Join(c.Output, p.FileName(*platform))); err != nil {
				return err
			}
		}
	}
	return nil
}

func build(b *images.Builder, p images.Package, file string) error {
	img, err := b.Build(context.Background(), p)
	if err != nil {
		return err
	}
	if err := images.Save(img, file); err != nil {
		return err
	}
	d, err := img.Digest()
	if err != nil {
		return fmt.Errorf("cannot compute digest of package %q: %w", p.Name, err)
	}
	fmt.Println(file, d)
	return nil
}

func main() {
	ctx := kong.Parse(&CLI{},
		kong.Description("Builds the product's Crossplane packages."),
		kong.Vars{"platform": "linux/" + runtime.GOARCH})
	ctx.FatalIfErrorf(ctx.Run())
}
