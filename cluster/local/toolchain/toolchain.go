// Package toolchain builds the executables of the local control plane from Go modules, once, into a cache folder.
//
// A built tool is kept until something that it is made of changes: go.mod, go.sum or a Go file of its tool module, the link flags,
// the Go version or the platform. Several processes may ask for the same tool at the same time; one builds, the others wait.
package toolchain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// CacheDirEnv is the environment variable that overrides the cache folder, which is provider-terdut in os.UserCacheDir by default.
const CacheDirEnv = "TERDUT_CACHE_DIR"

// Binary returns the path of one tool, building it when needed. It is silent; see Ensure for progress.
func Binary(ctx context.Context, name string) (string, error) {
	paths, err := Ensure(ctx, []string{name}, io.Discard)
	if err != nil {
		return "", err
	}
	return paths[name], nil
}

// Ensure builds those of the named tools that are missing, in the given order, and returns the path of each. It writes to progress
// what it builds, how many are left and how long each took; it writes nothing when all are there.
func Ensure(ctx context.Context, names []string, progress io.Writer) (map[string]string, error) {
	root, err := Root(ctx)
	if err != nil {
		return nil, err
	}
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	b := builder{modules: filepath.Join(root, "cluster", "tools"), cache: filepath.Join(cache, "toolchain"), progress: progress}
	return b.ensure(ctx, tools, names)
}

// CacheDir is the folder in which this project keeps what is slow to make and safe to delete.
func CacheDir() (string, error) {
	if d := os.Getenv(CacheDirEnv); d != "" {
		return filepath.Abs(d)
	}
	d, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cannot find the user's cache folder, set %s: %w", CacheDirEnv, err)
	}
	return filepath.Join(d, "provider-terdut"), nil
}

// ModuleDir returns the folder of the module cache that holds the named Go module in the version that our tools are built from. Its
// files (CRDs, chart) thereby match the executables. The module is downloaded when it is missing.
func ModuleDir(ctx context.Context, module string) (string, error) {
	toolModule, ok := moduleOf[module]
	if !ok {
		return "", fmt.Errorf("cannot find module %q: no tool module requires it", module)
	}
	root, err := Root(ctx)
	if err != nil {
		return "", err
	}
	return downloadModule(ctx, filepath.Join(root, "cluster", "tools", toolModule), module)
}

// downloadModule returns the folder of the module cache that holds a module in the version that the module in dir requires.
func downloadModule(ctx context.Context, dir, module string) (string, error) {
	out, err := goCommand(ctx, dir, "mod", "download", "-json", module)
	if err != nil {
		return "", fmt.Errorf("cannot download module %q: %w", module, err)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return "", fmt.Errorf("cannot parse answer of go mod download for %q: %w", module, err)
	}
	return m.Dir, nil
}

// Root returns the root folder of this project. It is found from this source file, so that the working directory does not
// matter, or, in an executable built with -trimpath, from the module that the working directory belongs to.
func Root(ctx context.Context) (string, error) {
	if _, file, _, ok := runtime.Caller(0); ok {
		root := filepath.Join(filepath.Dir(file), "..", "..", "..")
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return root, nil
		}
	}
	out, err := goCommand(ctx, ".", "env", "GOMOD")
	if err != nil {
		return "", fmt.Errorf("cannot find the module's root: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// goCommand runs the go command for this machine's own platform, whatever the caller builds for, and returns what it prints. The
// error carries its error output.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	// A cancelled build ends like an interrupted one, so that the go command removes its temporary folder.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s in %s: %w\n%s", args[0], dir, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
