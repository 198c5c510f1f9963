// Command run starts the whole product locally, applies the Tenant example, shows how it becomes Ready, and stays up until it is
// interrupted.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

type cli struct {
	Dir     string        `help:"Folder for the state and the logs; must be empty. Default: a temporary one that is removed at the end." type:"path"`
	Debug   bool          `help:"Let provider and functions log debug messages."`
	Timeout time.Duration `help:"How long the Tenant may take to become Ready." default:"2m"`
	Once    bool          `help:"Stop as soon as the Tenant is Ready, instead of staying up."`
}

func main() {
	// Only what this command says itself belongs on the screen; controllers have log files.
	ctrl.SetLogger(logr.Discard())
	c := cli{}
	k := kong.Parse(&c, kong.Name("run"), kong.Description("Run the whole product locally."))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := c.run(ctx)
	if ctx.Err() != nil {
		// Whoever interrupts a build or a start asked for its failure.
		err = nil
	}
	k.FatalIfErrorf(err)
}

func (c *cli) run(ctx context.Context) error {
	start := time.Now()
	o := product.Options{Plane: local.Options{
		Dir: c.Dir, Keep: c.Dir != "", Progress: os.Stdout, Postgres: postgres.Options{TLS: true},
	}}
	if c.Debug {
		o.ProviderArgs, o.FunctionArgs = []string{"--debug"}, []string{"--debug"}
	}
	kubectl, err := toolchain.Ensure(ctx, append(local.Tools, toolchain.Kubectl), os.Stdout)
	if err != nil {
		return err
	}
	fmt.Println("Starting the control plane.")
	p, err := product.Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		fmt.Println("\nStopping.")
		p.Stop()
		fmt.Println("Everything is stopped.")
	}()

	fmt.Println("\nApplying examples/tenant.")
	if err := applyExample(ctx, p); err != nil {
		return err
	}
	t, err := follow(ctx, p, c.Timeout)
	if err != nil {
		return err
	}
	if err := summary(ctx, p, t, kubectl[toolchain.Kubectl], time.Since(start)); err != nil {
		return err
	}
	if c.Once {
		return nil
	}
	<-ctx.Done()
	return nil
}

func applyExample(ctx context.Context, p *product.Product) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: exampleNamespace}}
	if err := p.Client.Create(ctx, ns); err != nil && !kerrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create namespace: %w", err)
	}
	return p.ApplyFile(ctx, filepath.Join("examples", "tenant", "tenant.yaml"))
}

func summary(ctx context.Context, p *product.Product, t *tenant, kubectl string, took time.Duration) error {
	secret := t.secretName()
	ca := filepath.Join(p.Plane.Dir, "ca.crt")
	if err := os.WriteFile(ca, p.Plane.Postgres.CABundle, 0o600); err != nil {
		return fmt.Errorf("cannot write CA bundle: %w", err)
	}
	fmt.Printf(`
The Tenant is %s, %.0f seconds after the start.

Look around:
  export KUBECONFIG=%s
  alias kubectl=%s
  kubectl get managed,tenants,externalsecrets -A
  kubectl -n %s describe tenant %s

Log in with what an application gets (the password is read from the Secret and not shown):
  PGSSLROOTCERT=%s psql "$(kubectl -n %s get secret %s -o go-template='{{.data.uri | base64decode}}')"

Logs are in %s. Ctrl-C stops everything.
`, t.phase(), took.Seconds(), p.Plane.Kubeconfig, kubectl, exampleNamespace, exampleName, ca, exampleNamespace, secret, p.Plane.Logs)
	return ctx.Err()
}

// sentence puts the words that are not empty into one line.
func sentence(words ...string) string {
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}
