package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An extension is upgraded in place, never dropped, and one that cannot be had leaves the rest usable.
func TestH15Extensions(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, newTenant(ns, "orders", map[string]any{"deletionPolicy": "Delete", "extensions": []any{map[string]any{"name": "hstore", "version": "1.4"}}}))
	u := tenantReady(t, ns, "orders")
	app := mustLogin(t, secretData(t, ns, "orders-db"))
	exec(t, app, "CREATE TABLE bags (h hstore)", "INSERT INTO bags VALUES ('a=>1')")
	version := func(extension string) string {
		s := ""
		c := superuser(t, status(u, "database"))
		defer c.Close(context.Background()) // An open session would keep the database.
		_ = c.QueryRow(t.Context(), "SELECT extversion FROM pg_extension WHERE extname = $1", extension).Scan(&s)
		return s
	}
	set := func(e ...any) {
		t.Helper()
		rawPatch(t, u, `{"spec":{"extensions":[%s]}}`, fmt.Sprint(e...))
	}
	set(`{"name":"hstore","version":"1.8"}`)
	eventually(t, "the upgrade", func(context.Context) error {
		if v := version("hstore"); v != "1.8" {
			return fmt.Errorf("it is at %q", v)
		}
		return nil
	})
	// One version that does not exist, one extension that needs a superuser, and one that can be had.
	set(`{"name":"hstore","version":"9.9"},{"name":"pg_trgm"},{"name":"pg_stat_statements"}`)
	tenantIs(t, ns, "orders", func(u *unstructured.Unstructured) error {
		if c := condition(u, "DatabaseReady"); c["status"] == "True" || !strings.Contains(fmt.Sprint(c["message"]), "hstore") {
			return errors.New("it does not name the extension")
		}
		return nil
	})
	eventually(t, "the extension that can be had", func(context.Context) error {
		if version("pg_trgm") == "" {
			return errors.New("it is not there")
		}
		return nil
	})
	if v := version("hstore"); v != "1.8" {
		t.Errorf("hstore is at %q", v)
	}
	if v := version("pg_stat_statements"); v != "" {
		t.Errorf("pg_stat_statements is at %q, made by a role that is no superuser", v)
	}
	exec(t, app, "SELECT h -> 'a' FROM bags")
	// No version is no wish, and removing an entry is refused.
	set(`{"name":"hstore"},{"name":"pg_trgm"},{"name":"pg_stat_statements"}`)
	if err := p.Client.Patch(t.Context(), u.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"extensions":[{"name":"pg_trgm"}]}}`))); err == nil {
		t.Error("an extension was removed from the spec")
	}
	tenantIs(t, ns, "orders", func(u *unstructured.Unstructured) error {
		if c := condition(u, "DatabaseReady"); !strings.Contains(fmt.Sprint(c["message"]), "pg_stat_statements") {
			return errors.New("it does not name the extension that needs a superuser")
		}
		return nil
	})
	mustLogin(t, secretData(t, ns, "orders-db"))
	if n := rowsIn(t, status(u, "database"), "SELECT count(*) FROM bags"); n != 1 || version("hstore") != "1.8" {
		t.Errorf("there are %d rows, and hstore is at %q", n, version("hstore"))
	}
}
