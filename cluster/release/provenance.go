package release

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/ryuvia/provider-terdut/cluster/images"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	provenanceFile = "provenance.json"

	repository = "https://github.com/ryuvia/provider-terdut"
	// buildType and builderID name paragraphs that say what this build does, and that nobody vouches for who ran it.
	buildType = repository + "/blob/main/docs/releases.md#build-type"
	builderID = repository + "/blob/main/docs/releases.md#builder"
)

// A statement is an in-toto Statement v1 (https://github.com/in-toto/attestation/tree/main/spec/v1) whose predicate is SLSA provenance v1
// (https://slsa.dev/spec/v1.1/provenance). Times and an id of the run are left out: they are optional, and would make each run another.
type statement struct {
	Type          string       `json:"_type"`
	Subject       []descriptor `json:"subject"`
	PredicateType string       `json:"predicateType"`
	Predicate     provenance   `json:"predicate"`
}

type descriptor struct {
	Name      string            `json:"name,omitempty"`
	URI       string            `json:"uri,omitempty"`
	MediaType string            `json:"mediaType,omitempty"`
	Digest    map[string]string `json:"digest"`
}

type provenance struct {
	BuildDefinition buildDefinition `json:"buildDefinition"`
	RunDetails      runDetails      `json:"runDetails"`
}

type buildDefinition struct {
	BuildType            string             `json:"buildType"`
	ExternalParameters   externalParameters `json:"externalParameters"`
	InternalParameters   internalParameters `json:"internalParameters"`
	ResolvedDependencies []descriptor       `json:"resolvedDependencies"`
}

// externalParameters are what whoever ran the build decided.
type externalParameters struct {
	Source    string   `json:"source"`
	Version   string   `json:"version"`
	Platforms []string `json:"platforms"`
	Registry  string   `json:"registry"`
}

// internalParameters are what the build decided.
type internalParameters struct {
	GoVersion   string              `json:"goVersion"`
	Environment map[string][]string `json:"environment"`
}

type runDetails struct {
	Builder struct {
		ID string `json:"id"`
	} `json:"builder"`
}

// writeProvenance says of what is in the release folder, and of the images that registries will hold, what it was made of.
func (b *builder) writeProvenance() error {
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	entries, err := os.ReadDir(b.out)
	if err != nil {
		return fmt.Errorf("cannot read release folder: %w", err)
	}
	for _, e := range entries {
		sum, err := fileHash(filepath.Join(b.out, e.Name()))
		if err != nil {
			return err
		}
		s.Subject = append(s.Subject, descriptor{Name: e.Name(), Digest: map[string]string{"sha256": sum}})
	}
	for _, p := range b.Packages {
		d, err := b.pushed(p)
		if err != nil {
			return fmt.Errorf("cannot compute digest of package %q: %w", p.Name, err)
		}
		s.Subject = append(s.Subject, *d)
	}
	slices.SortFunc(s.Subject, func(a, b descriptor) int { return cmp.Compare(a.Name, b.Name) })

	source := "git+" + repository
	d := &s.Predicate.BuildDefinition
	d.BuildType = buildType
	d.ExternalParameters = externalParameters{Source: source, Version: b.commit.Version, Registry: b.Registry}
	d.InternalParameters = internalParameters{GoVersion: b.goVersion, Environment: map[string][]string{}}
	for _, p := range b.Platforms {
		d.ExternalParameters.Platforms = append(d.ExternalParameters.Platforms, p.String())
		d.InternalParameters.Environment[p.String()] = images.Environment(p)
	}
	d.ResolvedDependencies = []descriptor{{URI: source, Digest: map[string]string{"gitCommit": b.commit.ID}}}
	s.Predicate.RunDetails.Builder.ID = builderID
	return writeJSON(filepath.Join(b.out, provenanceFile), s)
}

// pushed describes what a registry holds of a package once `crossplane xpkg push` has pushed its files in the order of the platforms: the
// image of the only file, or an index of all images.
func (b *builder) pushed(p images.Package) (*descriptor, error) {
	platforms := b.platforms(p)
	var adds []mutate.IndexAddendum
	for _, platform := range platforms {
		img, err := pushedImage(filepath.Join(b.out, p.FileName(platform)))
		if err != nil {
			return nil, err
		}
		adds = append(adds, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: platform.OS, Architecture: platform.Architecture}}})
	}
	out := &descriptor{Name: images.Repository + "/" + p.Name, Digest: map[string]string{}}
	var what interface {
		Digest() (v1.Hash, error)
		MediaType() (types.MediaType, error)
	} = mutate.AppendManifests(empty.Index, adds...)
	if len(adds) == 1 {
		what = adds[0].Add.(v1.Image)
	}
	d, err := what.Digest()
	if err != nil {
		return nil, err
	}
	m, err := what.MediaType()
	if err != nil {
		return nil, err
	}
	out.Digest[d.Algorithm], out.MediaType = d.Hex, string(m)
	return out, nil
}

// pushedImage is what is pushed of a file. Files do not keep annotations of layers: they are taken from labels then.
func pushedImage(file string) (v1.Image, error) {
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		return nil, err
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	out := empty.Image
	for _, l := range layers {
		add := mutate.Addendum{Layer: l}
		d, err := l.Digest()
		if err != nil {
			return nil, err
		}
		if mark, ok := cfg.Config.Labels[images.Annotation+":"+d.String()]; ok {
			add.Annotations = map[string]string{images.Annotation: mark}
		}
		if out, err = mutate.Append(out, add); err != nil {
			return nil, err
		}
	}
	return mutate.ConfigFile(out, cfg)
}
