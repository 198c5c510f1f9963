package runtime

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// A program is what a package's image says to run.
type program struct {
	path string
	args []string
	env  []string
}

// fetch the program of a package's image. Only the file that the image starts is taken out of it, so the program must need no other,
// and it runs as the user of this process rather than as the image's.
func fetch(ctx context.Context, ref name.Reference, dir string) (*program, error) {
	img, err := remote.Image(ref, remote.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("cannot pull package: %w", err)
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("cannot read image config: %w", err)
	}
	id, err := img.ConfigName()
	if err != nil {
		return nil, fmt.Errorf("cannot read image config: %w", err)
	}
	command := append(append([]string{}, cfg.Config.Entrypoint...), cfg.Config.Cmd...)
	if len(command) == 0 {
		return nil, errors.New("cannot run package: its image has no entrypoint")
	}
	p := &program{path: filepath.Join(dir, "bin", id.Hex, filepath.Base(command[0])), args: command[1:], env: cfg.Config.Env}
	if _, err := os.Stat(p.path); err == nil {
		return p, nil
	}
	if err := extract(img, command[0], p.path); err != nil {
		return nil, fmt.Errorf("cannot extract %s from image: %w", command[0], err)
	}
	return p, nil
}

// extract a file of an image to a path. The file appears there complete or not at all.
func extract(img v1.Image, file, path string) error {
	rc := mutate.Extract(img)
	defer rc.Close() // Only read.
	tr := tar.NewReader(rc)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return os.ErrNotExist
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeReg && filepath.Clean(strings.TrimPrefix(h.Name, "/")) == strings.TrimPrefix(file, "/") {
			return write(tr, path)
		}
	}
}

// write an executable file.
func write(r io.Reader, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // Gone already when all went well.
	if _, err := io.Copy(f, r); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Chmod(0o755), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
