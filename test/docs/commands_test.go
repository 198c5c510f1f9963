package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// begin is the page that ends with a Ready claim of each kind. It is run first, on a plane that has nothing of the product.
const begin = "docs/getting-started.md"

// after is the order in which the other pages with commands are run.
var after = []string{"docs/tenant.md", "docs/terdutserver.md", "docs/secretcontract.md", "docs/operations.md", "docs/install.md"}

// notRunAtMost bounds the blocks of commands that are not run. Whoever adds one has to find out first that it cannot be run.
const notRunAtMost = 14

// TestDirectives holds that every block of commands, of whatever page, is run or says why it is not, and that few are not.
func TestDirectives(t *testing.T) {
	notRun := 0
	for _, page := range pages(t) {
		for _, b := range blocks(page, read(t, page)) {
			at := fmt.Sprintf("%s:%d", page, b.line)
			if b.commands() == "" {
				if b.language == "console" {
					t.Errorf("%s: a console without a command: commands follow \"$ \"", at)
				}
				continue
			}
			if reason, ok := b.says(directiveNotRun); ok {
				notRun++
				t.Logf("NOT RUN: %s: %s", at, reason)
				if len(reason) < 20 {
					t.Errorf("%s: the reason why it is not run does not say much", at)
				}
				continue
			}
			_, values := b.says(directiveValues)
			_, typed := b.says(directiveTyped)
			if b.directive != "" && !values && !typed {
				t.Errorf("%s: the comment before the commands means nothing to the test: %s", at, b.directive)
			}
			if page != begin && !slices.Contains(after, page) {
				t.Errorf("%s: this page is not run: give it a place in the order, or say why its commands cannot be run", at)
			}
		}
	}
	if notRun > notRunAtMost {
		t.Errorf("%d blocks of commands are not run, want at most %d", notRun, notRunAtMost)
	}
}

// TestCommands runs the commands of all pages. The first page ends with three Ready claims. At last the API server is shown the manifests.
func TestCommands(t *testing.T) {
	r := beginner(t, product.Configuration)
	for _, page := range after {
		r.follow(t, page)
	}
	manifests(t, r)
}

// TestCommandsOfClaims runs the commands of the first page on a cluster that works with claims. It ends with three Ready claims too.
func TestCommandsOfClaims(t *testing.T) {
	beginner(t, product.ConfigurationClaims)
}

// beginner has followed the first page with a Configuration, on a plane that began without the product.
func beginner(t *testing.T, configuration string) *reader {
	t.Helper()
	p := start(t)
	tools, err := toolchain.Ensure(t.Context(), []string{toolchain.Kubectl}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := p.Plane.Postgres
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, server.CABundle, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newReader(t, map[string]string{"kubectl": tools[toolchain.Kubectl], "psql": findPSQL(t, self), "bao": self}, map[string]string{
		"KUBECONFIG": p.Plane.Kubeconfig,
		// Where the servers are, and who the reader is.
		"PGHOST": server.Host, "PGPORT": strconv.Itoa(server.Port), "BAO_ADDR": p.Plane.OpenBao.Address,
		"PGUSER": server.Superuser, "PGPASSWORD": server.Password, "PGSSLMODE": "verify-full", "PGSSLROOTCERT": ca,
		"BAO_TOKEN": p.Plane.OpenBao.RootToken,
	})

	r.values = map[string]string{
		"REGISTRY": bare(t, p, r), "VERSION": product.Version, "CONFIGURATION": configuration,
		"PGHOST": server.Host, "PGPORT": strconv.Itoa(server.Port), "POSTGRES_CA": ca, "BAO_ADDR": p.Plane.OpenBao.Address,
	}
	r.follow(t, begin)
	isReady(t, p, terdutv1alpha1.TenantGroupVersionKind, "shop", "orders")
	isReady(t, p, terdutv1alpha1.SecretContractGroupVersionKind, "shop", "orders")
	isReady(t, p, terdutv1alpha1.TerdutServerGroupVersionKind, "oncall", "terdut")
	return r
}

// isReady fails unless the claim is Ready now.
func isReady(t *testing.T, p *product.Product, gvk schema.GroupVersionKind, ns, name string) {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	if err := p.Client.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: name}, u); err != nil {
		t.Fatal(err)
	}
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Ready" && m["status"] == "True" {
			return
		}
	}
	t.Errorf("%s %s/%s is not Ready at the end of the page: %v", gvk.Kind, ns, name, conditions)
}

// start a plane with the product.
func start(t *testing.T) *product.Product {
	t.Helper()
	dir, err := os.MkdirTemp("", "terdut-docs-")
	if err != nil {
		t.Fatal(err)
	}
	p, err := product.Start(t.Context(), product.Options{
		Plane: local.Options{Dir: dir, Keep: true, Progress: os.Stderr, Postgres: postgres.Options{TLS: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("logs are in %s", p.Plane.Logs)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return p
}

// findPSQL is the path of psql, or of the stand-in where there is none.
func findPSQL(t *testing.T, standIn string) string {
	t.Helper()
	installed, err := filepath.Glob("/usr/lib/postgresql/*/bin/psql")
	if err != nil {
		t.Fatal(err)
	}
	if len(installed) > 0 {
		return installed[len(installed)-1]
	}
	path, err := exec.LookPath("psql")
	if err != nil {
		return standIn
	}
	return path
}
