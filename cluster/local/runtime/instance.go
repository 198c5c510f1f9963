package runtime

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/event"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/ryuvia/provider-terdut/cluster/local/process"
)

// readyTimeout is how long a function may take to listen.
const readyTimeout = time.Minute

// A process that ended is started again at once, and after that with growing pauses, as a kubelet would. One that has run for
// stableAfter starts afresh.
const (
	firstPause  = time.Second
	longestWait = 30 * time.Second
	stableAfter = time.Minute

	// portsKept is after how many starts in a row that failed other ports are tried.
	portsKept = 3
)

// An instance is the process of one revision, across restarts.
type instance struct {
	mu        sync.Mutex
	info      Instance
	proc      *process.Process
	started   time.Time
	listening bool
	restarts  int
}

// instance returns the instance of a revision, which is not started yet when it is new.
func (r *Runtime) instance(key, pkg, revision string) *instance {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, ok := r.instances[key]
	if !ok {
		i = &instance{info: Instance{Package: pkg, Revision: revision, LogFile: filepath.Join(r.o.Logs, pkg+".log")}}
		r.instances[key] = i
	}
	return i
}

// remove the instance of a revision that is not to run any more.
func (r *Runtime) remove(key string) {
	r.mu.Lock()
	i, ok := r.instances[key]
	delete(r.instances, key)
	r.mu.Unlock()
	if ok {
		i.stop()
	}
}

// addressed returns what is known of the instance, with addresses. A process that is started again keeps those it had, as a Service would:
// Crossplane may be waiting for the old one to answer. When it does not stay up, its ports may be in the way.
func (i *instance) addressed() (Instance, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	info := i.info
	if i.info.MetricsAddress != "" && i.restarts <= portsKept {
		return info, nil
	}
	addrs, err := addresses(3)
	if err != nil {
		return info, err
	}
	info.MetricsAddress, info.HealthAddress, info.Address = addrs[0], addrs[1], addrs[2]
	return info, nil
}

// start the process of a revision.
func (r *reconciler) start(ctx context.Context, i *instance, pr pkgv1.PackageRevisionWithRuntime, prog *program, certs *certificates) error {
	o := r.runtime.o
	info, err := i.addressed()
	if err != nil {
		return err
	}

	// What Crossplane's own runtime sets, plus addresses: in pods of their own packages may all listen on the same port, here not.
	env := append([]string{"HOME=" + o.Dir}, prog.env...)
	env = append(env,
		"TLS_SERVER_CERTS_DIR="+certs.server,
		"REVISION_NAME="+pr.GetName(),
		"REVISION_UID="+string(pr.GetUID()),
		"METRICS_ADDRESS="+info.MetricsAddress,
		"HEALTH_ADDRESS="+info.HealthAddress,
	)
	args := prog.args
	parent := pr.GetLabels()[pkgv1.LabelParentPackage]
	if _, ok := pr.(*pkgv1.FunctionRevision); !ok {
		info.Address = ""
	}
	if info.Address != "" {
		args = append(args, "--address="+info.Address)
		env = append(env, "FUNCTION_NAME="+parent)
	} else {
		kubeconfig, err := o.ProviderKubeconfig(ctx, info.Package)
		if err != nil {
			return fmt.Errorf("cannot get kubeconfig of %q: %w", info.Package, err)
		}
		env = append(env,
			"KUBECONFIG="+kubeconfig,
			"POD_NAMESPACE="+o.Namespace,
			"PROVIDER_NAME="+parent,
			"TLS_CLIENT_CERTS_DIR="+certs.client,
			"WEBHOOK_TLS_CERT_DIR="+certs.server,
		)
	}
	extra := o.Packages[info.Package]
	proc, err := process.Start(process.Spec{
		Name: info.Package, Path: prog.path, Args: append(args, extra.Args...), Env: append(env, extra.Env...),
		Dir: o.Dir, LogFile: info.LogFile,
	})
	if err != nil {
		return err
	}
	info.PID = proc.Pid()
	i.mu.Lock()
	i.info, i.proc, i.started, i.listening = info, proc, time.Now(), false
	i.mu.Unlock()
	go func() {
		<-proc.Done()
		select {
		case r.ended <- event.GenericEvent{Object: pr}:
		case <-r.run.Done():
		}
	}()
	return nil
}

// ready waits until the process listens, if it is a function's. A provider is ready when it runs, as Crossplane sees it.
func (i *instance) ready(ctx context.Context) error {
	i.mu.Lock()
	proc, address, listening := i.proc, i.info.Address, i.listening
	i.mu.Unlock()
	if address == "" || listening {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := proc.Wait(ctx, func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return c.Close()
	}); err != nil {
		return err
	}
	i.mu.Lock()
	i.listening = true
	i.mu.Unlock()
	return nil
}

// running returns what is known of the instance, and whether its process runs.
func (i *instance) running() (Instance, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.proc == nil {
		return i.info, false
	}
	select {
	case <-i.proc.Done():
		return i.info, false
	default:
		return i.info, true
	}
}

// backOff returns how long to wait before the instance may be started again. It counts the start when there is nothing to wait for.
func (i *instance) backOff(now time.Time) time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.proc == nil {
		return 0
	}
	if now.Sub(i.started) >= stableAfter {
		i.restarts = 0
	}
	if after := i.started.Add(pause(i.restarts)).Sub(now); after > 0 {
		return after
	}
	i.restarts++
	return 0
}

// pause between the start of a process and the next one, after a number of restarts.
func pause(restarts int) time.Duration {
	if restarts == 0 {
		return 0
	}
	return min(firstPause<<min(restarts-1, 10), longestWait)
}

// kill the process at once.
func (i *instance) kill() { i.end((*process.Process).Kill) }

// terminate asks the process to end.
func (i *instance) terminate() { i.end(func(p *process.Process) { p.Stop(stopGrace) }) }

// end the process in a given way. That it ended is nobody's fault, so there is no pause before the next start.
func (i *instance) end(how func(*process.Process)) {
	i.mu.Lock()
	p := i.proc
	i.restarts = 0
	i.mu.Unlock()
	if p != nil {
		how(p)
	}
}

// stop the process for good.
func (i *instance) stop() { i.terminate() }

func compare(a, b Instance) int {
	return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Revision, b.Revision))
}

// addresses of the loopback interface that were free a moment ago.
func addresses(n int) ([]string, error) {
	out := make([]string, n)
	for i := range out {
		port, err := process.FreePort()
		if err != nil {
			return nil, err
		}
		out[i] = fmt.Sprintf("127.0.0.1:%d", port)
	}
	return out, nil
}
