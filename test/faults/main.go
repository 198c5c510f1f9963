// Command faults proves on a local control plane that a Tenant survives what can go wrong. It counts the writes that the provider makes to
// PostgreSQL, to OpenBao and to the API server while a Tenant is created, updated, rotated and deleted, and then lets something go wrong
// at each of them: the provider is killed before and after it, and each server fails in the ways that it can. Afterwards the Tenant must
// be as its spec says, by itself, with everything there exactly once; or gone, with nothing left. What the conditions say meanwhile must
// be true.
//
// Nothing of the product knows about it: proxies stand between the provider and its servers.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

type cli struct {
	Sample   int           `help:"How many faults are injected, spread over all. Default: all."`
	Crews    int           `default:"3" help:"How many faults are injected at a time while servers fail. The provider is killed once at a time."`
	Patience time.Duration `default:"5m" help:"How long a Tenant may take to recover. One that others' faults hit too is looked at again after up to a minute, and that more than once."`
}

// errViolations is what a run ends with in which something was not as it has to be.
var errViolations = errors.New("not everything was as it has to be")

func main() {
	// Only what this command says itself belongs on the screen; controllers have log files.
	ctrl.SetLogger(logr.Discard())
	c := cli{}
	k := kong.Parse(&c, kong.Name("faults"), kong.Description("Inject faults into the life of Tenants on a local control plane."))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	k.FatalIfErrorf(c.run(ctx, os.Stdout))
}

// run prints one table. The folder with the logs is left behind when something is wrong.
func (c *cli) run(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "terdut-faults-")
	if err != nil {
		return fmt.Errorf("cannot create state folder: %w", err)
	}
	err = c.inject(ctx, dir, out)
	if err != nil {
		return fmt.Errorf("%w (logs are in %s)", err, dir)
	}
	return os.RemoveAll(dir)
}

func (c *cli) inject(ctx context.Context, dir string, out io.Writer) error {
	progressf("Starting the control plane.")
	start := time.Now()
	w, err := startWorld(ctx, dir, c.Patience)
	if err != nil {
		return err
	}
	defer w.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &runner{world: w}
	points, err := r.run(ctx, c.Sample, c.Crews)
	if err != nil {
		return err
	}
	if err := r.print(out, points, time.Since(start)); err != nil {
		return err
	}
	if r.wrong() {
		return errViolations
	}
	return nil
}

func progressf(format string, args ...any) {
	_, _ = fmt.Fprintf(os.Stderr, time.Now().Format(time.TimeOnly)+" "+format+"\n", args...)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
