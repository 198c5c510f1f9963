package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// npmVersions are the packages with a server of each major version. They bring their libraries and the contrib extensions along.
var npmVersions = map[int]string{15: "15.18.0-beta.17", 16: "16.14.0-beta.17", 17: "17.10.0-beta.17", 18: "18.4.0-beta.17"}

// rootCache is where root keeps binaries when its own cache folder is closed to the user that the server runs as.
const rootCache = "/var/cache/provider-terdut"

// ErrNoNPM says that a server would have to be fetched with npm, and that there is no npm.
var ErrNoNPM = errors.New("npm is not installed")

// fetching is held while binaries are fetched, so that one process does it once. Several processes may do it at once: the first to
// move its folder into place wins.
var fetching sync.Mutex

// fromNPM returns the folder with the binaries of a major version, fetched once into the cache.
func fromNPM(ctx context.Context, major int) (string, error) {
	version, ok := npmVersions[major]
	if !ok {
		return "", fmt.Errorf("there is no package with PostgreSQL %d", major)
	}
	arch, ok := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if !ok {
		return "", fmt.Errorf("there is no package for %s", runtime.GOARCH)
	}
	pkg := "@embedded-postgres/" + runtime.GOOS + "-" + arch + "@" + version
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	fetching.Lock()
	defer fetching.Unlock()
	dir := filepath.Join(cache, "postgres-"+version+"-"+arch)
	if bin := filepath.Join(dir, "bin"); complete(bin) {
		return bin, nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", ErrNoNPM
	}
	tmp, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", fmt.Errorf("cannot create a folder to fetch into: %w", err)
	}
	defer os.RemoveAll(tmp) // What is needed has been moved away.
	native := filepath.Join(tmp, "package", "native")
	for _, c := range [][]string{
		{"npm", "pack", "--silent", "--pack-destination", tmp, pkg},
		{"sh", "-c", "tar -xzf *.tgz"},
		{"chmod", "-R", "a+rX", native}, // Whatever the umask: another user runs them.
	} {
		if err := run(ctx, tmp, c); err != nil {
			return "", err
		}
	}
	if err := link(filepath.Dir(native)); err != nil {
		return "", err
	}
	if err := os.Rename(native, dir); err != nil && !complete(filepath.Join(dir, "bin")) {
		return "", fmt.Errorf("cannot move fetched binaries into place: %w", err)
	}
	return filepath.Join(dir, "bin"), nil
}

func run(ctx context.Context, dir string, args []string) error {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot run %q: %w: %s", args[0], err, out)
	}
	return nil
}

// link makes the symbolic links that an npm package cannot hold. They are listed in a file, relative to the package.
func link(pkg string) error {
	b, err := os.ReadFile(filepath.Join(pkg, "native", "pg-symlinks.json"))
	if err != nil {
		return fmt.Errorf("cannot read list of links: %w", err)
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(b, &links); err != nil {
		return fmt.Errorf("cannot read list of links: %w", err)
	}
	for _, l := range links {
		to, err := filepath.Rel(filepath.Dir(l.Target), l.Source)
		if err == nil && !filepath.IsLocal(l.Target) {
			err = fmt.Errorf("it is outside of the package")
		}
		if err == nil {
			err = os.Symlink(to, filepath.Join(pkg, l.Target))
		}
		if err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("cannot make link %q: %w", l.Target, err)
		}
	}
	return nil
}

// cacheDir is the project's cache folder, or one for root alone when the user that the server runs as may not enter that.
func cacheDir() (string, error) {
	user, err := unprivileged()
	if err != nil {
		return "", err
	}
	dir, err := toolchain.CacheDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot create cache folder: %w", err)
	}
	if user.reach(dir) == nil {
		return dir, nil
	}
	if err := os.MkdirAll(rootCache, 0o755); err != nil {
		return "", fmt.Errorf("cannot create cache folder: %w", err)
	}
	return rootCache, nil
}
