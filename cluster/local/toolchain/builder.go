package toolchain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// lockInterval is how often a waiting process asks whether the one that builds has finished.
const lockInterval = 200 * time.Millisecond

// tickInterval is how often a running build says how long it has taken.
const tickInterval = 30 * time.Second

// A builder builds tools of the modules below one folder into a cache.
type builder struct {
	modules  string
	cache    string
	progress io.Writer
}

// ensure returns the path of each named tool, having built those that are missing.
func (b builder) ensure(ctx context.Context, tools map[string]tool, names []string) (map[string]string, error) {
	paths := make(map[string]string, len(names))
	hashes := map[string]string{}
	var missing []string
	for _, name := range names {
		t, ok := tools[name]
		if !ok {
			return nil, fmt.Errorf("cannot build %q: there is no such tool", name)
		}
		if hashes[t.module] == "" {
			h, err := b.hash(ctx, t)
			if err != nil {
				return nil, fmt.Errorf("cannot hash tool module %q: %w", t.module, err)
			}
			hashes[t.module] = h
		}
		paths[name] = filepath.Join(b.cache, hashes[t.module], name)
		if _, err := os.Stat(paths[name]); errors.Is(err, os.ErrNotExist) {
			missing = append(missing, name)
		}
	}
	for i, name := range missing {
		label := fmt.Sprintf("[%d/%d] building %s ...", i+1, len(missing), name)
		if err := b.build(ctx, tools[name], paths[name], label); err != nil {
			return nil, fmt.Errorf("cannot build %q: %w", name, err)
		}
	}
	return paths, nil
}

// hash of all that the tools of a module are made of.
func (b builder) hash(ctx context.Context, t tool) (string, error) {
	dir := filepath.Join(b.modules, t.module)
	version, err := goCommand(ctx, dir, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s/%s %s%s\n", runtime.GOOS, runtime.GOARCH, version, linkFlags) // A hash never fails to be written.
	if t.hollow != nil {
		_, _ = fmt.Fprintln(h, t.hollow.module, t.hollow.packages)
	}

	files := []string{filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".go" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(h, "%s %d\n%s\n", filepath.Base(f), len(data), data)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// build one tool unless another process has built it while we waited for the lock.
func (b builder) build(ctx context.Context, t tool, path, label string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	unlock, err := lock(ctx, path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return nil
	}

	start := time.Now()
	stop := b.report(label, start)
	defer stop()
	tmp := path + ".new"
	dir := filepath.Join(b.modules, t.module)
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", linkFlags, "-o", tmp}
	if t.hollow != nil {
		src := path + ".src"
		defer os.RemoveAll(src) // Left-overs cost nothing but space, and the next build removes them.
		modfile, err := t.hollow.prepare(ctx, dir, src)
		if err != nil {
			return err
		}
		args = append(args, "-modfile", modfile)
	}
	if _, err := goCommand(ctx, dir, append(args, t.pkg)...); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(b.progress, "%s %s\n", label, time.Since(start).Round(time.Second))
	return nil
}

// report the elapsed time of a running build now and then, until the returned function is called.
func (b builder) report(label string, start time.Time) (stop func()) {
	_, _ = fmt.Fprintln(b.progress, label)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(tickInterval)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				_, _ = fmt.Fprintf(b.progress, "%s %s so far\n", label, time.Since(start).Round(time.Second))
			}
		}
	}()
	return func() { close(done); <-ended }
}

// lock takes an exclusive lock that the kernel releases when this process ends, and waits for it as long as the context allows.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	t := time.NewTicker(lockInterval)
	defer t.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("cannot lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("cannot lock %s: %w", path, ctx.Err())
		case <-t.C:
		}
	}
}
