package release

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"

	"github.com/ryuvia/provider-terdut/cluster/images"
)

// manifests of the product, by the name of their file.
func manifests(t *testing.T, registry string) map[string][]*unstructured.Unstructured {
	t.Helper()
	b := &builder{
		Options: Options{Registry: registry, Packages: images.Packages(), Progress: io.Discard},
		source:  filepath.Join("..", ".."), out: t.TempDir(), commit: Commit{Version: "v0.3.0"},
	}
	if err := b.writeManifests(); err != nil {
		t.Fatalf("writeManifests(): %v", err)
	}
	out := map[string][]*unstructured.Unstructured{}
	for name, content := range readAll(t, b.out) {
		out[name] = decode(t, []byte(content))
	}
	return out
}

func decode(t *testing.T, stream []byte) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(stream))); ; {
		doc, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		o := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(doc, &o.Object); err != nil {
			t.Fatal(err)
		}
		if o.GetKind() != "" {
			out = append(out, o)
		}
	}
}

// installed packages of a manifest: what each object installs, by its name, in the order of the manifest.
func installed(objects []*unstructured.Unstructured) (names []string, refs map[string]string) {
	refs = map[string]string{}
	for _, o := range objects {
		if ref, ok, _ := unstructured.NestedString(o.Object, "spec", "package"); ok {
			names = append(names, o.GetKind()+"/"+o.GetName())
			refs[o.GetName()] = ref
		}
	}
	return names, refs
}

func TestManifest(t *testing.T) {
	all := manifests(t, images.Repository)
	objects := all["install.yaml"]
	names, refs := installed(objects)
	want := []string{
		"Provider/ryuvia-provider-terdut", "Function/ryuvia-function-tenant", "Function/ryuvia-function-terdutserver",
		"Function/ryuvia-function-secretcontract", "Configuration/configuration-terdut",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("packages: -want, +got:\n%s", diff)
	}
	for name, ref := range refs {
		if want := "ghcr.io/ryuvia/" + strings.TrimPrefix(name, "ryuvia-") + ":v0.3.0"; ref != want {
			t.Errorf("package of %s: want %s, got %s", name, want, ref)
		}
	}

	for _, o := range objects {
		if into := known(o); into != nil {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, into, true); err != nil {
				t.Errorf("%s %s is not what the package manager knows: %v", o.GetKind(), o.GetName(), err)
			}
		}
		if o.GetKind() == "Provider" {
			name, _, err := unstructured.NestedString(o.Object, "spec", "runtimeConfigRef", "name")
			if !contains(objects, "DeploymentRuntimeConfig", name) {
				t.Errorf("runtimeConfigRef of the Provider: %q is not in the manifest: %v", name, err)
			}
		}
		if o.GetKind() == "ImageConfig" && o.GetName() == mirrorConfig {
			t.Error("packages are mirrored, though no registry was named")
		}
	}
	for _, f := range installFiles {
		raw, err := os.ReadFile(filepath.Join("..", "..", installDir, f))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range decode(t, raw) {
			if !contains(objects, o.GetKind(), o.GetName()) {
				t.Errorf("%s %s of %s is not in the manifest", o.GetKind(), o.GetName(), f)
			}
		}
	}
	for _, p := range images.Packages() {
		if _, ok := all["install"+strings.TrimPrefix(p.Name, "configuration-terdut")+".yaml"]; strings.HasPrefix(p.Name, "configuration-") && !ok {
			t.Errorf("%s has no install manifest", p.Name)
		}
	}
}

// TestManifestNames holds that every function that a Composition calls is installed by the name that it is called by.
func TestManifestNames(t *testing.T) {
	for file, objects := range manifests(t, images.Repository) {
		for _, p := range images.Packages() {
			if !contains(objects, "Configuration", p.Name) {
				continue
			}
			compositions, err := filepath.Glob(filepath.Join("..", "..", p.Root, "compositions", "*.yaml"))
			if err != nil || len(compositions) == 0 {
				t.Fatalf("Compositions of %s: %v, %v", p.Name, compositions, err)
			}
			for _, c := range compositions {
				raw, err := os.ReadFile(c)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range decode(t, raw) {
					steps, _, _ := unstructured.NestedSlice(o.Object, "spec", "pipeline")
					for _, s := range steps {
						name, _, _ := unstructured.NestedString(s.(map[string]any), "functionRef", "name")
						if !contains(objects, "Function", name) {
							t.Errorf("%s: function %q of %s is not installed", file, name, filepath.Base(c))
						}
					}
				}
			}
		}
	}
}

// TestManifestMirror holds that a registry of one's own changes where packages are pulled from, and not their names: the Configuration
// depends on the public ones.
func TestManifestMirror(t *testing.T) {
	public, mirrored := manifests(t, images.Repository)["install.yaml"], manifests(t, "registry.example.org/mirror")["install.yaml"]
	_, want := installed(public)
	_, got := installed(mirrored)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packages: -public, +mirrored:\n%s", diff)
	}
	i := slices.IndexFunc(mirrored, func(o *unstructured.Unstructured) bool { return o.GetName() == mirrorConfig })
	if i < 0 {
		t.Fatal("there is no ImageConfig for the mirror")
	}
	spec := map[string]any{
		"matchImages":  []any{map[string]any{"type": "Prefix", "prefix": "ghcr.io/ryuvia/"}},
		"rewriteImage": map[string]any{"prefix": "registry.example.org/mirror/"},
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(mirrored[i].Object, known(mirrored[i]), true); err != nil {
		t.Errorf("the ImageConfig is not what the package manager knows: %v", err)
	}
	if diff := cmp.Diff(spec, mirrored[i].Object["spec"]); diff != "" {
		t.Errorf("ImageConfig: -want, +got:\n%s", diff)
	}
	if first := slices.IndexFunc(mirrored, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Provider" }); first < i {
		t.Error("the packages come before the ImageConfig that says where they are")
	}
}

// known is an empty object of the package manager's API, or nil.
func known(o *unstructured.Unstructured) any {
	switch o.GroupVersionKind() {
	case pkgv1.ProviderGroupVersionKind:
		return &pkgv1.Provider{}
	case pkgv1.FunctionGroupVersionKind:
		return &pkgv1.Function{}
	case pkgv1.ConfigurationGroupVersionKind:
		return &pkgv1.Configuration{}
	case pkgv1beta1.SchemeGroupVersion.WithKind("ImageConfig"):
		return &pkgv1beta1.ImageConfig{}
	default:
		return nil
	}
}

func contains(objects []*unstructured.Unstructured, kind, name string) bool {
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind && o.GetName() == name })
}
