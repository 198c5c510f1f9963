// Command run starts the whole product locally, applies the examples of its claims, shows how they become Ready, and stays up until it is
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
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

type cli struct {
	Dir     string        `help:"Folder for the state and the logs; must be empty. Default: a temporary one that is removed at the end." type:"path"`
	Debug   bool          `help:"Let provider and functions log debug messages."`
	Timeout time.Duration `help:"How long each example may take to become Ready." default:"5m"`
	Once    bool          `help:"Stop as soon as the examples are Ready, instead of staying up."`
	Flavour string        `help:"Whether the examples are namespaced composite resources or claims." default:"composites" enum:"composites,claims"`
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
	}, Flavour: product.Flavour(c.Flavour)}
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

	ready, err := c.examples(ctx, p)
	if err != nil {
		return err
	}
	if err := summary(ctx, p, ready, kubectl[toolchain.Kubectl], time.Since(start)); err != nil {
		return err
	}
	if c.Once {
		return nil
	}
	<-ctx.Done()
	return nil
}

// examples applies the examples, one after the other, and returns what became of the claims.
func (c *cli) examples(ctx context.Context, p *product.Product) (map[string]*object, error) {
	ready := map[string]*object{}
	for _, step := range []struct {
		files []string
		wait  []example
	}{
		{files: []string{"tenant/namespace.yaml", "tenant/own-access.yaml", "tenant/tenant.yaml"}, wait: []example{ownAccess, tenant}},
		{files: []string{"secretcontract/secretcontract.yaml", "secretcontract/violated.yaml", "secretcontract/provisioned.yaml"}, wait: []example{secretContract, provisionedContract}},
		{
			files: []string{"terdutserver/namespace.yaml", "terdutserver/tenant.yaml", "terdutserver/terdutserver.yaml", "terdutserver/team.yaml"},
			wait:  []example{terdutServer, foreignTeam, foreignIntegration},
		},
	} {
		fmt.Printf("\nApplying examples/%s.\n", filepath.Dir(step.files[0]))
		for _, f := range step.files {
			if err := p.ApplyFile(ctx, filepath.Join("examples", f)); err != nil {
				return nil, err
			}
		}
		for _, e := range step.wait {
			o, err := follow(ctx, p, e, c.Timeout)
			if err != nil {
				return nil, err
			}
			ready[e.gvk.Kind] = o
		}
	}
	return ready, nil
}

func summary(ctx context.Context, p *product.Product, ready map[string]*object, kubectl string, took time.Duration) error {
	db, server := ready[tenant.gvk.Kind], ready[terdutServer.gvk.Kind]
	ca := filepath.Join(p.Plane.Dir, "ca.crt")
	if err := os.WriteFile(ca, p.Plane.Postgres.CABundle, 0o600); err != nil {
		return fmt.Errorf("cannot write CA bundle: %w", err)
	}
	fmt.Printf(`
Tenant, SecretContract and TerdutServer are Ready, %.0f seconds after the start.

Look around:
  export KUBECONFIG=%s
  alias kubectl=%s
  kubectl get managed,tenants,secretcontracts,terdutservers,externalsecrets -A
  kubectl -n %s describe tenant %s
  kubectl -n %s describe terdutserver %s

See which of three contracts get the Secret that they expect, one of them made for it, and what the other one lacks:
  kubectl -n %s get secretcontracts

Log in to the database with what an application gets (the password is read from the Secret and not shown):
  PGSSLROOTCERT=%s psql "$(kubectl -n %s get secret %s -o go-template='{{.data.uri | base64decode}}')"

`, took.Seconds(), p.Plane.Kubeconfig, kubectl, tenant.namespace, tenant.name, terdutServer.namespace, terdutServer.name,
		secretContract.namespace, ca, tenant.namespace, db.status("secretRef", "name"))
	fmt.Printf(`List the teams on the on-call server (its name in the cluster leads there through a proxy; the provider's key is read and not shown):
  %s

See where alerts of each team are sent to:
  %s
  %s

Logs are in %s. Ctrl-C stops everything.
`, p.ListTeams(server.status("credentialsSecretRef", "name"), server.status("endpoint")),
		product.ShowWebhook(terdutServer.namespace, "platform-webhook"), product.ShowWebhook(foreignTeam.namespace, "shop-webhook"), p.Plane.Logs)
	return ctx.Err()
}

// sentence puts the words that are not empty into one line.
func sentence(words ...string) string {
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}
