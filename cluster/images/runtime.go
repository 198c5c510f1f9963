package images

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/stream"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// user that runtime images run as: "nonroot", as minimal base images call it.
const user = "65532:65532"

// unusedFor is how long a runtime image, or a source's binaries, stay in the cache after their last use.
const unusedFor = 24 * time.Hour

// versionVariable is what a build's version is written to.
const versionVariable = "github.com/ryuvia/provider-terdut/internal/version.Version"

// Environment with which programs are compiled for a platform: whatever decides about the bytes, besides the source and the version of Go, is
// the same for everybody. Version control stamps are left out: they change with every commit, also when the program does not.
func Environment(platform v1.Platform) []string {
	return []string{
		"CGO_ENABLED=0", "GOOS=" + platform.OS, "GOARCH=" + platform.Architecture, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-trimpath -buildvcs=false -mod=readonly", "GOWORK=off",
	}
}

// Binary compiles the package's program and returns its path: a static binary that does not depend on where it was compiled. Each source has
// a folder of its own, so that two of them can be built, and run, at the same time.
func (b *Builder) Binary(ctx context.Context, p Package) (string, error) {
	source, err := filepath.Abs(b.Source)
	if err != nil {
		return "", fmt.Errorf("cannot resolve folder %q: %w", b.Source, err)
	}
	store := filepath.Join(b.Cache, "bin", b.Platform.OS+"_"+b.Platform.Architecture)
	prune(store)
	key := sha256.Sum256([]byte(source))
	dir := filepath.Join(store, hex.EncodeToString(key[:8]))
	out := filepath.Join(dir, p.Name)
	ldflags := "-s -w"
	if b.Version != "" {
		ldflags += " -X " + versionVariable + "=" + b.Version
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags="+ldflags, "-o", out, "./"+p.Main)
	cmd.Dir = b.Source
	cmd.Env = append(os.Environ(), Environment(b.Platform)...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot compile %s: %w\n%s", p.Main, err, msg)
	}
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err != nil {
		return "", fmt.Errorf("cannot mark binaries as used: %w", err)
	}
	return out, nil
}

// Runtime builds the package's runtime image, or takes it from the cache when the same binary was packed before.
func (b *Builder) Runtime(ctx context.Context, p Package) (v1.Image, error) {
	bin, err := b.Binary(ctx, p)
	if err != nil {
		return nil, err
	}
	roots := certificates()
	key, err := imageKey(bin, roots)
	if err != nil {
		return nil, err
	}

	store := filepath.Join(b.Cache, "images")
	dir := filepath.Join(store, key)
	if _, err := os.Stat(dir); err == nil {
		return cached(dir)
	}

	img, err := b.image(bin, roots)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(store, 0o755); err != nil {
		return nil, fmt.Errorf("cannot create image cache: %w", err)
	}
	prune(store)
	// Several builds may share a cache: an image appears under its name complete or not at all, and whoever is second uses the
	// first one's.
	tmp, err := os.MkdirTemp(store, "new-*")
	if err != nil {
		return nil, fmt.Errorf("cannot create image cache: %w", err)
	}
	defer os.RemoveAll(tmp) // Pruned later.
	l, err := layout.Write(tmp, empty.Index)
	if err != nil {
		return nil, fmt.Errorf("cannot create image layout: %w", err)
	}
	if err := l.AppendImage(img); err != nil {
		return nil, fmt.Errorf("cannot write image of %q: %w", p.Name, err)
	}
	if err := os.Rename(tmp, dir); err != nil && !os.IsExist(err) {
		return nil, fmt.Errorf("cannot keep image of %q: %w", p.Name, err)
	}
	return cached(dir)
}

// image of a binary and of the certificates that it trusts. Its layer is computed when it is written somewhere, once.
func (b *Builder) image(bin string, roots []byte) (v1.Image, error) {
	img, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: b.Platform.OS, Architecture: b.Platform.Architecture, Variant: b.Platform.Variant,
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{User: user, Entrypoint: []string{"/" + filepath.Base(bin)}},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot set image config: %w", err)
	}
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(writeTar(pw, bin, roots)) }() // Always nil, see its documentation.
	img, err = mutate.AppendLayers(img, stream.NewLayer(pr))
	if err != nil {
		return nil, fmt.Errorf("cannot add layer to image: %w", err)
	}
	return img, nil
}

// writeTar writes the certificates and the binary as the only files of a tar archive, with a fixed time and owner.
func writeTar(w io.Writer, bin string, roots []byte) error {
	f, err := os.Open(bin)
	if err != nil {
		return fmt.Errorf("cannot open binary: %w", err)
	}
	defer f.Close() // Only read.
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("cannot read size of binary: %w", err)
	}

	tw := tar.NewWriter(w)
	for _, e := range []struct {
		name string
		mode int64
		size int64
		from io.Reader
	}{
		{name: certificatesFile, mode: 0o444, size: int64(len(roots)), from: bytes.NewReader(roots)},
		{name: filepath.Base(bin), mode: 0o555, size: info.Size(), from: f},
	} {
		if err := tw.WriteHeader(&tar.Header{Name: e.name, Mode: e.mode, Size: e.size, ModTime: time.Unix(0, 0)}); err != nil {
			return fmt.Errorf("cannot write layer: %w", err)
		}
		if _, err := io.Copy(tw, e.from); err != nil {
			return fmt.Errorf("cannot write layer: %w", err)
		}
	}
	if err := tw.Close(); err != nil {
		return fmt.Errorf("cannot write layer: %w", err)
	}
	return nil
}

// cached reads the only image of a layout. Its layers are read when they are used.
func cached(dir string) (v1.Image, error) {
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err != nil {
		return nil, fmt.Errorf("cannot mark cached image as used: %w", err)
	}
	idx, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read cached image: %w", err)
	}
	m, err := idx.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("cannot read cached image: %w", err)
	}
	if len(m.Manifests) != 1 {
		return nil, fmt.Errorf("cannot read cached image: %d images in %s, expected one", len(m.Manifests), dir)
	}
	img, err := idx.Image(m.Manifests[0].Digest)
	if err != nil {
		return nil, fmt.Errorf("cannot read cached image: %w", err)
	}
	return img, nil
}

// prune removes what is in a folder of the cache and was not used for long. What cannot be removed now is removed another time.
func prune(store string) {
	entries, err := os.ReadDir(store)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > unusedFor {
			_ = os.RemoveAll(filepath.Join(store, e.Name()))
		}
	}
}

// imageKey names the image of a binary and certificates in the cache.
func imageKey(path string, roots []byte) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot open binary: %w", err)
	}
	defer f.Close() // Only read.
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("cannot hash binary: %w", err)
	}
	_, _ = h.Write(roots) // Never fails.
	return hex.EncodeToString(h.Sum(nil)), nil
}
