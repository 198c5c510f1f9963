package images

import (
	"errors"
	"fmt"
	"os"

	"github.com/google/go-containerregistry/pkg/v1/tarball"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// FileName of the package for a platform. A package without a program is the same for all.
func (p Package) FileName(platform v1.Platform) string {
	if p.Main == "" {
		return p.Name + ".xpkg"
	}
	return fmt.Sprintf("%s-%s-%s.xpkg", p.Name, platform.OS, platform.Architecture)
}

// Save a package as a file that `crossplane xpkg push` takes.
func Save(img v1.Image, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("cannot create package file: %w", err)
	}
	if err := errors.Join(tarball.Write(nil, img, f), f.Close()); err != nil {
		return fmt.Errorf("cannot write package file %q: %w", path, err)
	}
	return nil
}
