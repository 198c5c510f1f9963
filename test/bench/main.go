// Command bench measures the product on a local control plane and prints one table of counts and medians. It judges nothing: numbers
// depend on the machine and on what else it does.
//
// The control plane, the servers and the provider are as a user's, with default flags. Managed resources are polled more often only
// while the product is measured at rest, by their own poll-interval annotation.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/alecthomas/kong"
	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/cluster/images"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

type cli struct {
	Parts     []string      `name:"part" enum:"function,events,singles,contracts,rules,servers,tenants,rest,idle" default:"function,events,singles,contracts,rules,servers,tenants,rest,idle" help:"What to measure, in this order: ${enum}."`
	Tenants   int           `default:"200" help:"How many Tenants are applied and deleted at once."`
	Idle      int           `default:"1000" help:"How many PGDatabases there are when the provider is measured idle, those of Tenants included."`
	Contracts int           `default:"200" help:"How many SecretContracts there are on as many Secrets; a quarter of them on one, and as many composites that only show a value."`
	Rules     int           `default:"1000" help:"How many SecretContracts with twenty rules there are when evaluation is measured."`
	Servers   int           `default:"20" help:"How many TerdutServers are applied and deleted at once."`
	Teams     int           `default:"5" help:"How many teams each TerdutServer has, with five children each."`
	Singles   int           `default:"5" help:"How many Tenants are applied one after the other."`
	Polls     int           `default:"10" help:"How many polls of each managed resource are counted at rest."`
	Quick     bool          `help:"Measure little: 5 Tenants at once, 3 singly, 20 contracts on Secrets and 20 more, 2 TerdutServers of 1 team, 20 PGDatabases, 3 polls."`
	Trace     bool          `help:"Print every event that is recorded."`
	Patience  time.Duration `default:"40m" help:"How long any one measurement may take."`
}

func main() {
	// Only what this command says itself belongs on the screen; controllers have log files.
	ctrl.SetLogger(logr.Discard())
	c := cli{}
	k := kong.Parse(&c, kong.Name("bench"), kong.Description("Measure the product on a local control plane."))
	if c.Quick {
		c.Tenants, c.Idle, c.Singles, c.Contracts, c.Rules, c.Servers, c.Teams, c.Polls = 5, 20, 3, 20, 20, 2, 1, 3
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := c.run(ctx)
	if ctx.Err() != nil {
		progressf("Interrupted.")
		err = nil
	}
	k.FatalIfErrorf(err)
}

// maxConnections of the PostgreSQL server, for everybody.
const maxConnections = 40

// A bench is under way.
type bench struct {
	cli

	p     *product.Product
	watch client.WithWatch
	table table
}

func (c *cli) run(ctx context.Context) error {
	b := &bench{cli: *c}
	root, err := prepare(ctx)
	if err != nil {
		return err
	}
	b.table.captionf("%d cores of %s/%s, load average before the start: %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, load())
	if slices.Contains(b.Parts, "function") {
		if err := b.runFunction(ctx, root); err != nil {
			return err
		}
	}

	dir, err := os.MkdirTemp("", "terdut-bench-")
	if err != nil {
		return fmt.Errorf("cannot create state folder: %w", err)
	}
	err = b.onPlane(ctx, dir)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w (logs are in %s)", err, dir)
	}
	if err := errors.Join(ctx.Err(), os.RemoveAll(dir)); err != nil {
		return err
	}
	b.table.captionf("load average at the end: %s", load())
	return b.table.print(os.Stdout)
}

// onPlane measures what takes a control plane.
func (b *bench) onPlane(ctx context.Context, dir string) error {
	progressf("Starting the control plane.")
	start := time.Now()
	var err error
	b.p, err = product.Start(ctx, product.Options{
		Plane: local.Options{Dir: dir, Keep: true, Progress: os.Stderr, Postgres: postgres.Options{
			TLS: true, Conf: map[string]string{"max_connections": strconv.Itoa(maxConnections)},
		}},
	})
	if err != nil {
		return err
	}
	defer func() {
		progressf("Stopping.")
		b.p.Stop()
	}()
	if b.watch, err = client.NewWithWatch(b.p.Plane.Config(), client.Options{Scheme: b.p.Client.Scheme()}); err != nil {
		return fmt.Errorf("cannot create client: %w", err)
	}
	if err := b.warmStart(ctx, start); err != nil {
		return err
	}
	for _, part := range []struct {
		name    string
		measure func(context.Context) error
	}{
		{"events", b.creationEvents}, {"singles", b.singleTenants}, {"contracts", b.contracts}, {"rules", b.rules}, {"servers", b.onCallServers},
		{"tenants", b.manyTenants}, {"rest", b.atRest}, {"idle", b.idle},
	} {
		if !slices.Contains(b.Parts, part.name) {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, b.Patience)
		err := part.measure(ctx)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// prepare builds what a start needs, so that the start that is measured finds everything built. It returns the folder of go.mod.
func prepare(ctx context.Context) (string, error) {
	root, err := toolchain.Root(ctx)
	if err != nil {
		return "", err
	}
	if _, err := toolchain.Ensure(ctx, local.Tools, os.Stderr); err != nil {
		return "", err
	}
	cache, err := toolchain.CacheDir()
	if err != nil {
		return "", err
	}
	progressf("Building the packages.")
	b := &images.Builder{Source: root, Cache: filepath.Join(cache, "images"), Platform: v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}}
	for _, p := range images.Packages() {
		if _, err := b.Build(ctx, p); err != nil {
			return "", err
		}
	}
	return root, nil
}

// load of the machine over 1, 5 and 15 minutes.
func load() string {
	b, err := os.ReadFile("/proc/loadavg") // Linux alone has it.
	if f := strings.Fields(string(b)); err == nil && len(f) > 2 {
		return strings.Join(f[:3], " ")
	}
	return "unknown"
}

func progressf(format string, args ...any) {
	_, _ = fmt.Fprintf(os.Stderr, time.Now().Format(time.TimeOnly)+" "+format+"\n", args...)
}
