// Package images builds the product's Crossplane packages and their runtime images, without a container engine.
//
// A runtime image is one static binary and the certificates of public authorities, in one layer on the empty image. A package is that
// image with one more layer, which holds the package's metadata and API objects, and another one with examples. The same sources give the
// same bytes.
package images

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Repository is the public home of the packages. The Configuration packages depend on the others by names below it.
const Repository = "ghcr.io/ryuvia"

// Annotation marks the layers of a package that hold more than files to run, see the xpkg specification of Crossplane
// (https://github.com/crossplane/crossplane/blob/main/contributing/specifications/xpkg.md). An image's config has a label for each, with the
// digest of the layer behind a colon, because files do not keep annotations.
const Annotation = "io.crossplane.xpkg"

// What Annotation says of the layer with a package's metadata and objects, and of the one with its examples, and what is in them. The second
// is as Crossplane's own CLI does it.
const (
	objectsMark  = "base"
	objectsFile  = "package.yaml"
	examplesMark = "upbound"
	examplesFile = ".up/examples.yaml"
)

// A Package says where a Crossplane package comes from. Paths are relative to the folder of the product's go.mod.
type Package struct {
	// Name of the package, its repository below Repository.
	Name string
	// Root is the folder of the package's crossplane.yaml.
	Root string
	// Include names what belongs to the package in Root: files, and folders with everything in them.
	Include []string
	// Examples names manifests that show how the package is used: files, and folders with everything in them.
	Examples []string
	// Main is the folder of the package's program. Empty when it has none, as Configurations do.
	Main string
}

// Packages of the product. Dependencies come before what depends on them.
func Packages() []Package {
	return []Package{
		{
			Name: "provider-terdut", Root: "package", Include: []string{"crossplane.yaml", "crds"}, Main: "cmd/provider",
			Examples: []string{"examples/baosecret", "examples/oncall", "examples/pgdatabase", "examples/providerconfigs"},
		},
		function("tenant", "examples/tenant/tenant.yaml"),
		function("terdutserver", "examples/terdutserver/tenant.yaml", "examples/terdutserver/terdutserver.yaml"),
		function("secretcontract", "examples/secretcontract/secretcontract.yaml"),
		configuration("configuration-terdut", "package/configuration"),
		configuration("configuration-terdut-claims", "package/configuration-claims"),
	}
}

// configuration is the package of one flavour of the kinds. The manifests that are its examples are the same in both.
func configuration(name, root string) Package {
	return Package{
		Name: name, Root: root, Include: []string{"."},
		Examples: []string{
			"examples/tenant/tenant.yaml", "examples/terdutserver/tenant.yaml", "examples/terdutserver/terdutserver.yaml",
			"examples/secretcontract/provisioned.yaml", "examples/secretcontract/secretcontract.yaml",
		},
	}
}

// function is the package of a composition function. Its examples are claims and the Composition that has the function called for them.
func function(name string, claims ...string) Package {
	return Package{
		Name: "function-" + name, Root: "functions/" + name + "/package", Include: []string{"crossplane.yaml"}, Main: "functions/" + name,
		Examples: append(claims, "package/configuration/compositions/"+name+".yaml"),
	}
}

// A Builder builds packages for one platform.
type Builder struct {
	// Source is the folder of the product's go.mod.
	Source string
	// Cache is the folder that keeps compiled binaries and runtime images between builds. It is made when missing.
	Cache string
	// Platform of the binaries, for example linux/amd64.
	Platform v1.Platform
	// Version that the programs print. Empty leaves what their source says.
	Version string
}

// Build a package. The image carries the mark of each layer twice: as an annotation, which registries keep, and as a label of its config,
// which survives in a file.
func (b *Builder) Build(ctx context.Context, p Package) (v1.Image, error) {
	base := empty.Image
	if p.Main != "" {
		img, err := b.Runtime(ctx, p)
		if err != nil {
			return nil, err
		}
		base = img
	}

	objects, err := b.objects(p)
	if err != nil {
		return nil, err
	}
	img, labels, err := addLayer(base, map[string]string{}, objectsFile, objectsMark, objects)
	if err != nil {
		return nil, err
	}
	if len(p.Examples) > 0 {
		examples, err := documents(b.Source, p.Examples)
		if err != nil {
			return nil, fmt.Errorf("cannot read examples of package %q: %w", p.Name, err)
		}
		if img, labels, err = addLayer(img, labels, examplesFile, examplesMark, examples); err != nil {
			return nil, err
		}
	}

	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("cannot read image config: %w", err)
	}
	cfg = cfg.DeepCopy()
	cfg.Config.Labels = labels
	img, err = mutate.ConfigFile(img, cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot set image config: %w", err)
	}
	return img, nil
}

// addLayer with one file to an image, and its mark to the labels.
func addLayer(img v1.Image, labels map[string]string, file, mark string, content []byte) (v1.Image, map[string]string, error) {
	layer, err := fileLayer(file, content)
	if err != nil {
		return nil, nil, err
	}
	digest, err := layer.Digest()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot compute digest of package layer: %w", err)
	}
	img, err = mutate.Append(img, mutate.Addendum{Layer: layer, Annotations: map[string]string{Annotation: mark}})
	if err != nil {
		return nil, nil, fmt.Errorf("cannot add package layer: %w", err)
	}
	labels[Annotation+":"+digest.String()] = mark
	return img, labels, nil
}

// objects of a package and its metadata, as one stream of YAML documents.
func (b *Builder) objects(p Package) ([]byte, error) {
	out, err := documents(filepath.Join(b.Source, p.Root), p.Include)
	if err != nil {
		return nil, fmt.Errorf("cannot read objects of package %q: %w", p.Name, err)
	}
	return out, nil
}

// documents of YAML files and folders below a root, as one stream.
func documents(root string, paths []string) ([]byte, error) {
	var out bytes.Buffer
	for _, p := range paths {
		err := filepath.WalkDir(filepath.Join(root, p), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			// Documents are separated once, whether or not the file begins and ends as a document should.
			out.WriteString("---\n")
			out.Write(bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(raw), []byte("---"))))
			out.WriteString("\n")
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// fileLayer is a layer with one small file.
func fileLayer(name string, content []byte) (v1.Layer, error) {
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: time.Unix(0, 0)}); err != nil {
		return nil, fmt.Errorf("cannot write layer: %w", err)
	}
	if _, err := tw.Write(content); err != nil {
		return nil, fmt.Errorf("cannot write layer: %w", err)
	}
	if err := tw.Close(); err != nil {
		return nil, fmt.Errorf("cannot write layer: %w", err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(buf.Bytes())), nil })
	if err != nil {
		return nil, fmt.Errorf("cannot create layer: %w", err)
	}
	return layer, nil
}
