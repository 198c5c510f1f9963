package openbao

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"sigs.k8s.io/yaml"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
)

// hostile is everything that breaks connection strings.
const hostile = `a@b/c:d?e#f%41+g "h'i\j k`

// composed are the keys of the record that a Tenant composes, as its golden file has them.
func composed(t *testing.T) []v1alpha1.DataItem {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "render", "testdata", "tenant", "5-ready.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for doc := range strings.SplitSeq(string(b), "\n---\n") {
		s := &v1alpha1.BaoSecret{}
		if err := yaml.Unmarshal([]byte(doc), s); err != nil {
			t.Fatal(err)
		}
		if s.Kind == "BaoSecret" {
			return s.Spec.ForProvider.Data
		}
	}
	t.Fatal("the golden file has no BaoSecret")
	return nil
}

// TestH13URI gives a database, a role and a password names of every kind: the URI in the record has the same parts as the single keys, and
// logs in with libpq as with pgx.
func TestH13URI(t *testing.T) {
	pg, err := postgres.Start(t.Context(), postgres.Options{Dir: t.TempDir(), TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pg.Stop)
	instance, err := postgresql.New(postgresql.Config{Host: pg.Host, HostAddr: pg.HostAddr, Port: pg.Port, CABundle: pg.CABundle, Username: pg.Superuser, Password: pg.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(instance.Close)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pg.CABundle, 0o600); err != nil {
		t.Fatal(err)
	}
	p, items := newProvider(t), composed(t)

	names := []string{"plain", "my-app", "UPPER", `a"b`, `a'b`, "$1", `a\b`, "a%b", "a%41b", "a+b", "a/b?x=1", "a#b", "a&b=c", "a:b@c", "[a]", " a b ", "é漢字", hostile}
	for n, name := range names {
		t.Run(name, func(t *testing.T) {
			s := record(t, fmt.Sprintf("h13/uri/%d", n), func(s *v1alpha1.BaoSecret) {
				s.Spec.ForProvider.Data = fill(items, map[string]string{
					"host": pg.Host, "port": strconv.Itoa(pg.Port), "dbname": name + " db", "username": name + " user", "password": hostile + name, "sslmode": "verify-full",
				})
			})
			p.apply(t, s)
			own(t, instance, name)
			data := map[string]string{}
			for k, v := range p.ready(t, s).Data {
				var text string
				if json.Unmarshal([]byte(v), &text) != nil {
					t.Fatalf("key %q is no text", k)
				}
				data[k] = text
			}

			cfg, err := pgx.ParseConfig(data["uri"] + "&sslrootcert=" + ca)
			if err != nil {
				t.Fatal("pgx cannot parse the URI") // The error would repeat it.
			}
			if cfg.Host != data["host"] || strconv.Itoa(int(cfg.Port)) != data["port"] || cfg.Database != name+" db" || cfg.User != name+" user" || cfg.Password != hostile+name {
				t.Error("the URI does not have the parts that the single keys have")
			}
			c, err := pgx.ConnectConfig(t.Context(), cfg)
			if err != nil {
				t.Fatal("pgx does not log in with the URI")
			}
			_ = c.Close(t.Context())
			t.Run("libpq", func(t *testing.T) { libpq(t, data["uri"]+"&sslrootcert="+ca, name) })
		})
	}
}

// fill in the values of items. What is generated is given a value, too: a record that was taken over has any password.
func fill(items []v1alpha1.DataItem, values map[string]string) []v1alpha1.DataItem {
	filled := make([]v1alpha1.DataItem, 0, len(items))
	for _, i := range items {
		if v, ok := values[i.Key]; ok {
			i = v1alpha1.DataItem{Key: i.Key, Value: &v}
		}
		filled = append(filled, i)
	}
	return filled
}

// own makes a role and its database as the provider does.
func own(t *testing.T, i *postgresql.Instance, name string) {
	t.Helper()
	c := postgresql.Claim{
		Names: postgresql.Names{Database: name + " db", Role: name + " user"},
		Owner: postgresql.Owner{ControlPlane: "here", UID: name, Namespace: "shop", Name: name},
	}
	if _, err := i.Reserve(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := i.EnsureRole(t.Context(), c, postgresql.RoleSpec{ConnectionLimit: -1, Password: hostile + name}); err != nil {
		t.Fatal(err)
	}
	if _, err := i.EnsureDatabase(t.Context(), c, postgresql.DatabaseSpec{ConnectionLimit: -1}); err != nil {
		t.Fatal(err)
	}
}

// findPSQL of the newest installed server, or in PATH. What is fetched of PostgreSQL has none.
func findPSQL() (string, error) {
	installed, err := filepath.Glob("/usr/lib/postgresql/*/bin/psql")
	if err != nil || len(installed) == 0 {
		return exec.LookPath("psql")
	}
	return slices.Max(installed), nil
}

// libpq logs in with a URI and says who it is where.
func libpq(t *testing.T, uri, name string) {
	psql, err := findPSQL()
	if err != nil {
		t.Skip("SKIPPED: LIBPQ IS NOT TESTED, only pgx is: there is no psql beside an installed PostgreSQL nor in PATH (package postgresql-client)")
	}
	c := exec.CommandContext(t.Context(), psql, "--no-psqlrc", "--tuples-only", "--no-align", "--command", "SELECT current_database() || '|' || current_user", uri)
	c.Env = []string{"PGCLIENTENCODING=UTF8", "LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	out, err := c.Output() // What it says on standard error may repeat the URI.
	if err != nil || strings.TrimSuffix(string(out), "\n") != name+" db|"+name+" user" {
		t.Errorf("libpq logs in as somebody else, or not at all (%T)", err)
	}
}
