package release

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/ryuvia/provider-terdut/cluster/images"
	"github.com/ryuvia/provider-terdut/cluster/local/packages"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// TestPush lets Crossplane's own CLI push the files of a release, as docs/releases.md says. What is in the registry then must be what the
// provenance names, with an image for each platform.
func TestPush(t *testing.T) {
	cli, err := toolchain.Binary(t.Context(), toolchain.CrossplaneCLI)
	if err != nil {
		t.Fatalf("toolchain.Binary(...): %v", err)
	}
	registry, err := packages.Start(t.TempDir())
	if err != nil {
		t.Fatalf("packages.Start(...): %v", err)
	}
	t.Cleanup(registry.Stop)
	dir := buildSmall(t, smallRepository(t), t.TempDir())
	s := statement{}
	if err := json.Unmarshal([]byte(readAll(t, dir)["provenance.json"]), &s); err != nil {
		t.Fatal(err)
	}
	for _, p := range small {
		t.Run(p.Name, func(t *testing.T) {
			ref := registry.Address() + "/" + p.Name + ":" + filepath.Base(dir)
			files := []string{p.FileName(amd64)}
			if p.Main != "" {
				files = append(files, p.FileName(arm64))
			}
			cmd := exec.Command(cli, "xpkg", "push", "-f", strings.Join(files, ","), ref)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("crossplane xpkg push: %v\n%s", err, out)
			}
			tag, err := name.ParseReference(ref, name.StrictValidation)
			if err != nil {
				t.Fatal(err)
			}
			got, err := remote.Get(tag, remote.WithContext(t.Context()))
			if err != nil {
				t.Fatalf("remote.Get(...): %v", err)
			}
			var want *descriptor
			for i := range s.Subject {
				if s.Subject[i].Name == images.Repository+"/"+p.Name {
					want = &s.Subject[i]
				}
			}
			pushed := &descriptor{Name: images.Repository + "/" + p.Name, MediaType: string(got.MediaType), Digest: map[string]string{"sha256": got.Digest.Hex}}
			if diff := cmp.Diff(want, pushed); diff != "" {
				t.Errorf("in the registry: -provenance, +got:\n%s", diff)
			}
			if p.Main != "" {
				checkIndex(t, tag)
			}
		})
	}
}

// checkIndex holds that each platform is given its own program.
func checkIndex(t *testing.T, tag name.Reference) {
	t.Helper()
	for _, p := range []v1.Platform{amd64, arm64} {
		img, err := remote.Image(tag, remote.WithContext(t.Context()), remote.WithPlatform(p))
		if err != nil {
			t.Errorf("remote.Image(%s): %v", p, err)
			continue
		}
		cfg, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, *cfg.Platform()); diff != "" {
			t.Errorf("platform of the image: -want, +got:\n%s", diff)
		}
		m, err := img.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		var marks []string
		for _, l := range m.Layers {
			marks = append(marks, l.Annotations[images.Annotation])
		}
		if diff := cmp.Diff([]string{"", "base", "upbound"}, marks); diff != "" {
			t.Errorf("annotations of the layers of %s: -want, +got:\n%s", p, diff)
		}
	}
}
