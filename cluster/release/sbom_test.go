package release

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"golang.org/x/mod/modfile"

	"github.com/ryuvia/provider-terdut/cluster/images"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestBillOfMaterials(t *testing.T) {
	c := Commit{Version: "v0.1.0", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	p := images.Package{Name: "provider-hello"}
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8", Path: "example.org/product/cmd/hello", Main: debug.Module{Path: "example.org/product", Version: "(devel)"},
		Deps: []*debug.Module{
			{Path: "example.org/Zebra", Version: "v2.0.0+incompatible", Sum: "h1:z="},
			{Path: "example.org/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v1.0.1", Sum: "h1:f="}},
			{Path: "example.org/ours", Version: "v0.0.0", Replace: &debug.Module{Path: "./internal/ours", Version: "(devel)"}},
		},
		Settings: []debug.BuildSetting{{Key: "CGO_ENABLED", Value: "0"}, {Key: "GOARCH", Value: "arm64"}, {Key: "GOOS", Value: "linux"}},
	}
	got, err := billOfMaterials(p, c, info, "abc")
	if err != nil {
		t.Fatalf("billOfMaterials(...): %v", err)
	}
	const main = "pkg:golang/example.org/product@v0.1.0?goarch=arm64&goos=linux#cmd/hello"
	library := func(name, version, purl, sum string) component {
		c := component{Type: "library", Ref: purl, Name: name, Version: version, PURL: purl}
		if sum != "" {
			c.Properties = []property{{Name: "golang:go.sum", Value: sum}}
		}
		return c
	}
	want := &bom{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: metadata{Timestamp: "2026-01-02T03:04:05Z", Component: component{
			Type: "application", Ref: main, Name: "provider-hello", Version: "v0.1.0", PURL: main,
			Hashes: []hash{{Algorithm: "SHA-256", Content: "abc"}}, Licenses: []licenseChoice{{License: license{ID: "Apache-2.0"}}},
			Properties: []property{
				{Name: "cdx:gomod:build:env:GOVERSION", Value: "go1.26.8"}, {Name: "cdx:gomod:build:env:CGO_ENABLED", Value: "0"},
				{Name: "cdx:gomod:build:env:GOARCH", Value: "arm64"}, {Name: "cdx:gomod:build:env:GOOS", Value: "linux"},
			},
		}},
		Components: []component{
			library("example.org/Zebra", "v2.0.0+incompatible", "pkg:golang/example.org/zebra@v2.0.0%2Bincompatible", "h1:z="),
			library("example.org/fork", "v1.0.1", "pkg:golang/example.org/fork@v1.0.1", "h1:f="),
			library("stdlib", "1.26.8", "pkg:golang/stdlib@1.26.8", ""),
		},
		Dependencies: []dependency{{Ref: main, DependsOn: []string{
			"pkg:golang/example.org/zebra@v2.0.0%2Bincompatible", "pkg:golang/example.org/fork@v1.0.1", "pkg:golang/stdlib@1.26.8",
		}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("billOfMaterials(...): -want, +got:\n%s", diff)
	}

	info.Deps = []*debug.Module{{Path: "example.org/local", Version: "v1.0.0", Replace: &debug.Module{Path: "../local"}}}
	if _, err := billOfMaterials(p, c, info, "abc"); err == nil {
		t.Error("billOfMaterials(...) of a module from a folder: want an error")
	}
}

func TestCheckBuild(t *testing.T) {
	good := debug.BuildSetting{Key: "-trimpath", Value: "true"}
	cases := map[string]struct {
		reason   string
		settings []debug.BuildSetting
		want     bool
	}{
		"Good":       {reason: "As everybody builds it.", settings: []debug.BuildSetting{good, {Key: "GOARCH", Value: "arm64"}}, want: true},
		"Paths":      {reason: "Paths of the machine make another program.", settings: []debug.BuildSetting{{Key: "GOARCH", Value: "arm64"}}},
		"Experiment": {reason: "An experiment makes another program.", settings: []debug.BuildSetting{good, {Key: "GOEXPERIMENT", Value: "x"}}},
		"Tags":       {reason: "Tags make another program.", settings: []debug.BuildSetting{good, {Key: "-tags", Value: "x"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := checkBuild(&debug.BuildInfo{Settings: tc.settings}); (err == nil) != tc.want {
				t.Errorf("\n%s\ncheckBuild(...): want success %t, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestPrograms builds each of the product's programs for this machine. Its bill of materials must list every module of go.mod of which a
// package is in the program, and no other, as the go command tells without compiling anything; and the image must hold the program, which
// needs nothing else, authorities, and no more. With -short, only the provider is built.
func TestPrograms(t *testing.T) {
	root := filepath.Join("..", "..")
	required := requirements(t, filepath.Join(root, "go.mod"))
	b := &images.Builder{Source: root, Cache: t.TempDir(), Platform: host, Version: "v0.0.1-test"}
	for _, p := range images.Packages() {
		if p.Main == "" || testing.Short() && p.Root != "package" {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			img, err := b.Build(t.Context(), p)
			if err != nil {
				t.Fatalf("Build(...): %v", err)
			}
			bin := filepath.Join(t.TempDir(), p.Name)
			checkImage(t, img, bin)
			info, err := buildinfo.ReadFile(bin)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkBuild(info); err != nil {
				t.Errorf("checkBuild(...): %v", err)
			}
			sum, err := fileHash(bin)
			if err != nil {
				t.Fatal(err)
			}
			bom, err := billOfMaterials(p, Commit{Version: "v0.0.1-test"}, info, sum)
			if err != nil {
				t.Fatalf("billOfMaterials(...): %v", err)
			}
			listed := map[string]string{}
			for _, c := range bom.Components {
				listed[c.Name] = c.Version
			}
			if diff := cmp.Diff(strings.TrimPrefix(runtime.Version(), "go"), listed["stdlib"]); diff != "" {
				t.Errorf("standard library: -want, +got:\n%s", diff)
			}
			delete(listed, "stdlib")
			want := map[string]string{}
			for _, m := range linked(t, root, p.Main) {
				want[m] = required[m]
			}
			if diff := cmp.Diff(want, listed); diff != "" {
				t.Errorf("modules: -linked, at the version of go.mod, +listed:\n%s", diff)
			}
			if len(listed) < 20 {
				t.Errorf("only %d modules are listed", len(listed))
			}
			if out, err := exec.Command(bin, "--version").CombinedOutput(); p.Root == "package" && strings.TrimSpace(string(out)) != "v0.0.1-test" {
				t.Errorf("%s --version: got %q, %v", p.Name, out, err)
			}
		})
	}
}

// requirements of a go.mod, direct and indirect: versions by module.
func requirements(t *testing.T, path string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse(path, raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, r := range f.Require {
		out[r.Mod.Path] = r.Mod.Version
	}
	return out
}

// linked modules of a program, as the go command tells from the sources, without those that are folders of this repository.
func linked(t *testing.T, root, program string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not (or .Main (and .Replace (not .Replace.Version)))}}{{.Path}}{{end}}{{end}}", "./"+program)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), images.Environment(host)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	return slices.Compact(modules)
}

// checkImage holds that a program runs as nobody in particular and alone: no shell, no loader, no library. It takes the program out of the
// image, to a path that ends with its name.
func checkImage(t *testing.T, img v1.Image, bin string) {
	t.Helper()
	program := filepath.Base(bin)
	cfg, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if uid, _, _ := strings.Cut(cfg.Config.User, ":"); strings.Trim(uid, "0123456789") != "" || strings.Trim(uid, "0") == "" {
		t.Errorf("user of the image: want the number of one that is not root, got %q", cfg.Config.User)
	}
	if diff := cmp.Diff([]string{"/" + program}, append(cfg.Config.Entrypoint, cfg.Config.Cmd...)); diff != "" {
		t.Errorf("command of the image: -want, +got:\n%s", diff)
	}
	modes := map[string]int64{}
	rc := mutate.Extract(img)
	defer rc.Close()
	for tr := tar.NewReader(rc); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		modes[h.Name] = h.Mode
		if h.Name == program {
			takeProgram(t, tr, bin)
		}
	}
	want := []string{".up/examples.yaml", "etc/ssl/certs/ca-certificates.crt", "package.yaml", program}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(modes))); diff != "" {
		t.Errorf("files of the image: -want, +got:\n%s", diff)
	}
	for name, mode := range modes {
		if executable := mode&0o111 != 0; executable != (name == program) || mode&0o022 != 0 {
			t.Errorf("mode of %s in the image: %o", name, mode)
		}
	}
}

// takeProgram writes a program to a path and holds that it is static.
func takeProgram(t *testing.T, r io.Reader, path string) {
	t.Helper()
	raw, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("the program is no executable: %v", err)
	}
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC }) {
		t.Error("the program is not static")
	}
}
