package images

import (
	"archive/tar"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

var platform = v1.Platform{OS: "linux", Architecture: runtime.GOARCH}

// source writes a small module with a program and a package folder.
func source(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":                            "module example.org/product\n\ngo 1.26\n",
		"cmd/hello/main.go":                 "package main\n\nfunc main() { println(\"hello\") }\n",
		"package/crossplane.yaml":           "# About.\nkind: Provider\n",
		"package/crds/b.yaml":               "---\nkind: B\n---\nkind: C\n",
		"package/crds/a.yaml":               "kind: A\n",
		"package/crds/README.md":            "no object\n",
		"package/configuration/object.yaml": "kind: Other\n",
		"examples/a.yaml":                   "kind: A\nmetadata: {name: example}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBuild(t *testing.T) {
	pkg := Package{Name: "provider-hello", Root: "package", Include: []string{"crossplane.yaml", "crds"}, Examples: []string{"examples"}, Main: "cmd/hello"}
	build := func(src, cache string) v1.Image {
		img, err := (&Builder{Source: src, Cache: cache, Platform: platform}).Build(context.Background(), pkg)
		if err != nil {
			t.Fatalf("Build(...): %v", err)
		}
		return img
	}
	src, cache := source(t), t.TempDir()
	img := build(src, cache)
	if err := validate.Image(img); err != nil {
		t.Errorf("validate.Image(...): %v", err)
	}

	want, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for reason, again := range map[string]v1.Image{
		"The same sources in another folder give the same image.": build(source(t), t.TempDir()),
		"A cached runtime image is the image that was built.":     build(src, cache),
	} {
		got, err := again.Digest()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("\n%s\nBuild(...): -want digest, +got digest:\n%s", reason, diff)
		}
	}

	cfg, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	m, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{}
	for i, mark := range []string{"", "base", "upbound"} {
		var want map[string]string
		if mark != "" {
			want = map[string]string{"io.crossplane.xpkg": mark}
			labels["io.crossplane.xpkg:"+m.Layers[i].Digest.String()] = mark
		}
		if diff := cmp.Diff(want, m.Layers[i].Annotations); diff != "" {
			t.Errorf("annotations of layer %d: -want, +got:\n%s", i, diff)
		}
	}
	wantConfig := v1.Config{User: "65532:65532", Entrypoint: []string{"/provider-hello"}, Labels: labels}
	if diff := cmp.Diff(wantConfig, cfg.Config); diff != "" {
		t.Errorf("image config: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(platform, *cfg.Platform()); diff != "" {
		t.Errorf("platform: -want, +got:\n%s", diff)
	}

	files := untar(t, mutate.Extract(img))
	wantObjects := "---\n# About.\nkind: Provider\n---\nkind: A\n---\nkind: B\n---\nkind: C\n"
	if diff := cmp.Diff(wantObjects, files["package.yaml"]); diff != "" {
		t.Errorf("package.yaml: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("---\nkind: A\nmetadata: {name: example}\n", files[".up/examples.yaml"]); diff != "" {
		t.Errorf("examples: -want, +got:\n%s", diff)
	}
	checkFiles(t, files, "provider-hello")
}

// checkFiles holds that an image has a program, the authorities that it needs to know whom it talks to, and nothing else to run.
func checkFiles(t *testing.T, files map[string]string, program string) {
	t.Helper()
	want := []string{".up/examples.yaml", "etc/ssl/certs/ca-certificates.crt", "package.yaml", program}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Errorf("files of the image: -want, +got:\n%s", diff)
	}
	if !strings.HasPrefix(files[program], "\x7fELF") {
		t.Error("the program is no executable")
	}
	n := 0
	for rest := []byte(files["etc/ssl/certs/ca-certificates.crt"]); ; n++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if c, err := x509.ParseCertificate(block.Bytes); err != nil || !c.IsCA {
			t.Errorf("certificate %d is of no authority: %v", n, err)
		}
	}
	// About 120 authorities are trusted without conditions.
	if n < 80 {
		t.Errorf("the image has certificates of %d authorities", n)
	}
}

func TestBuildErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		pkg    Package
	}{
		"NoProgram":  {reason: "A program that does not exist is an error.", pkg: Package{Root: "package", Main: "cmd/none"}},
		"NoObjects":  {reason: "An included file that does not exist is an error.", pkg: Package{Root: "package", Include: []string{"none"}}},
		"NoExamples": {reason: "An example that does not exist is an error.", pkg: Package{Root: "package", Examples: []string{"none"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &Builder{Source: source(t), Cache: t.TempDir(), Platform: platform}
			if _, err := b.Build(t.Context(), tc.pkg); err == nil {
				t.Errorf("\n%s\nBuild(...): want an error", tc.reason)
			}
		})
	}
}

// TestPackages checks what the product's packages say of each other.
func TestPackages(t *testing.T) {
	root := filepath.Join("..", "..")
	b := &Builder{Source: root}
	names := map[string]bool{}
	for _, p := range Packages() {
		if _, err := b.objects(p); err != nil {
			t.Errorf("objects(%s): %v", p.Name, err)
		}
		raw, err := os.ReadFile(filepath.Join(root, p.Root, "crossplane.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(raw), "\n  name: "+p.Name+"\n") {
			t.Errorf("%s/crossplane.yaml: want metadata.name %s", p.Root, p.Name)
		}
		for line := range strings.Lines(string(raw)) {
			if dep, ok := strings.CutPrefix(strings.TrimSpace(line), "package: "); ok && !names[dep] {
				t.Errorf("package %s depends on %s, which is none of the packages before it", p.Name, dep)
			}
		}
		names[Repository+"/"+p.Name] = true
	}
}

func untar(t *testing.T, rc io.ReadCloser) map[string]string {
	t.Helper()
	defer rc.Close()
	files := map[string]string{}
	for tr := tar.NewReader(rc); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(content)
	}
}

// TestBinaryOfEachSource holds that what one source was compiled to stays when another is compiled with the same cache: it may be running.
func TestBinaryOfEachSource(t *testing.T) {
	cache, other := t.TempDir(), source(t)
	if err := os.WriteFile(filepath.Join(other, "cmd/hello/main.go"), []byte("package main\n\nfunc main() { println(\"other\") }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, src := range []string{source(t), other} {
		path, err := (&Builder{Source: src, Cache: cache, Platform: platform}).Binary(context.Background(), Package{Name: "hello", Main: "cmd/hello"})
		if err != nil {
			t.Fatalf("Binary(...): %v", err)
		}
		paths = append(paths, path)
	}
	for i, want := range []string{"hello\n", "other\n"} {
		out, err := exec.Command(paths[i]).CombinedOutput()
		if diff := cmp.Diff(want, string(out)); diff != "" || err != nil {
			t.Errorf("binary %d: %v, -want, +got:\n%s", i, err, diff)
		}
	}
}
