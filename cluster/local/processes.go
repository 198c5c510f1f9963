package local

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ryuvia/provider-terdut/cluster/local/process"
)

// pollInterval is how often the API server is asked for something that a start waits for.
const pollInterval = 100 * time.Millisecond

// run starts a process of the plane. Its log file is named like it.
func (p *Plane) run(name, tool string, env []string, args ...string) (*process.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, fmt.Errorf("cannot start %s: the control plane was stopped", name)
	}
	// Children get no variable of ours: proxies, kubeconfigs or registry credentials of the user must not change how a plane works.
	proc, err := process.Start(process.Spec{
		Name: name, Path: p.bin[tool], Args: args, Env: append([]string{"HOME=" + p.Dir, "PATH=/usr/bin:/bin"}, env...),
		Dir: p.Dir, LogFile: filepath.Join(p.Logs, name+".log"),
	})
	if err != nil {
		return nil, err
	}
	p.processes[name] = proc
	return proc, nil
}

// forget a process that has done its work.
func (p *Plane) forget(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.processes, name)
}

// poll until check succeeds or the context ends.
func poll(ctx context.Context, check func(context.Context) error) error {
	t := time.NewTicker(pollInterval)
	defer t.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-t.C:
		}
	}
}

// ready reports that a part is ready.
func (p *Plane) ready(part string) {
	_, _ = fmt.Fprintf(p.progress, "%5.1fs  %s is ready\n", time.Since(p.started).Seconds(), part)
}

// stateDir makes the folder of a plane.
func stateDir(dir string) (string, error) {
	if dir == "" {
		d, err := os.MkdirTemp("", "terdut-")
		if err != nil {
			return "", fmt.Errorf("cannot create state folder: %w", err)
		}
		return d, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("cannot find state folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot create state folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("cannot read state folder: %w", err)
	}
	if len(entries) > 0 {
		return "", fmt.Errorf("cannot use state folder %s: it is not empty", dir)
	}
	return dir, nil
}

// A syncWriter lets parts that start at the same time report at the same time.
type syncWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *syncWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}
