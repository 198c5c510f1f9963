package postgresql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestH04LeastPrivilege: the whole life of a database with either management role, also when somebody took away the membership on which it
// depends.
func TestH04LeastPrivilege(t *testing.T) {
	each(t, all, func(t *testing.T, pg *testServer, manager string, cfg Config) {
		ctx := testContext(t)
		i := open(t, cfg)
		c := claim("life " + manager)

		f, err := i.Observe(ctx, c.Names)
		must(t, "Observe", err)
		if d := f.DecideDatabase(c.Owner, Consents{}); d.Verdict != Free {
			t.Fatalf("before: verdict %s", d.Verdict)
		}
		must(t, "ensure", ensure(ctx, i, c, hostile))
		must(t, "ensure again", ensure(ctx, i, c, hostile))

		f, err = i.Observe(ctx, c.Names)
		must(t, "Observe", err)
		if d := f.DecideDatabase(c.Owner, Consents{}); d.Verdict != Ours || d.Condition != Present {
			t.Errorf("database: verdict %s, %s", d.Verdict, d.Condition)
		}
		if d := f.DecideRole(c.Owner, Consents{}); d.Verdict != Ours || d.Condition != Present {
			t.Errorf("role: verdict %s, %s", d.Verdict, d.Condition)
		}
		if diff := cmp.Diff([]string{}, append(f.RoleDrift(anyRole), f.DatabaseDrift(anyDatabase)...)); diff != "" {
			t.Errorf("drift after create: -want, +got:\n%s", diff)
		}
		if f.RoleRecord.CredentialVersion != "1" || f.RoleRecord.OID != f.Role.OID || f.DatabaseRecord.OID != f.Database.OID {
			t.Errorf("records: %+v, %+v", f.RoleRecord, f.DatabaseRecord)
		}
		if f.Server.Identity == "" || f.Server.TLSVersion == "" || f.Server.Version < MinimumVersion || f.Server.ReadOnly {
			t.Errorf("server: %+v", f.Server)
		}

		// Rotation.
		_, err = i.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: -1, Password: "next"})
		must(t, "rotate", err)
		must(t, "login", i.CheckLogin(ctx, c.Role, "next", c.Database))

		if manager == admins {
			pg.super(t, "postgres", "SET ROLE terdut_admin", "REVOKE "+ident(c.Role)+" FROM terdut_admin")
			f, err := i.Observe(ctx, c.Names)
			must(t, "Observe", err)
			if diff := cmp.Diff([]string{"membership"}, f.DatabaseDrift(anyDatabase)); diff != "" {
				t.Errorf("drift: -want, +got:\n%s", diff)
			}
		}
		if ask[bool](t, pg, "postgres", "SELECT EXISTS (SELECT FROM pg_auth_members WHERE member = $1::regrole)", ident(c.Role)) {
			t.Error("the owner role is a member of something")
		}
		must(t, "drop database", i.DropDatabase(ctx, c, false))
		must(t, "drop database again", i.DropDatabase(ctx, c, false))
		kept, err := i.DropRole(ctx, c)
		must(t, "drop role", err)
		_, err = i.DropRole(ctx, c)
		must(t, "drop role again", err)
		if n := pg.exists(t, registryOf(cfg), c.Database); n != 0 || len(kept) > 0 {
			t.Errorf("after deletion %d things are left, kept %v", n, kept)
		}
	})
}

// TestH03Names: whatever characters are in a name, it is on the server byte for byte, on every path, and nothing else happens.
func TestH03Names(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		names := []string{"my-app", "UPPER", "Select", "user", `a"b`, `a'b`, `a;drop database postgres;--`, "$1", `a\b`, "a%b", "a/b?x=1", " leading", "é漢字"}
		for manager, cfg := range pg.managers {
			t.Run(manager, func(t *testing.T) {
				i := open(t, cfg)
				for n, name := range names {
					if manager == supers && n%3 != 1 {
						continue // The statements are the same; some are enough.
					}
					t.Run(name, func(t *testing.T) {
						ctx := testContext(t)
						c := claim(name)
						must(t, "ensure", ensure(ctx, i, c, hostile))
						if n := pg.exists(t, registryOf(cfg), name); n != 4 {
							t.Errorf("%d of database, role and their two records have exactly this name", n)
						}
						pg.super(t, name, "CREATE SCHEMA "+ident(name), "ALTER SCHEMA "+ident(name)+" OWNER TO "+ident(name))
						extension := func() {
							t.Helper()
							x, err := i.EnsureExtensions(ctx, c, []ExtensionSpec{{Name: "citext", Schema: name}})
							must(t, "extensions", err)
							must(t, "extension", x[0].Err)
						}
						extension()
						if manager == supers { // Nobody else may move what a trusted extension made, or change an owner whom it cannot act for.
							pg.super(t, name, "ALTER EXTENSION citext SET SCHEMA public")
							extension()
							pg.super(t, "postgres", "ALTER DATABASE "+ident(name)+" OWNER TO postgres")
						}
						must(t, "drift", func() error {
							_, err := i.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: 3, Password: "other"})
							return err
						}())
						_, err := i.EnsureDatabase(ctx, c, DatabaseSpec{ConnectionLimit: 4})
						must(t, "drift", err)
						if manager == admins { // It is terminated. Without one the database is just dropped.
							session, err := open(t, cfg).acquire(ctx, login, c.Role, "other", c.Database)
							must(t, "login", err)
							defer session.i.release(session)
						}
						pg.super(t, "postgres", "ALTER DATABASE "+ident(name)+" IS_TEMPLATE true", "ALTER DEFAULT PRIVILEGES FOR ROLE "+ident(name)+" GRANT SELECT ON TABLES TO PUBLIC")
						must(t, "remove", remove(ctx, i, c))
						if ask[bool](t, pg, "postgres", "SELECT rolcanlogin FROM pg_roles WHERE rolname = $1", name) {
							t.Error("a role that is kept for what it has elsewhere can log in")
						}
						pg.super(t, "postgres", "DROP OWNED BY "+ident(name))
						must(t, "remove what was kept", remove(ctx, i, c))
						if n := pg.exists(t, registryOf(cfg), name); n != 0 {
							t.Errorf("%d things are left", n)
						}
					})
				}
				if got := ask[int](t, pg, "postgres", "SELECT count(*) FROM pg_database WHERE datname IN ('postgres', 'template1')"); got != 2 {
					t.Error("a second statement ran")
				}
			})
		}
	})
}

// TestH02LongestName: names of 63 bytes are used in full, and kept apart where the server would cut longer ones to the same.
func TestH02LongestName(t *testing.T) {
	each(t, ends, func(t *testing.T, pg *testServer, manager string, cfg Config) {
		ctx := testContext(t)
		i := open(t, cfg)
		c := claim(longName(MaxNameBytes))
		c.Role = longName(MaxNameBytes-1) + "b"
		must(t, "ensure", ensure(ctx, i, c, hostile))
		for _, name := range []string{c.Database, c.Role} {
			if n := pg.exists(t, registryOf(cfg), name); n != 2 {
				t.Errorf("%d of object and record have exactly this name", n)
			}
		}
		suffixed := c
		suffixed.Role += "_owner"
		if err := ensure(ctx, i, suffixed, hostile); !IsInvalidName(err) {
			t.Errorf("want it refused, got %v", err)
		}
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestH02RefusedNames: what the server would cut or cannot hold is refused before anything is sent.
func TestH02RefusedNames(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		i := open(t, pg.managers[supers])
		before := i.Stats()
		cases := map[string]struct {
			reason string
			names  Names
		}{
			"DatabaseTooLong": {reason: "The server would cut it.", names: Names{Database: longName(64), Role: "x"}},
			"RoleTooLong":     {reason: "The limit is in bytes, not characters.", names: Names{Database: "x", Role: "é" + longName(62)}},
			"EmptyDatabase":   {reason: "There is no such thing.", names: Names{Role: "x"}},
			"NUL":             {reason: "The protocol ends strings at it.", names: Names{Database: "a\x00b", Role: "x"}},
			"NotUTF8":         {reason: "It would not come back as it is.", names: Names{Database: "\xff", Role: "x"}},
			"SystemRole":      {reason: "PostgreSQL keeps the prefix pg_.", names: Names{Database: "x", Role: "pg_mine"}},
			"Public":          {reason: "It is a keyword even when quoted.", names: Names{Database: "x", Role: "public"}},
		}
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				ctx := testContext(t)
				c := claim("x")
				c.Names = tc.names
				_, observe := i.Observe(ctx, c.Names)
				_, reserve := i.Reserve(ctx, c)
				_, role := i.EnsureRole(ctx, c, anyRole)
				_, database := i.EnsureDatabase(ctx, c, anyDatabase)
				_, dropRole := i.DropRole(ctx, c)
				for _, err := range []error{observe, reserve, role, database, dropRole, i.DropDatabase(ctx, c, true)} {
					if !IsInvalidName(err) {
						t.Errorf("%s\nwant an invalid name, got %v", tc.reason, err)
					}
				}
			})
		}
		if diff := cmp.Diff(before, i.Stats()); diff != "" {
			t.Errorf("something was sent: -want, +got:\n%s", diff)
		}
	})
}

func longName(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a'
	}
	return string(b)
}
