package release

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/ryuvia/provider-terdut/cluster/images"
)

const (
	// installDir has the manifests that packages cannot carry: roles, and how the provider is run. They come first.
	installDir = "package/install"
	// defaultConfiguration is the one whose install manifest has the short name.
	defaultConfiguration = "configuration-terdut"
	// runtimeConfig of the provider, which is in installDir.
	runtimeConfig = "provider-terdut"
	// mirrorConfig is the ImageConfig of a mirror.
	mirrorConfig = "terdut-mirror"

	kindConfiguration = "Configuration"
	kindProvider      = "Provider"
)

// installFiles in installDir that every installation needs.
var installFiles = []string{"provider.yaml", "crossplane.yaml"}

// object is a manifest of the package manager, without what only its controllers write.
type object struct {
	metav1.TypeMeta `json:",inline"`

	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec map[string]any `json:"spec"`
}

// writeManifests writes an install manifest for each Configuration. It names each package with its version: a dependency alone would bring
// the latest version there is, and never a later one.
func (b *builder) writeManifests() error {
	roles := [][]byte{}
	for _, f := range installFiles {
		raw, err := os.ReadFile(filepath.Join(b.source, installDir, f))
		if err != nil {
			return fmt.Errorf("cannot read roles: %w", err)
		}
		roles = append(roles, raw)
	}
	var shared []object
	var configurations []images.Package
	if b.Registry != images.Repository {
		shared = append(shared, mirror(b.Registry))
	}
	for _, p := range b.Packages {
		kind, err := b.kind(p)
		if err != nil {
			return err
		}
		if kind == kindConfiguration {
			configurations = append(configurations, p)
			continue
		}
		shared = append(shared, b.install(p, kind))
	}
	for _, c := range configurations {
		file := "install" + strings.TrimPrefix(c.Name, defaultConfiguration) + ".yaml"
		content, err := manifest(roles, append(shared[:len(shared):len(shared)], b.install(c, kindConfiguration)))
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(b.out, file), content); err != nil {
			return err
		}
	}
	return nil
}

// kind of a package: Provider, Function or Configuration.
func (b *builder) kind(p images.Package) (string, error) {
	raw, err := os.ReadFile(filepath.Join(b.source, p.Root, "crossplane.yaml"))
	if err != nil {
		return "", fmt.Errorf("cannot read metadata of package %q: %w", p.Name, err)
	}
	m := metav1.TypeMeta{}
	if err := yaml.Unmarshal(raw, &m); err != nil {
		return "", fmt.Errorf("cannot parse metadata of package %q: %w", p.Name, err)
	}
	return m.Kind, nil
}

// install object of a package. It has the name that Crossplane gives to a dependency, organisation and repository: Compositions name their
// functions by it, and Crossplane installs no second one. The package has its public name, wherever it is pulled from.
func (b *builder) install(p images.Package, kind string) object {
	o := object{TypeMeta: metav1.TypeMeta{APIVersion: "pkg.crossplane.io/v1", Kind: kind}}
	_, organisation, _ := strings.Cut(images.Repository, "/")
	o.Metadata.Name = strings.ReplaceAll(organisation+"/"+p.Name, "/", "-")
	o.Spec = map[string]any{"package": images.Repository + "/" + p.Name + ":" + b.commit.Version}
	switch kind {
	case kindProvider:
		o.Spec["runtimeConfigRef"] = map[string]any{"name": runtimeConfig}
	case kindConfiguration:
		// Nothing depends on it, so it has the name that people use.
		o.Metadata.Name = p.Name
	}
	return o
}

// mirror tells Crossplane to pull packages from another registry than their public home.
func mirror(registry string) object {
	o := object{TypeMeta: metav1.TypeMeta{APIVersion: "pkg.crossplane.io/v1beta1", Kind: "ImageConfig"}}
	o.Metadata.Name = mirrorConfig
	o.Spec = map[string]any{
		"matchImages":  []any{map[string]any{"type": "Prefix", "prefix": images.Repository + "/"}},
		"rewriteImage": map[string]any{"prefix": strings.TrimSuffix(registry, "/") + "/"},
	}
	return o
}

// manifest of roles as they are and objects, as one stream of documents.
func manifest(roles [][]byte, objects []object) ([]byte, error) {
	docs := roles[:len(roles):len(roles)]
	for _, o := range objects {
		raw, err := yaml.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("cannot encode %s %q: %w", o.Kind, o.Metadata.Name, err)
		}
		docs = append(docs, raw)
	}
	for i, d := range docs {
		docs[i] = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(d), []byte("---\n")))
	}
	return append(bytes.Join(docs, []byte("\n---\n")), '\n'), nil
}
