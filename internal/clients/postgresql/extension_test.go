package postgresql

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// TestH14ExtensionSchema: extensions are in the schema that was asked for, and what is there is looked at.
func TestH14ExtensionSchema(t *testing.T) {
	each(t, ends, func(t *testing.T, pg *testServer, manager string, cfg Config) {
		ctx := testContext(t)
		i := open(t, cfg)
		c := claim("schema " + manager)
		must(t, "ensure", ensure(ctx, i, c, hostile))
		pg.super(t, c.Database, `CREATE SCHEMA ext`, "ALTER SCHEMA ext OWNER TO "+ident(c.Role), "CREATE EXTENSION hstore")

		// What is in a trusted extension belongs to the bootstrap superuser, and so does what a superuser installed: only a superuser moves it.
		moved, refused := "ext", (func(error) bool)(nil)
		if manager != supers {
			moved, refused = publicSchema, IsInsufficientPrivilege
		}
		cases := []struct {
			name, reason string
			spec         ExtensionSpec
			schema       string
			err          func(error) bool
		}{
			{"Create", "The schema is stated.", ExtensionSpec{Name: "citext", Schema: "ext"}, "ext", nil},
			{"Again", "No schema: it stays where it is.", ExtensionSpec{Name: "citext"}, "ext", nil},
			{"Default", "The schema is public, and not the first of our search path.", ExtensionSpec{Name: "pg_trgm"}, publicSchema, nil},
			{"Move", "It was installed elsewhere, and can be moved.", ExtensionSpec{Name: "hstore", Schema: "ext"}, moved, refused},
			{"NotRelocatable", "It cannot be moved.", ExtensionSpec{Name: "plpgsql", Schema: "ext"}, "pg_catalog", IsUnsupported},
			{"NoSchema", "The schema is not there.", ExtensionSpec{Name: "ltree", Schema: "no schema"}, "", IsNotFound},
			{"MoveNoSchema", "Nor is it to move to.", ExtensionSpec{Name: "citext", Schema: "no schema"}, "ext", IsNotFound},
			{"TooLong", "The name would be cut.", ExtensionSpec{Name: "ltree", Schema: longName(64)}, "", IsInvalidName},
		}
		for _, tc := range cases {
			t.Run(tc.name, func(t *testing.T) {
				r, err := i.EnsureExtensions(ctx, c, []ExtensionSpec{tc.spec})
				must(t, "EnsureExtensions", err)
				if r[0].Schema != tc.schema {
					t.Errorf("%s\nschema %q, want %q", tc.reason, r[0].Schema, tc.schema)
				}
				if tc.err == nil && r[0].Err != nil || tc.err != nil && !tc.err(r[0].Err) {
					t.Errorf("%s\nerror: %v", tc.reason, r[0].Err)
				}
			})
		}
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestH14SchemaOfItsOwn: an extension that insists on a schema makes it.
func TestH14SchemaOfItsOwn(t *testing.T) {
	on(t, []int{18}, func(t *testing.T, pg *testServer) { // Earlier versions read extensions from the installation alone.
		dir := filepath.Join(pg.Options.Dir, "share", "extension")
		must(t, "extension", errors.Join(
			os.MkdirAll(dir, 0o755),
			os.WriteFile(filepath.Join(dir, "its_own.control"), []byte("default_version = '1.0'\nschema = 'its own place'\ntrusted = true\n"), 0o644),
			os.WriteFile(filepath.Join(dir, "its_own--1.0.sql"), []byte("CREATE FUNCTION answer() RETURNS int LANGUAGE sql AS 'SELECT 42';\n"), 0o644),
		))
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("its own")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		r, err := i.EnsureExtensions(ctx, c, []ExtensionSpec{{Name: "its_own"}})
		must(t, "EnsureExtensions", err)
		if r[0].Err != nil || r[0].Schema != "its own place" {
			t.Errorf("schema %q: %v", r[0].Schema, r[0].Err)
		}
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestHostileTenant: what an owner sets for its database has no say in our sessions.
func TestHostileTenant(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[supers])
		c := claim("hostile")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		pg.super(t, "hostile",
			`CREATE FUNCTION public.count(name) RETURNS int LANGUAGE sql AS 'SELECT 1/0'`,
			`ALTER DATABASE hostile SET search_path = public, pg_catalog`, `ALTER DATABASE hostile SET statement_timeout = 1`, `ALTER DATABASE hostile SET role = 'hostile'`,
			`ALTER DATABASE hostile SET idle_session_timeout = 1`,
			`ALTER DATABASE hostile SET idle_in_transaction_session_timeout = 1`, `ALTER DATABASE hostile SET default_transaction_isolation = serializable`,
			`ALTER DATABASE hostile SET local_preload_libraries = 'nowhere'`)
		r, err := i.EnsureExtensions(ctx, c, []ExtensionSpec{{Name: "pg_stat_statements"}})
		must(t, "EnsureExtensions", err)
		if r[0].Err != nil {
			t.Errorf("as superuser: %v", r[0].Err)
		}
		must(t, "look", i.with(ctx, tenant, c.Database, func(s *session) error {
			theirs, err := rows(ctx, s, OpRead, "settings", "SELECT name FROM pg_settings WHERE source IN ('database', 'user', 'database user')", nil, pgx.RowTo[string])
			if len(theirs) > 0 {
				t.Errorf("the owner decides about %q in our sessions", theirs)
			}
			return err
		}))
		must(t, "remove", remove(ctx, i, c))
	})
}

func TestAvailableExtensions(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		i := open(t, pg.managers[admins])
		got, err := i.AvailableExtensions(testContext(t), []string{"hstore", "no such", "plpgsql", "earthdistance"})
		must(t, "AvailableExtensions", err)
		want := map[string]AvailableExtension{
			"hstore":  {Name: "hstore", Default: "1.8", Versions: got["hstore"].Versions, Superuser: true, Trusted: true},
			"plpgsql": {Name: "plpgsql", Default: "1.0", Versions: []string{"1.0"}, Superuser: true, Trusted: true, Schema: "pg_catalog"},
			"earthdistance": {
				Name: "earthdistance", Default: got["earthdistance"].Default, Versions: got["earthdistance"].Versions, // Another in each major version.
				Superuser: true, Trusted: got["earthdistance"].Trusted, Requires: []string{"cube"},
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	})
}
