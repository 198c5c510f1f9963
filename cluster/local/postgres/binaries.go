package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	embedded "github.com/fergusstrange/embedded-postgres"

	"github.com/ryuvia/provider-terdut/cluster/local/process"
)

// minVersion is the oldest major version that the product supports.
const minVersion = 15

// debianBin is where Debian and Ubuntu put the server's binaries of a major version.
const debianBin = "/usr/lib/postgresql/%s/bin"

// Binaries finds the folder with initdb and postgres of a major version, 15 to 18: what Debian installed, else what npm has, fetched
// once into the project's cache folder, else what can be fetched without npm. Version 0 is any: what BinDirEnv says, the newest that Debian
// installed, the one in PATH, and last the newest that can be fetched.
func Binaries(ctx context.Context, major int) (string, error) {
	if major != 0 {
		dir := fmt.Sprintf(debianBin, strconv.Itoa(major))
		if complete(dir) {
			return dir, nil
		}
		dir, err := fetched(ctx, major)
		if err != nil {
			return "", fmt.Errorf("cannot find PostgreSQL %d: install the package postgresql-%d, or npm, with which it is fetched: %w", major, major, err)
		}
		return dir, nil
	}
	if dir := os.Getenv(BinDirEnv); dir != "" {
		return dir, nil
	}
	if dir := newest(fmt.Sprintf(debianBin, "*")); dir != "" {
		return dir, nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		// Distributions link single binaries into PATH; the rest lies beside the real one.
		if path, err = filepath.EvalSymlinks(path); err == nil && complete(filepath.Dir(path)) {
			return filepath.Dir(path), nil
		}
	}
	dir, err := fetched(ctx, slices.Max(slices.Collect(maps.Keys(npmVersions))))
	if err != nil {
		return "", fmt.Errorf("cannot find PostgreSQL %d or later: install the package postgresql (Debian, Ubuntu) or postgresql-server (Fedora); fetching it failed: %w",
			minVersion, err)
	}
	return dir, nil
}

// fetched finds the folder with binaries of a major version that were fetched, or fetches them: with npm, or without.
func fetched(ctx context.Context, major int) (string, error) {
	dir, npmErr := fromNPM(ctx, major)
	if npmErr == nil {
		return dir, nil
	}
	dir, err := fetch(major)
	if err != nil {
		return "", errors.Join(npmErr, err)
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
func fetch(major int) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	v := map[int]embedded.PostgresVersion{15: embedded.V15, 16: embedded.V16, 17: embedded.V17, 18: embedded.V18}[major]
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
