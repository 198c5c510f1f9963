package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	embedded "github.com/fergusstrange/embedded-postgres"

	"github.com/ryuvia/provider-terdut/cluster/local/process"
)

// minVersion is the oldest major version that the product supports.
const minVersion = 15

// debianGlob is where Debian and Ubuntu put the server's binaries of each major version.
const debianGlob = "/usr/lib/postgresql/*/bin"

// binaries finds the folder with initdb and postgres: the one asked for, the newest that Debian installed, the one in PATH, and last
// one that is fetched.
func binaries(o Options) (string, error) {
	if o.BinDir == "" {
		o.BinDir = os.Getenv(BinDirEnv)
	}
	if o.BinDir != "" {
		if !complete(o.BinDir) {
			return "", fmt.Errorf("cannot find initdb and postgres in %q", o.BinDir)
		}
		return o.BinDir, nil
	}
	if dir := newest(debianGlob); dir != "" {
		return dir, nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		// Distributions link single binaries into PATH; the rest lies beside the real one.
		if path, err = filepath.EvalSymlinks(path); err == nil && complete(filepath.Dir(path)) {
			return filepath.Dir(path), nil
		}
	}
	dir, err := fetch(o.Version)
	if err != nil {
		return "", fmt.Errorf("cannot find PostgreSQL %d or later: install the package postgresql (Debian, Ubuntu) or postgresql-server (Fedora); fetching it failed: %w", minVersion, err)
	}
	return dir, nil
}

// newest of the folders that match, by the major version in their path.
func newest(glob string) string {
	dirs, _ := filepath.Glob(glob) // The only error is a malformed pattern.
	best, bestVersion := "", minVersion-1
	for _, d := range dirs {
		v, err := strconv.Atoi(filepath.Base(filepath.Dir(d)))
		if err == nil && v > bestVersion && complete(d) {
			best, bestVersion = d, v
		}
	}
	return best
}

func complete(dir string) bool {
	for _, b := range []string{"initdb", "postgres"} {
		if fi, err := os.Stat(filepath.Join(dir, b)); err != nil || fi.IsDir() {
			return false
		}
	}
	return true
}

// fetch binaries once into a cache. The library fetches only as part of starting a server of its own, which is stopped at once. Run by
// root that server does not start, which does no harm: the binaries are there by then.
func fetch(version string) (string, error) {
	cache := "/var/cache/provider-terdut" // Root's own cache folder is closed to the user that the server runs as.
	if os.Geteuid() != 0 {
		dir, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("cannot find a cache folder: %w", err)
		}
		cache = filepath.Join(dir, "provider-terdut")
	}
	v := embedded.V16
	if version != "" {
		v = embedded.PostgresVersion(version)
	}
	dir := filepath.Join(cache, "postgres-"+string(v))
	bin := filepath.Join(dir, "bin")
	if complete(bin) {
		return bin, nil
	}
	port, err := process.FreePort()
	if err != nil {
		return "", err
	}
	run, err := os.MkdirTemp("", "terdut-postgres-fetch-")
	if err != nil {
		return "", fmt.Errorf("cannot create a folder to fetch into: %w", err)
	}
	defer os.RemoveAll(run) // A temporary folder.
	db := embedded.NewDatabase(embedded.DefaultConfig().Version(v).Port(uint32(port)).CachePath(cache).BinariesPath(dir).RuntimePath(run).Logger(nil))
	err = db.Start()
	if err == nil {
		err = db.Stop()
	}
	if !complete(bin) {
		return "", errors.Join(err, fmt.Errorf("no binaries in %q", bin))
	}
	return bin, nil
}
