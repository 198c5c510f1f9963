package packages

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/ryuvia/provider-terdut/cluster/images"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// crossplaneImage is the image that the CLI takes the schemas of Crossplane's own kinds from.
const crossplaneImage = "xpkg.crossplane.io/crossplane/crossplane@stable"

// broken is what only the schemas of the packages can find fault with.
const broken = `
apiVersion: terdut.ryuvia.com/v1alpha1
kind: Tenant
metadata: {namespace: shop, name: broken}
spec: {deletionPolicy: Sometimes}
---
apiVersion: postgresql.terdut.ryuvia.com/v1alpha1
kind: PGDatabase
metadata: {namespace: shop, name: broken}
spec: {forProvider: {owner: {name: shop}}}
`

// TestValidate lets Crossplane's own CLI judge what each Configuration package holds, the roles of the install manifest and all examples, by
// the schemas in the packages, which it finds through the dependencies, and those of Crossplane.
func TestValidate(t *testing.T) {
	cli, err := toolchain.Binary(t.Context(), toolchain.CrossplaneCLI)
	if err != nil {
		t.Fatalf("toolchain.Binary(...): %v", err)
	}
	root := filepath.Join("..", "..", "..")
	cache, resources := t.TempDir(), t.TempDir()
	cacheSchemas(t, root, cache)
	copyTo(t, filepath.Join(root, "package", "install"), filepath.Join(resources, "install"))
	for _, p := range images.Packages() {
		if isConfiguration(p) {
			copyTo(t, filepath.Join(root, filepath.FromSlash(p.Root)), filepath.Join(resources, p.Name, "objects"))
		}
		for _, e := range p.Examples {
			copyTo(t, filepath.Join(root, filepath.FromSlash(e)), filepath.Join(resources, p.Name, filepath.FromSlash(e)))
		}
	}
	for _, p := range images.Packages() {
		if !isConfiguration(p) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			extensions := filepath.Join(root, filepath.FromSlash(p.Root))
			// The metadata of a package has no schema: they are checked when it is built.
			want := map[string]string{}
			for _, p := range images.Packages() {
				if isConfiguration(p) {
					want["Configuration/"+p.Name] = "missingSchema"
				}
			}
			if diff := cmp.Diff(want, judge(t, cli, cache, extensions, resources)); diff != "" {
				t.Errorf("crossplane resource validate: -want, +got:\n%s", diff)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "broken.yaml"), []byte(broken), 0o600); err != nil {
				t.Fatal(err)
			}
			want = map[string]string{"Tenant/broken": "invalid", "PGDatabase/broken": "invalid"}
			if diff := cmp.Diff(want, judge(t, cli, cache, extensions, dir)); diff != "" {
				t.Errorf("crossplane resource validate, of what is broken: -want, +got:\n%s", diff)
			}
		})
	}
}

func isConfiguration(p images.Package) bool { return strings.HasPrefix(p.Name, "configuration-") }

// cacheSchemas puts what the packages and Crossplane hold where the CLI keeps what it has downloaded.
func cacheSchemas(t *testing.T, root, cache string) {
	t.Helper()
	b := &images.Builder{Source: root, Platform: v1.Platform{OS: "linux", Architecture: runtime.GOARCH}}
	for _, p := range images.Packages() {
		p.Main = "" // Programs have no schemas.
		img, err := b.Build(t.Context(), p)
		if err != nil {
			t.Fatalf("Build(...): %v", err)
		}
		// The version is one that the Configuration asks for.
		keep(t, filepath.Join(cache, images.Repository, p.Name+"@v0.1.0"), objectsOf(t, img))
	}
	module, err := toolchain.ModuleDir(t.Context(), toolchain.CrossplaneModule)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(module, "cluster", "crds", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("cannot find the kinds of Crossplane in %s: %v", module, err)
	}
	var all []byte
	for _, f := range files {
		doc, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, "---\n"...), doc...)
	}
	keep(t, filepath.Join(cache, filepath.FromSlash(crossplaneImage)), all)
}

func keep(t *testing.T, dir string, content []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "package.yaml"), content, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// objectsOf a package, as YAML documents.
func objectsOf(t *testing.T, img v1.Image) []byte {
	t.Helper()
	rc := mutate.Extract(img)
	defer rc.Close() // Only read.
	for tr := tar.NewReader(rc); ; {
		h, err := tr.Next()
		if err != nil {
			t.Fatalf("cannot find package.yaml: %v", err)
		}
		if h.Name != "package.yaml" {
			continue
		}
		all, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
}

// judge resources by extensions, and return those that are not valid, with what they are.
func judge(t *testing.T, cli, cache, extensions, resources string) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), cli, "resource", "validate", extensions, resources, "--cache-dir="+cache, "--output=json")
	out, err := cmd.Output()
	// It also fails when something is not valid, and says what.
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("cannot run the CLI: %v", err)
	}
	said := struct {
		Resources []struct{ Kind, Name, Status string }
	}{}
	if jerr := json.Unmarshal(out, &said); jerr != nil || len(said.Resources) == 0 {
		t.Fatalf("crossplane resource validate: %v, %v\n%s", err, jerr, out)
	}
	wrong := map[string]string{}
	for _, r := range said.Resources {
		if r.Status != "valid" {
			wrong[r.Kind+"/"+r.Name] = r.Status
		}
	}
	return wrong
}
