// Package onplane runs the tests of a package on a control plane of their own, with the product installed.
package onplane

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// Tests of a package.
type Tests struct {
	// Name of the state folder.
	Name string
	// Parallel is how many tests may run at a time; 0 leaves it to the command line. They wait for the plane most of the time.
	Parallel int
	// Options of the product. The folder is there, and goes when all tests have passed; the plane's own is below it unless the options say so.
	Options func(dir string) (product.Options, error)
	// Started is called with the product before the first test.
	Started func(p *product.Product)
}

// Run starts the product, runs the tests on it and stops it. It returns the exit code of the process.
func (o Tests) Run(m *testing.M) int {
	code, err := o.run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func (o Tests) run(m *testing.M) (int, error) {
	flag.Parse()
	if o.Parallel > 0 {
		if err := flag.Set("test.parallel", strconv.Itoa(o.Parallel)); err != nil {
			return 0, fmt.Errorf("cannot set flag: %w", err)
		}
	}
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	dir, err := os.MkdirTemp("", "terdut-"+o.Name+"-")
	if err != nil {
		return 0, fmt.Errorf("cannot create state folder: %w", err)
	}
	options, err := o.Options(dir)
	if err != nil {
		return 0, err
	}
	if options.Plane.Dir == "" {
		options.Plane.Dir = filepath.Join(dir, "plane")
	}
	options.Plane.Keep, options.Plane.Progress = true, os.Stderr
	p, err := product.Start(ctx, options)
	if err != nil {
		return 0, fmt.Errorf("cannot start the product: %w", err)
	}
	defer p.Stop()
	o.Started(p)
	// From here on an interrupt ends the tests at once, and every process of the plane with them.
	stop()

	code := m.Run()
	if code == 0 {
		_ = os.RemoveAll(dir)
	} else {
		fmt.Fprintln(os.Stderr, "logs are in", p.Plane.Logs)
	}
	return code, nil
}
