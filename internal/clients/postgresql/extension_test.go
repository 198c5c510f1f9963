package postgresql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExtensions(t *testing.T) {
	for manager, cfg := range managers {
		t.Run(manager, func(t *testing.T) {
			ctx := testContext(t)
			i := open(t, cfg)
			c := claim("ext " + manager)
			must(t, "ensure", ensure(ctx, i, c, hostile))
			super(t, c.Database, `CREATE SCHEMA ext`, "ALTER SCHEMA ext OWNER TO "+ident(c.Role))

			apply := func(specs ...ExtensionSpec) []ExtensionResult {
				t.Helper()
				r, err := i.EnsureExtensions(ctx, c, specs)
				must(t, "EnsureExtensions", err)
				return r
			}
			type testCase struct {
				name, reason string
				spec         ExtensionSpec
				want         Extension
				err          func(error) bool
			}
			moved := testCase{"Move", "It can be moved.", ExtensionSpec{Name: "hstore", Schema: "ext"}, Extension{"hstore", "1.8", "ext", true}, nil}
			if manager != "Superuser" {
				// What is in a trusted extension belongs to the bootstrap superuser, so only a superuser moves it.
				moved.want, moved.err = Extension{"hstore", "1.8", "public", true}, IsInsufficientPrivilege
			}
			cases := []testCase{
				{"Create", "The schema is stated.", ExtensionSpec{Name: "citext", Schema: "ext"}, Extension{"citext", "1.6", "ext", true}, nil},
				{"Again", "It is there.", ExtensionSpec{Name: "citext"}, Extension{"citext", "1.6", "ext", true}, nil},
				{"Default", "The schema is public, and not the first of our search path.", ExtensionSpec{Name: "pg_trgm"}, Extension{"pg_trgm", "1.6", "public", true}, nil},
				{"OldVersion", "The version is stated.", ExtensionSpec{Name: "hstore", Version: "1.4"}, Extension{"hstore", "1.4", "public", true}, nil},
				{"NotTouched", "No version: no update.", ExtensionSpec{Name: "hstore"}, Extension{"hstore", "1.4", "public", true}, nil},
				{"Update", "It is updated in place.", ExtensionSpec{Name: "hstore", Version: "1.8"}, Extension{"hstore", "1.8", "public", true}, nil},
				{"NoPath", "There is no such version.", ExtensionSpec{Name: "hstore", Version: "9.9"}, Extension{"hstore", "1.8", "public", true}, IsExtensionUnavailable},
				moved,
				{"NotRelocatable", "It cannot be moved.", ExtensionSpec{Name: "plpgsql", Schema: "ext"}, Extension{"plpgsql", "1.0", "pg_catalog", false}, func(err error) bool { return err != nil }},
				{"NotInstalled", "The host does not have it.", ExtensionSpec{Name: "no-such; DROP TABLE x"}, Extension{Name: "no-such; DROP TABLE x"}, IsExtensionUnavailable},
				{"NoSchema", "The schema is not there.", ExtensionSpec{Name: "ltree", Schema: "no schema"}, Extension{Name: "ltree"}, IsNotFound},
				{"TooLong", "The name would be cut.", ExtensionSpec{Name: "ltree", Schema: longName(64)}, Extension{Name: "ltree"}, IsInvalidName},
			}
			for _, tc := range cases {
				t.Run(tc.name, func(t *testing.T) {
					got := apply(tc.spec)[0]
					if diff := cmp.Diff(tc.want, got.Extension); diff != "" {
						t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
					}
					if tc.err == nil && got.Err != nil || tc.err != nil && !tc.err(got.Err) {
						t.Errorf("%s\nerror: %v", tc.reason, got.Err)
					}
				})
			}

			// One that needs a superuser does not keep the others from being there.
			r := apply(ExtensionSpec{Name: "pg_stat_statements"}, ExtensionSpec{Name: "pgcrypto"})
			if forbidden := IsInsufficientPrivilege(r[0].Err); forbidden != (manager != "Superuser") {
				t.Errorf("pg_stat_statements: %v", r[0].Err)
			}
			if r[1].Err != nil || r[1].Version == "" {
				t.Errorf("pgcrypto: %+v", r[1])
			}
			if got := ask[string](t, c.Database, "SELECT pg_get_userbyid(extowner) FROM pg_extension WHERE extname = 'pgcrypto'"); got != c.Role {
				t.Errorf("pgcrypto belongs to %q", got)
			}
			must(t, "login", i.CheckLogin(ctx, c.Role, hostile, c.Database))
			if n := ask[int](t, "postgres", "SELECT count(*) FROM pg_stat_activity WHERE datname = $1", c.Database); n != 0 {
				t.Errorf("%d sessions are left in the tenant's database", n)
			}
			must(t, "remove", remove(ctx, i, c))
		})
	}
}

// TestHostileTenant: what an owner sets for its database has no say in our sessions.
func TestHostileTenant(t *testing.T) {
	ctx := testContext(t)
	i := open(t, managers["Superuser"])
	c := claim("hostile")
	must(t, "ensure", ensure(ctx, i, c, hostile))
	super(t, "hostile",
		`CREATE FUNCTION public.count(name) RETURNS int LANGUAGE sql AS 'SELECT 1/0'`,
		`ALTER DATABASE hostile SET search_path = public, pg_catalog`, `ALTER DATABASE hostile SET statement_timeout = 1`, `ALTER DATABASE hostile SET role = 'hostile'`)
	r, err := i.EnsureExtensions(ctx, c, []ExtensionSpec{{Name: "pg_stat_statements"}})
	must(t, "EnsureExtensions", err)
	if r[0].Err != nil {
		t.Errorf("as superuser: %v", r[0].Err)
	}
	must(t, "remove", remove(ctx, i, c))
}

func TestAvailableExtensions(t *testing.T) {
	i := open(t, managers["CreateDBCreateRole"])
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
}
