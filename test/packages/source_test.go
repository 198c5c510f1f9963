package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ryuvia/provider-terdut/cluster/images"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
	"github.com/ryuvia/provider-terdut/cluster/release"
)

// first is the commit with which the Tenant first worked.
const first = "88967258be97ebc73cc23e6c481dacc0ff1dee6a"

// sources are the repository as it was with the first commit, and as it is, as a later minor release.
func sources(ctx context.Context) (then, now product.Source, err error) {
	if now, err = product.Own(ctx); err != nil {
		return then, now, err
	}
	now.Version = "v0.2.0"
	dir, err := checkout(ctx, now.Dir)
	if err != nil {
		return then, now, fmt.Errorf("cannot get the source of the packages that are upgraded, commit %s: %w", first, err)
	}
	then = product.Source{Dir: dir, Version: "v0.1.0", Packages: []images.Package{
		{Name: product.Provider, Root: "package", Include: []string{"crossplane.yaml", "crds"}, Main: "cmd/provider"},
		{Name: product.FunctionTenant, Root: "functions/tenant/package", Include: []string{"crossplane.yaml"}, Main: "functions/tenant"},
		{Name: product.Configuration, Root: "package/configuration", Include: []string{"."}},
	}}
	return then, now, nil
}

// checkout puts the files of the first commit into a folder of the cache, where they are compiled once.
func checkout(ctx context.Context, root string) (string, error) {
	if err := fetch(ctx, root); err != nil {
		return "", err
	}
	cache, err := toolchain.CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "sources", first)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("cannot create folder of sources: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "new-*")
	if err != nil {
		return "", fmt.Errorf("cannot create folder of sources: %w", err)
	}
	defer os.RemoveAll(tmp) // Gone already when all went well.
	if err := release.Export(ctx, root, first, filepath.Join(tmp, "source")); err != nil {
		return "", err
	}
	// The folder appears complete or not at all; whoever is second uses the first one's.
	if err := os.Rename(filepath.Join(tmp, "source"), dir); err != nil && !os.IsExist(err) {
		return "", fmt.Errorf("cannot keep the source: %w", err)
	}
	return dir, nil
}

// errNoHistory : the packages of before cannot be had.
var errNoHistory = errors.New("this clone has no history, and its origin does not give the commit; get it with \"git fetch --unshallow\"")

// fetch the commit where it is not there, as in a clone without history.
func fetch(ctx context.Context, root string) error {
	git := func(args ...string) error {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cannot run git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
		return nil
	}
	if git("cat-file", "-e", first+"^{commit}") == nil {
		return nil
	}
	if err := git("fetch", "--quiet", "--depth=1", "origin", first); err != nil {
		return fmt.Errorf("%w: %w", errNoHistory, err)
	}
	return nil
}
