package toolchain

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

// prepare copies the module to a folder, empties the packages there, and returns the path of a go.mod that makes the tool module in
// dir use the copy. The go command's own means for this, -overlay, refuses to touch the module cache.
func (h *hollow) prepare(ctx context.Context, dir, folder string) (modfile string, err error) {
	original, err := downloadModule(ctx, dir, h.module)
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(folder); err != nil {
		return "", fmt.Errorf("cannot remove old copy of module %q: %w", h.module, err)
	}
	module := filepath.Join(folder, "module")
	if err := os.CopyFS(module, os.DirFS(original)); err != nil {
		return "", fmt.Errorf("cannot copy module %q: %w", h.module, err)
	}
	for _, pkg := range h.packages {
		p := filepath.Join(module, filepath.FromSlash(pkg))
		if err := os.RemoveAll(p); err != nil {
			return "", fmt.Errorf("cannot empty package %q: %w", pkg, err)
		}
		if err := writeFile(filepath.Join(p, "empty.go"), []byte("package "+path.Base(pkg)+"\n")); err != nil {
			return "", fmt.Errorf("cannot empty package %q: %w", pkg, err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", fmt.Errorf("cannot read module file: %w", err)
		}
		if name == "go.mod" {
			data = fmt.Appendf(data, "\nreplace %s => %s\n", h.module, module)
		}
		if err := writeFile(filepath.Join(folder, name), data); err != nil {
			return "", fmt.Errorf("cannot write module file: %w", err)
		}
	}
	return filepath.Join(folder, "go.mod"), nil
}

// writeFile writes a file and makes its folder.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
