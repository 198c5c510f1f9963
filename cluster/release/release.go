// Package release builds everything that a release consists of into a folder: packages for each platform, a software bill of materials of
// each program, an install manifest for each Configuration, a statement of provenance, and checksums. It publishes nothing.
//
// It builds what is committed, from an export of the commit, and not what lies in the working tree. No clock, path or name of this machine
// is in the result, so the same commit and tags, compiled by the same version of Go, give the same bytes.
package release

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ryuvia/provider-terdut/cluster/images"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Options of a release.
type Options struct {
	// Source is the root of the repository's working tree.
	Source string
	// Output is the folder in which the release gets a folder of its own, named by its version. One that is there is replaced.
	Output string
	// Platforms of the packages, in the order in which their images are indexed.
	Platforms []v1.Platform
	// Registry is where the packages will be found, for example registry.example.org/mirror. It changes the install manifests only: packages
	// know each other by their public names. Empty means the public home of the packages.
	Registry string
	// Packages to build.
	Packages []images.Package
	// Progress is told, one line each, what is done.
	Progress io.Writer
}

// builder makes one release.
type builder struct {
	Options

	commit Commit
	// source is the exported commit, cache what the builds of packages share, out where the release's files are made.
	source, cache, out string
	// goVersion that compiled the programs.
	goVersion string
}

// Build a release and return its folder, which appears complete or not at all.
func Build(ctx context.Context, o Options) (string, error) {
	if o.Registry == "" {
		o.Registry = images.Repository
	}
	if err := o.validate(); err != nil {
		return "", err
	}
	commit, err := Head(ctx, o.Source)
	if err != nil {
		return "", err
	}
	output, err := filepath.Abs(o.Output)
	if err != nil {
		return "", fmt.Errorf("cannot resolve folder %q: %w", o.Output, err)
	}
	if err := os.MkdirAll(output, 0o755); err != nil {
		return "", fmt.Errorf("cannot create output folder: %w", err)
	}
	tmp, err := os.MkdirTemp(output, ".new-*")
	if err != nil {
		return "", fmt.Errorf("cannot create work folder: %w", err)
	}
	defer os.RemoveAll(tmp) // What is left of it was worth nothing.

	b := &builder{
		Options: o, commit: commit,
		source: filepath.Join(tmp, "source"), cache: filepath.Join(tmp, "cache"), out: filepath.Join(tmp, commit.Version),
	}
	if err := b.build(ctx); err != nil {
		return "", err
	}
	final := filepath.Join(output, commit.Version)
	if err := os.RemoveAll(final); err != nil {
		return "", fmt.Errorf("cannot remove earlier release: %w", err)
	}
	if err := os.Rename(b.out, final); err != nil {
		return "", fmt.Errorf("cannot move release into place: %w", err)
	}
	return final, nil
}

func (b *builder) build(ctx context.Context) error {
	b.report("%s from commit %s", b.commit.Version, b.commit.ID)
	if b.commit.Dirty {
		b.report("changes that are not committed are left out")
	}
	if err := Export(ctx, b.Source, b.commit.ID, b.source); err != nil {
		return err
	}
	if err := checkChangelog(b.source, b.commit); err != nil {
		return err
	}
	if err := os.Mkdir(b.out, 0o755); err != nil {
		return fmt.Errorf("cannot create release folder: %w", err)
	}
	for _, p := range b.Packages {
		if err := b.pack(ctx, p); err != nil {
			return err
		}
	}
	if err := b.writeManifests(); err != nil {
		return err
	}
	if err := b.writeProvenance(); err != nil {
		return err
	}
	return writeChecksums(b.out)
}

// pack writes a package's files, and a bill of materials of its program beside each.
func (b *builder) pack(ctx context.Context, p images.Package) error {
	for _, platform := range b.platforms(p) {
		i := &images.Builder{Source: b.source, Cache: b.cache, Platform: platform, Version: b.commit.Version}
		img, err := i.Build(ctx, p)
		if err != nil {
			return err
		}
		file := filepath.Join(b.out, p.FileName(platform))
		if err := images.Save(img, file); err != nil {
			return err
		}
		b.report("%s", filepath.Base(file))
		if p.Main == "" {
			continue
		}
		bin, err := i.Binary(ctx, p)
		if err != nil {
			return err
		}
		info, err := buildinfo.ReadFile(bin)
		if err != nil {
			return fmt.Errorf("cannot read modules of %s: %w", p.Name, err)
		}
		if err := checkBuild(info); err != nil {
			return fmt.Errorf("cannot release %s: %w", p.Name, err)
		}
		b.goVersion = info.GoVersion
		hash, err := fileHash(bin)
		if err != nil {
			return err
		}
		bom, err := billOfMaterials(p, b.commit, info, hash)
		if err != nil {
			return fmt.Errorf("cannot list modules of %s: %w", p.Name, err)
		}
		if err := writeJSON(bomFile(file), bom); err != nil {
			return err
		}
	}
	return nil
}

// platforms that a package is built for: one that has no program is built once.
func (b *builder) platforms(p images.Package) []v1.Platform {
	if p.Main == "" {
		return b.Platforms[:1]
	}
	return b.Platforms
}

func (b *builder) report(format string, args ...any) {
	_, _ = fmt.Fprintf(b.Progress, format+"\n", args...)
}
