package release

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/ryuvia/provider-terdut/cluster/images"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

var (
	amd64 = v1.Platform{OS: "linux", Architecture: "amd64"}
	arm64 = v1.Platform{OS: "linux", Architecture: "arm64"}
	host  = v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
)

// small are the packages of the small repository.
var small = []images.Package{
	{Name: "provider-hello", Root: "package", Include: []string{"crossplane.yaml"}, Examples: []string{"examples"}, Main: "cmd/hello"},
	{Name: "configuration-terdut", Root: "package/configuration", Include: []string{"."}},
}

// smallRepository makes a repository of the product's shape that is compiled in an instant, with one commit.
func smallRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":                                "module github.com/ryuvia/provider-terdut\n\ngo 1.26\n",
		"cmd/hello/main.go":                     "package main\n\nimport \"github.com/ryuvia/provider-terdut/internal/version\"\n\nfunc main() { println(version.Version) }\n",
		"internal/version/version.go":           "package version\n\nvar Version = \"unset\"\n",
		"examples/hello.yaml":                   "apiVersion: example.org/v1\nkind: Hello\nmetadata:\n  name: hello\n",
		"package/crossplane.yaml":               "apiVersion: meta.pkg.crossplane.io/v1\nkind: Provider\nmetadata:\n  name: provider-hello\n",
		"package/configuration/crossplane.yaml": "apiVersion: meta.pkg.crossplane.io/v1\nkind: Configuration\nmetadata:\n  name: configuration-terdut\n",
		"package/install/provider.yaml":         "# Roles.\nkind: ServiceAccount\n",
		"package/install/crossplane.yaml":       "kind: ClusterRole\n",
		"CHANGELOG.md":                          "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-02\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "First"}} {
		runGit(t, dir, args...)
	}
	return dir
}

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func buildSmall(t *testing.T, dir, output string) string {
	t.Helper()
	out, err := Build(t.Context(), Options{
		Source: dir, Output: output, Platforms: []v1.Platform{amd64, arm64}, Packages: small, Progress: io.Discard,
	})
	if err != nil {
		t.Fatalf("Build(...): %v", err)
	}
	return out
}

// readAll files of a folder by name.
func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(raw)
	}
	return files
}

// TestBuild holds that two clones in different folders give the same bytes, whatever lies uncommitted in one of them, and that the checksums
// and the provenance are about all of it.
func TestBuild(t *testing.T) {
	first := smallRepository(t)
	second := filepath.Join(t.TempDir(), "another", "path")
	runGit(t, first, "clone", "-q", first, second)
	if err := os.WriteFile(filepath.Join(second, "cmd/hello/main.go"), []byte("package main\n\nfunc main() { println(\"other\") }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	output := t.TempDir()
	dir := buildSmall(t, first, output)
	files := readAll(t, dir)
	again := readAll(t, buildSmall(t, second, t.TempDir()))
	if diff := cmp.Diff(files["checksums.txt"], again["checksums.txt"]); diff != "" {
		t.Errorf("checksums of the second build: -first, +second:\n%s", diff)
	}
	for name := range files {
		if files[name] != again[name] {
			t.Errorf("%s is not the same in both builds", name)
		}
	}
	if left, err := os.ReadDir(output); err != nil || len(left) != 1 {
		t.Errorf("the output folder holds more than the release: %v, %v", left, err)
	}

	commit, err := Head(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(commit.Version, filepath.Base(dir)); diff != "" {
		t.Errorf("folder: -want, +got:\n%s", diff)
	}
	cmd := exec.Command("sha256sum", "--check", "--strict", "checksums.txt")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	wantFiles := []string{
		"configuration-terdut.xpkg", "install.yaml", "provenance.json", "provider-hello-linux-amd64.cdx.json", "provider-hello-linux-amd64.xpkg",
		"provider-hello-linux-arm64.cdx.json", "provider-hello-linux-arm64.xpkg",
	}
	sums, listed := map[string]string{}, []string{}
	for line := range strings.Lines(files["checksums.txt"]) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		sums[name] = sum
		listed = append(listed, name)
	}
	if diff := cmp.Diff(wantFiles, listed); diff != "" {
		t.Errorf("files in checksums.txt: -want, +got:\n%s", diff)
	}
	if len(files) != len(wantFiles)+1 {
		t.Errorf("the release has %d files, checksums.txt lists %d", len(files), len(wantFiles))
	}

	s := statement{}
	if err := json.Unmarshal([]byte(files["provenance.json"]), &s); err != nil {
		t.Fatal(err)
	}
	delete(sums, "provenance.json") // It cannot name itself.
	subjects := map[string]string{}
	for _, d := range s.Subject {
		if d.MediaType == "" {
			subjects[d.Name] = d.Digest["sha256"]
		}
	}
	if diff := cmp.Diff(sums, subjects); diff != "" {
		t.Errorf("files in provenance.json: -checksums.txt, +got:\n%s", diff)
	}
	want := externalParameters{
		Source: "git+https://github.com/ryuvia/provider-terdut", Version: commit.Version, Platforms: []string{"linux/amd64", "linux/arm64"},
		Registry: "ghcr.io/ryuvia",
	}
	if diff := cmp.Diff(want, s.Predicate.BuildDefinition.ExternalParameters); diff != "" {
		t.Errorf("parameters in provenance.json: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]descriptor{{URI: want.Source, Digest: map[string]string{"gitCommit": commit.ID}}}, s.Predicate.BuildDefinition.ResolvedDependencies); diff != "" {
		t.Errorf("source in provenance.json: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(runtime.Version(), s.Predicate.BuildDefinition.InternalParameters.GoVersion); diff != "" {
		t.Errorf("Go version in provenance.json: -want, +got:\n%s", diff)
	}
	checkHashes(t, dir)
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "releases.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{s.Predicate.BuildDefinition.BuildType, s.Predicate.RunDetails.Builder.ID} {
		_, anchor, _ := strings.Cut(uri, "docs/releases.md#")
		if heading := "\n### " + strings.ReplaceAll(anchor, "-", " ") + "\n"; anchor == "" || !strings.Contains(strings.ToLower(string(docs)), heading) {
			t.Errorf("provenance.json refers to %s, which docs/releases.md does not explain", uri)
		}
	}
	for name, content := range files {
		if strings.Contains(content, output) || strings.Contains(content, first) {
			t.Errorf("%s holds a path of this machine", name)
		}
	}
}

// checkHashes holds that each bill of materials is about the program that is in the package beside it.
func checkHashes(t *testing.T, dir string) {
	t.Helper()
	for _, p := range []v1.Platform{amd64, arm64} {
		pkg := filepath.Join(dir, small[0].FileName(p))
		img, err := tarball.ImageFromPath(pkg, nil)
		if err != nil {
			t.Fatal(err)
		}
		bin := filepath.Join(t.TempDir(), small[0].Name)
		checkImage(t, img, bin)
		sum, err := fileHash(bin)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(bomFile(pkg))
		if err != nil {
			t.Fatal(err)
		}
		got := bom{}
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]hash{{Algorithm: "SHA-256", Content: sum}}, got.Metadata.Component.Hashes); diff != "" {
			t.Errorf("hash in the bill of materials for %s: -want, +got:\n%s", p, diff)
		}
	}
}

// TestBuildErrors holds that what cannot be released leaves nothing.
func TestBuildErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		spoil  func(t *testing.T, dir string)
		want   string
	}{
		"NotDescribed": {
			reason: "A tagged version is described in the changelog.",
			spoil:  func(t *testing.T, dir string) { t.Helper(); runGit(t, dir, "tag", "v0.2.0") },
			want:   `CHANGELOG.md has no section that begins with "## [0.2.0] -"`,
		},
		"NotCompiled": {
			reason: "A program that is not compiled is no release.",
			spoil: func(t *testing.T, dir string) {
				t.Helper()
				runGit(t, dir, "rm", "-q", "-r", "cmd")
				runGit(t, dir, "commit", "-q", "-m", "Break")
			},
			want: "cannot compile cmd/hello",
		},
		"NoRepository": {
			reason: "Without a commit there is no version.",
			spoil: func(t *testing.T, dir string) {
				t.Helper()
				if err := os.Rename(filepath.Join(dir, ".git"), filepath.Join(dir, "git")); err != nil {
					t.Fatal(err)
				}
			},
			want: "cannot run git show",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir, output := smallRepository(t), t.TempDir()
			tc.spoil(t, dir)
			_, err := Build(t.Context(), Options{Source: dir, Output: output, Platforms: []v1.Platform{host}, Packages: small, Progress: io.Discard})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nBuild(...): want an error with %q, got %v", tc.reason, tc.want, err)
			}
			if left, err := os.ReadDir(output); err != nil || len(left) > 0 {
				t.Errorf("\n%s\nleft in the output folder: %v, %v", tc.reason, left, err)
			}
		})
	}
}
