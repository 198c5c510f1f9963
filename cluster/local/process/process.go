// Package process starts and stops the child processes of the local control plane.
//
// Every child has a log file of its own, leads its own process group and is killed by the kernel when the process that started it
// dies, so nothing keeps running after a crashed test or an interrupted run.
package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// pollInterval is how often WaitFor asks whether a process is ready.
const pollInterval = 50 * time.Millisecond

// A Spec says what to start.
type Spec struct {
	// Name of the process in messages, for example "etcd".
	Name string
	// Path of the executable.
	Path string
	Args []string
	// Env is the whole environment of the child; nil inherits ours.
	Env []string
	Dir string
	// LogFile receives stdout and stderr, appended. Its folder is made when missing.
	LogFile string
	// Credential, when set, is the user that the child runs as.
	Credential *syscall.Credential
}

// A Process is a running child.
type Process struct {
	spec Spec
	cmd  *exec.Cmd
	done chan struct{}

	mu  sync.Mutex
	err error
}

// forks receives the functions that fork. They all run on one locked operating system thread: the kernel delivers a child's parent
// death signal when the thread that forked it ends, see prctl(2), and the Go runtime may end any thread that is not locked.
var forks = sync.OnceValue(func() chan<- func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range c {
			f()
		}
	}()
	return c
})

// Start a child process.
func Start(s Spec) (*Process, error) {
	if err := os.MkdirAll(filepath.Dir(s.LogFile), 0o755); err != nil {
		return nil, fmt.Errorf("cannot create log folder of %s: %w", s.Name, err)
	}
	log, err := os.OpenFile(s.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open log of %s: %w", s.Name, err)
	}
	defer log.Close() // The child holds its own descriptor.

	cmd := exec.Command(s.Path, s.Args...) //nolint:noctx // A child outlives the context it was started in; Stop ends it.
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.Env, s.Dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: s.Credential}

	started := make(chan error, 1)
	forks() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", s.Name, err)
	}

	p := &Process{spec: s, cmd: cmd, done: make(chan struct{})}
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(p.done)
	}()
	return p, nil
}

// Pid of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// LogFile of the process.
func (p *Process) LogFile() string { return p.spec.LogFile }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal the process alone, not its group.
func (p *Process) Signal(sig syscall.Signal) error { return p.cmd.Process.Signal(sig) }

// Stop asks the process to end and kills its group when it has not ended within the grace period. It returns when the process is gone.
func (p *Process) Stop(grace time.Duration) {
	_ = p.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(grace):
	}
	p.Kill()
}

// Kill the process and its group without notice, as a crash would. It returns when the process is gone.
func (p *Process) Kill() {
	_ = syscall.Kill(-p.Pid(), syscall.SIGKILL)
	<-p.done
}

// Wait polls check until it succeeds. It fails when the process ends first or the context does, and the error names the log file.
func (p *Process) Wait(ctx context.Context, check func(context.Context) error) error {
	t := time.NewTicker(pollInterval)
	defer t.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			p.mu.Lock()
			defer p.mu.Unlock()
			return fmt.Errorf("%s ended before it was ready, see %s: %w", p.spec.Name, p.spec.LogFile, errors.Join(p.err, err))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready, see %s: %w", p.spec.Name, p.spec.LogFile, err)
		case <-t.C:
		}
	}
}

// FreePort returns a TCP port of the loopback interface that was free a moment ago.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("cannot find a free port: %w", err)
	}
	defer l.Close() // Nothing was written.
	return l.Addr().(*net.TCPAddr).Port, nil
}
