// Command render prints what an example is composed of, without a cluster.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/ryuvia/provider-terdut/cluster/local/render"
)

// CLI of this program.
type CLI struct {
	Example string `arg:"" default:"tenant" help:"Folder below examples." optional:""`
	Step    string `arg:"" help:"Folder below the example's render/observed, with what is observed. Without it nothing is." optional:""`
}

// Run renders the example.
func (c *CLI) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := render.Start(ctx, c.Example, os.Stderr)
	if err != nil {
		return err
	}
	defer r.Close()
	out, err := r.Render(ctx, c.Step)
	if err != nil {
		return err
	}
	if _, err := os.Stdout.Write(out); err != nil {
		return err
	}
	steps, err := r.Steps()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(os.Stderr, "\nThis was rendered for what is observed in step %q. Steps: %v\n", c.Step, steps)
	return nil
}

func main() {
	ctx := kong.Parse(&CLI{}, kong.Description("Renders an example without a cluster."))
	ctx.FatalIfErrorf(ctx.Run())
}
