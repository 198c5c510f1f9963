// Command release builds everything that a release consists of into a folder. It publishes nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"

	"github.com/ryuvia/provider-terdut/cluster/images"
	"github.com/ryuvia/provider-terdut/cluster/release"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// CLI of this program.
type CLI struct {
	Source    string   `default:"."                       help:"Root of the repository, whose checked out commit is released." type:"existingdir"`
	Output    string   `default:"_output/release"         help:"Folder to write the release to, in a folder named by its version." short:"o" type:"path"`
	Platforms []string `default:"linux/amd64,linux/arm64" help:"Platforms to build for."`
	Registry  string   `default:"${registry}"             help:"Where clusters pull the packages from. It changes the install manifests only."`
}

// Run builds the release.
func (c *CLI) Run(ctx context.Context) error {
	o := release.Options{Source: c.Source, Output: c.Output, Registry: c.Registry, Packages: images.Packages(), Progress: os.Stdout}
	for _, s := range c.Platforms {
		platform, err := v1.ParsePlatform(s)
		if err != nil {
			return fmt.Errorf("cannot parse platform %q: %w", s, err)
		}
		o.Platforms = append(o.Platforms, *platform)
	}
	dir, err := release.Build(ctx, o)
	if err != nil {
		return err
	}
	fmt.Println(dir)
	return nil
}

func main() {
	// What a build leaves behind is removed when it is interrupted, too.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	k := kong.Parse(&CLI{},
		kong.Description("Builds packages, bills of materials, install manifests, provenance and checksums of a release. It publishes nothing."),
		kong.Vars{"registry": images.Repository},
		kong.BindTo(ctx, (*context.Context)(nil)))
	k.FatalIfErrorf(k.Run())
}
