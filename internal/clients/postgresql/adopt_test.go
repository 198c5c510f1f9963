package postgresql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestH09RetainAndAdopt: what was kept is handed over only by an admin, with its data, owner and password.
func TestH09RetainAndAdopt(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		writes := 0
		i := open(t, pg.managers[admins], counting(&writes))
		first := claim("kept")
		must(t, "ensure", ensure(ctx, i, first, hostile))
		pg.super(t, first.Database, `CREATE TABLE data AS SELECT 42 AS n`, `ALTER TABLE data OWNER TO "kept"`)
		must(t, "Retain", i.Retain(ctx, first))
		must(t, "login after Retain", i.CheckLogin(ctx, first.Role, hostile, first.Database))

		second := claim("kept") // The same namespace and name, another uid.
		before := writes
		if _, err := i.Reserve(ctx, second); !IsConflict(err) {
			t.Fatalf("want a conflict, got %v", err)
		}
		if writes != before {
			t.Error("a refused reservation wrote something")
		}

		second.Consents.Adoptions = []Adoption{{Database: "kept", From: first.Owner.UID, To: "ns/kept"}}
		f, err := i.Reserve(ctx, second)
		must(t, "Reserve with consent", err)
		if f.RoleRecord.State != StateCreated || f.RoleRecord.CredentialVersion != "" || f.DatabaseRecord.Owner != second.Owner {
			t.Errorf("records: %+v, %+v", f.RoleRecord, f.DatabaseRecord)
		}
		must(t, "the password is unchanged", i.CheckLogin(ctx, first.Role, hostile, first.Database))
		second.Consents = Consents{}
		must(t, "ensure", ensure(ctx, i, second, "new password"))
		if got := ask[string](t, pg, "kept", "SELECT tableowner FROM pg_tables WHERE tablename = 'data'"); got != "kept" {
			t.Errorf("the table belongs to %q", got)
		}
		if err := i.DropDatabase(ctx, first, true); !IsConflict(err) {
			t.Errorf("the earlier owner can still drop it: %v", err)
		}
		must(t, "remove", remove(ctx, i, second))
	})
}

// TestH09Unregistered: what we did not make is not touched, unless an admin hands it over; and never a role that could do more than a tenant.
func TestH09Unregistered(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		pg.super(t, "postgres", `CREATE ROLE byhand LOGIN CONNECTION LIMIT 7`, `CREATE DATABASE byhand OWNER byhand`,
			`CREATE ROLE boss LOGIN SUPERUSER`, `CREATE DATABASE boss OWNER boss`, `CREATE ROLE bystander LOGIN`)
		cases := map[string]struct {
			reason string
			names  Names
			from   string
			want   Verdict
		}{
			"Refused":       {reason: "It is somebody's.", names: Names{"byhand", "byhand"}, want: NotRegistered},
			"WrongConsent":  {reason: "The consent is about another owner.", names: Names{"byhand", "byhand"}, from: "x", want: NotRegistered},
			"Privileged":    {reason: "The tenant would get a superuser's password.", names: Names{"boss", "boss"}, from: Unregistered, want: NotRegistered},
			"OtherRole":     {reason: "The role does not go with the database.", names: Names{"byhand", "bystander"}, from: Unregistered, want: NotRegistered},
			"Superuser":     {reason: "Not under the name of another database either.", names: Names{"byhand", "postgres"}, from: Unregistered, want: NotRegistered},
			"ManagementDB":  {reason: "The database of the management role is nobody's.", names: Names{"postgres", "x"}, from: Unregistered, want: NotRegistered},
			"RegistryDB":    {reason: "Nor is the registry.", names: Names{"terdut_super", "x"}, from: Unregistered, want: NotRegistered},
			"Template":      {reason: "Nor is a template.", names: Names{"template1", "x"}, from: Unregistered, want: NotRegistered},
			"ZApproved":     {reason: "An admin hands it over.", names: Names{"byhand", "byhand"}, from: Unregistered},
			"ZFreeRoleName": {reason: "The role of another name is made, the owner changed.", names: Names{"boss", "employee"}, from: Unregistered},
		}
		i := open(t, pg.managers[supers])
		must(t, "EnsureRegistry", i.EnsureRegistry(ctx))
		for _, name := range sorted(cases) { // Those that are handed over come last.
			tc := cases[name]
			t.Run(name, func(t *testing.T) {
				c := claim(tc.names.Database)
				c.Names = tc.names
				if tc.from != "" {
					c.Consents.Adoptions = []Adoption{{Database: c.Database, From: tc.from, To: "ns/" + c.Owner.Name}}
				}
				_, err := i.Reserve(ctx, c)
				if tc.want != "" {
					if !IsConflict(err) {
						t.Errorf("%s\nwant a conflict, got %v", tc.reason, err)
					}
					return
				}
				must(t, tc.reason, err)
				must(t, "ensure", ensure(ctx, i, c, hostile))
				f, err := i.Observe(ctx, c.Names)
				must(t, "Observe", err)
				if drift := append(f.RoleDrift(anyRole), f.DatabaseDrift(anyDatabase)...); len(drift) > 0 {
					t.Errorf("drift is left: %v", drift)
				}
				must(t, "remove", remove(ctx, i, c))
			})
		}
		pg.super(t, "postgres", "DROP ROLE boss", "DROP ROLE bystander")
	})
}

// TestLostAndReplaced: a known database that is gone, or another one under its name, is not passed over in silence.
func TestLostAndReplaced(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[supers])
		c := claim("lost")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		recreate := []Adoption{{Database: "lost", From: c.Owner.UID, To: "ns/lost", Recreate: true}}

		pg.super(t, "postgres", `DROP DATABASE lost`)
		_, reserve := i.Reserve(ctx, c)
		_, database := i.EnsureDatabase(ctx, c, anyDatabase)
		for _, err := range []error{reserve, database} {
			if !IsDataLost(err) {
				t.Errorf("want data lost, got %v", err)
			}
		}
		if pg.exists(t, "terdut_super", "lost") != 3 {
			t.Error("it was made anew")
		}
		allowed := c
		allowed.Consents.Adoptions = recreate
		must(t, "recreate", ensure(ctx, i, allowed, hostile))

		pg.super(t, "postgres", `DROP DATABASE lost`, `CREATE DATABASE lost OWNER lost`)
		_, reserve = i.Reserve(ctx, c)
		_, database = i.EnsureDatabase(ctx, c, anyDatabase)
		for _, err := range []error{reserve, database, i.DropDatabase(ctx, c, true)} {
			if !IsIdentityChanged(err) {
				t.Errorf("want a changed identity, got %v", err)
			}
		}
		must(t, "accept", ensure(ctx, i, allowed, hostile))

		// The role that goes with it holds no data. It is made anew, and its password with it.
		pg.super(t, "postgres", `ALTER DATABASE lost OWNER TO postgres`, `DROP ROLE lost`)
		must(t, "lost role", ensure(ctx, i, c, hostile))

		pg.super(t, "terdut_super", `UPDATE terdut_registry.object SET server_identity = '1' WHERE name = 'lost'`)
		_, reserve = i.Reserve(ctx, c)
		_, database = i.EnsureDatabase(ctx, c, anyDatabase)
		for _, err := range []error{reserve, database, i.DropDatabase(ctx, c, true)} {
			if !IsIdentityChanged(err) {
				t.Errorf("want a changed identity, got %v", err)
			}
		}
		must(t, "accept", ensure(ctx, i, allowed, hostile))
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestSomebodyWasFaster: a reservation is not a claim on what others make under the name.
func TestSomebodyWasFaster(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[supers])
		c := claim("faster")
		_, err := i.Reserve(ctx, c)
		must(t, "Reserve", err)
		pg.super(t, "postgres", `CREATE ROLE faster`, `CREATE DATABASE faster OWNER postgres`)
		_, role := i.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: -1, Password: hostile})
		_, database := i.EnsureDatabase(ctx, c, anyDatabase)
		for _, err := range []error{role, database} {
			if !IsConflict(err) {
				t.Errorf("want a conflict, got %v", err)
			}
		}
		must(t, "giving up", remove(ctx, i, c))
		if n := pg.exists(t, "terdut_super", "faster"); n != 2 {
			t.Errorf("%d things are left, want the two that are not ours", n)
		}
		pg.super(t, "postgres", `DROP DATABASE faster`, `DROP ROLE faster`)
	})
}

// TestDrift is put back, and only drift is.
func TestDrift(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		writes := 0
		i := open(t, pg.managers[supers], counting(&writes))
		c := claim("drift")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		pg.super(t, "postgres", `ALTER ROLE drift NOLOGIN SUPERUSER CREATEDB CREATEROLE REPLICATION BYPASSRLS NOINHERIT CONNECTION LIMIT 1 VALID UNTIL 'yesterday'`,
			`ALTER DATABASE drift CONNECTION LIMIT 1`, `ALTER DATABASE drift ALLOW_CONNECTIONS false`, `GRANT ALL ON DATABASE drift TO PUBLIC`, `ALTER DATABASE drift OWNER TO postgres`)
		f, err := i.Observe(ctx, c.Names)
		must(t, "Observe", err)
		want := []string{"SUPERUSER", "CREATEDB", "CREATEROLE", "REPLICATION", "BYPASSRLS", "connectionLimit", "expires", "inherit", "login",
			"allowConnections", "connectionLimit", "owner", "publicPrivileges"}
		if diff := cmp.Diff(want, append(f.RoleDrift(anyRole), f.DatabaseDrift(anyDatabase)...)); diff != "" {
			t.Errorf("drift: -want, +got:\n%s", diff)
		}
		must(t, "ensure", ensure(ctx, i, c, hostile))
		f, err = i.Observe(ctx, c.Names)
		must(t, "Observe", err)
		if diff := cmp.Diff([]string{}, append(f.RoleDrift(anyRole), f.DatabaseDrift(anyDatabase)...)); diff != "" {
			t.Errorf("drift after repair: -want, +got:\n%s", diff)
		}
		before := writes
		must(t, "ensure at rest", ensure(ctx, i, c, hostile))
		if writes != before {
			t.Errorf("%d writes without drift", writes-before)
		}
		must(t, "remove", remove(ctx, i, c))
	})
}
