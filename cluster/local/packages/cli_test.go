package packages

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/ryuvia/provider-terdut/cluster/images"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// TestCLI lets Crossplane's own CLI build the product's packages from the same files. It refuses files that do not belong into a
// package of their kind, and its packages must hold the same objects, marked in the same way, as ours.
func TestCLI(t *testing.T) {
	ctx := t.Context()
	cli, err := toolchain.Binary(ctx, toolchain.CrossplaneCLI)
	if err != nil {
		t.Fatalf("toolchain.Binary(...): %v", err)
	}
	root := filepath.Join("..", "..", "..")
	b := &images.Builder{Source: root, Cache: t.TempDir(), Platform: v1.Platform{OS: "linux", Architecture: runtime.GOARCH}}
	for _, p := range images.Packages() {
		t.Run(p.Name, func(t *testing.T) {
			p.Main = "" // The program is no part of the comparison.
			ours, err := b.Build(ctx, p)
			if err != nil {
				t.Fatalf("Build(...): %v", err)
			}
			theirs := buildWithCLI(ctx, t, cli, root, p)
			if diff := cmp.Diff(contents(t, theirs), contents(t, ours)); diff != "" {
				t.Errorf("objects: -CLI, +Build:\n%s", diff)
			}
			for name, img := range map[string]v1.Image{"CLI": theirs, "Build": ours} {
				if diff := cmp.Diff([]string{"base", "upbound"}, markers(t, img)); diff != "" {
					t.Errorf("%s: labels of layers, for objects and examples: -want, +got:\n%s", name, diff)
				}
			}
		})
	}
}

// buildWithCLI copies what belongs to a package to a folder of its own and builds it with the CLI.
func buildWithCLI(ctx context.Context, t *testing.T, cli, root string, p images.Package) v1.Image {
	t.Helper()
	dir := t.TempDir()
	objects, examples := filepath.Join(dir, "package"), filepath.Join(dir, "examples")
	for _, i := range p.Include {
		copyTo(t, filepath.Join(root, p.Root, i), filepath.Join(objects, i))
	}
	for _, e := range p.Examples {
		copyTo(t, filepath.Join(root, e), filepath.Join(examples, e))
	}
	file := filepath.Join(dir, "out.xpkg")
	cmd := exec.CommandContext(ctx, cli, "xpkg", "build", "--package-root="+objects, "--examples-root="+examples, "--package-file="+file)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("crossplane xpkg build: %v\n%s", err, out)
	}
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		t.Fatalf("tarball.ImageFromPath(...): %v", err)
	}
	return img
}

// copyTo copies a file, or a folder with everything in it.
func copyTo(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// contents lists the objects in a package: kind, version and name. The CLI normalises what else they hold.
func contents(t *testing.T, img v1.Image) map[metav1.TypeMeta][]string {
	t.Helper()
	out := map[metav1.TypeMeta][]string{}
	for r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(objectsOf(t, img)))); ; {
		doc, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		o := metav1.PartialObjectMetadata{}
		if err := yaml.Unmarshal(doc, &o); err != nil {
			t.Fatal(err)
		}
		if o.Kind != "" {
			out[o.TypeMeta] = append(out[o.TypeMeta], o.Name)
		}
	}
}

// markers that labels give to layers, in the order of the layers.
func markers(t *testing.T, img v1.Image) []string {
	t.Helper()
	cfg, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range layers {
		d, err := l.Digest()
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := cfg.Config.Labels["io.crossplane.xpkg:"+d.String()]; ok {
			out = append(out, m)
		}
	}
	return out
}
