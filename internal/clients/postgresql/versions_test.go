package postgresql

import (
	"strings"
	"testing"
)

// TestH15ExtensionVersions: versions change in place, nothing is dropped, and each lasting fault is named without a statement that fails.
func TestH15ExtensionVersions(t *testing.T) {
	each(t, ends, func(t *testing.T, pg *testServer, manager string, cfg Config) {
		ctx := testContext(t)
		writes := 0
		i := open(t, cfg, counting(&writes))
		c := claim("version " + manager)
		must(t, "ensure", ensure(ctx, i, c, hostile))

		cases := []struct {
			name, reason string
			spec         ExtensionSpec
			version      string
			err          func(error) bool
			says         string
		}{
			{"OldVersion", "The version is stated.", ExtensionSpec{Name: "hstore", Version: "1.4"}, "1.4", nil, ""},
			{"NotTouched", "No version: no update.", ExtensionSpec{Name: "hstore"}, "1.4", nil, ""},
			{"NoPath", "There is no such version to go to.", ExtensionSpec{Name: "hstore", Version: "9.9"}, "1.4", IsExtensionUnavailable, "22023"},
			{"Update", "It is updated in place.", ExtensionSpec{Name: "hstore", Version: "1.8"}, "1.8", nil, ""},
			{"Downgrade", "There is no way back.", ExtensionSpec{Name: "hstore", Version: "1.4"}, "1.8", IsExtensionUnavailable, "22023"},
			{"NoVersion", "There is no such version to begin with.", ExtensionSpec{Name: "ltree", Version: "9.9"}, "", IsExtensionUnavailable, "22023"},
			{"NotInstalled", "The host does not have it.", ExtensionSpec{Name: "no-such; DROP TABLE x"}, "", IsExtensionUnavailable, "0A000"},
			{"Requires", "Another has to be there first.", ExtensionSpec{Name: "earthdistance"}, "", IsNotFound, "cube"},
		}
		for _, tc := range cases {
			t.Run(tc.name, func(t *testing.T) {
				before := writes
				r, err := i.EnsureExtensions(ctx, c, []ExtensionSpec{tc.spec})
				must(t, "EnsureExtensions", err)
				if r[0].Version != tc.version {
					t.Errorf("%s\nversion %q, want %q", tc.reason, r[0].Version, tc.version)
				}
				if tc.err == nil && r[0].Err != nil || tc.err != nil && (!tc.err(r[0].Err) || !strings.Contains(r[0].Err.Error(), tc.says)) {
					t.Errorf("%s\nerror: %v", tc.reason, r[0].Err)
				}
				if tc.err != nil && writes != before {
					t.Errorf("%s\n%d statements were tried", tc.reason, writes-before)
				}
			})
		}

		// A table depends on it: not asking for it any more changes nothing.
		pg.super(t, c.Database, "CREATE TABLE kept AS SELECT 'a=>1'::public.hstore AS h")
		_, err := i.EnsureExtensions(ctx, c, []ExtensionSpec{{Name: "pg_trgm"}})
		must(t, "EnsureExtensions", err)
		if got := ask[string](t, pg, c.Database, "SELECT h OPERATOR(public.->) 'a' FROM public.kept"); got != "1" {
			t.Errorf("the table holds %q", got)
		}

		// One that needs a superuser does not keep the others from being there, and the database stays usable.
		r, err := i.EnsureExtensions(ctx, c, []ExtensionSpec{{Name: "pg_stat_statements"}, {Name: "pgcrypto"}})
		must(t, "EnsureExtensions", err)
		if manager != supers && (!IsInsufficientPrivilege(r[0].Err) || !strings.Contains(MissingPrivilege(r[0].Err), "superuser")) {
			t.Errorf("pg_stat_statements: %v", r[0].Err)
		}
		if manager == supers && r[0].Err != nil {
			t.Errorf("pg_stat_statements: %v", r[0].Err)
		}
		if r[1].Err != nil || r[1].Version == "" {
			t.Errorf("pgcrypto: %+v", r[1])
		}
		if got := ask[string](t, pg, c.Database, "SELECT pg_get_userbyid(extowner) FROM pg_extension WHERE extname = 'pgcrypto'"); got != c.Role {
			t.Errorf("pgcrypto belongs to %q", got)
		}
		must(t, "login", i.CheckLogin(ctx, c.Role, hostile, c.Database))
		pg.nobodyIn(t, c.Database)
		must(t, "remove", remove(ctx, i, c))
	})
}
