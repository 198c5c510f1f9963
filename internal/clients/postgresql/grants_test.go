package postgresql

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// membership of the management role in a role: who granted what.
const membershipsSQL = `SELECT coalesce(string_agg(pg_get_userbyid(grantor) || CASE WHEN admin_option THEN ' admin' ELSE '' END
	|| CASE WHEN to_jsonb(m) ->> 'inherit_option' = 'false' THEN '' ELSE ' inherit' END
	|| CASE WHEN to_jsonb(m) ->> 'set_option' = 'false' THEN '' ELSE ' set' END, ', ' ORDER BY 1), '')
	FROM pg_auth_members m WHERE roleid = $1::regrole AND member = 'terdut_admin'::regrole`

// TestH05Grants: on each version just what is missing is granted, never ADMIN, and the automatic grant of PostgreSQL 16 stays as it is.
func TestH05Grants(t *testing.T) {
	on(t, all, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("grants")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		f, err := i.Observe(ctx, c.Names)
		must(t, "Observe", err)

		automatic, ours := "", "terdut_admin inherit set"
		if f.Server.Version >= 160000 {
			automatic = "postgres admin, "
		}
		memberships := func() string { return ask[string](t, pg, "postgres", membershipsSQL, c.Role) }
		if diff := cmp.Diff(automatic+ours, memberships()); diff != "" {
			t.Errorf("grants after create: -want, +got:\n%s", diff)
		}
		if automatic != "" { // A member that may neither act for the role nor become it.
			pg.super(t, "postgres", "SET ROLE terdut_admin", "REVOKE SET OPTION FOR grants FROM terdut_admin")
			if f, err = i.Observe(ctx, c.Names); err != nil || f.ActsAsOwner {
				t.Errorf("a member without SET counts as one with it: %v", err)
			}
			must(t, "ensure", ensure(ctx, i, c, hostile))
			pg.super(t, "postgres", "SET ROLE terdut_admin", "REVOKE INHERIT OPTION FOR grants FROM terdut_admin")
			must(t, "ensure", ensure(ctx, i, c, hostile))
			if diff := cmp.Diff(automatic+ours, memberships()); diff != "" {
				t.Errorf("grants after repair: -want, +got:\n%s", diff)
			}
		}
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestH05RoleOfAnother: a role that was made by another CREATEROLE role is handed over. Before 16 that is enough; from then on it takes
// ADMIN OPTION, which is said, and nothing is changed until it is there.
func TestH05RoleOfAnother(t *testing.T) {
	on(t, all, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		writes := 0
		i := open(t, pg.managers[admins], counting(&writes))
		pg.super(t, "postgres", `CREATE ROLE another LOGIN CREATEDB CREATEROLE`, `SET ROLE another`, `CREATE ROLE legacy LOGIN`, `RESET ROLE`,
			`CREATE DATABASE legacy OWNER legacy`)
		c := claim("legacy")
		c.Consents.Adoptions = []Adoption{{Database: "legacy", From: Unregistered, To: "ns/legacy"}}
		err := ensure(ctx, i, c, hostile)
		f, observeErr := i.Observe(ctx, c.Names)
		must(t, "Observe", observeErr)
		if f.Server.Version >= 160000 {
			for range 2 { // The second time it is the same.
				if !IsInsufficientPrivilege(err) || !strings.Contains(err.Error(), `missing privilege: ADMIN OPTION on role "legacy"`) {
					t.Errorf("want it to say that the admin option is missing, got %v", err)
				}
				err = ensure(ctx, i, c, hostile)
			}
			_, databaseErr := i.EnsureDatabase(ctx, c, anyDatabase)
			for _, err := range []error{databaseErr, i.DropDatabase(ctx, c, true)} {
				if !IsInsufficientPrivilege(err) || !strings.Contains(MissingPrivilege(err), `ADMIN OPTION on role "legacy"`) {
					t.Errorf("want it to say that the admin option is missing, got %v", err)
				}
			}
			if !ask[bool](t, pg, "postgres", `SELECT has_database_privilege('pg_monitor', 'legacy', 'CONNECT')`) {
				t.Error("the database was changed")
			}
			// What the documented grants say. Neither INHERIT nor SET is needed: the management role gives them to itself.
			pg.super(t, "postgres", `GRANT legacy TO terdut_admin WITH ADMIN TRUE, INHERIT FALSE, SET FALSE`)
			err = ensure(ctx, i, c, hostile)
		}
		must(t, "ensure", err)
		must(t, "remove", remove(ctx, i, c))
		pg.super(t, "postgres", "DROP ROLE another")
	})
}

// TestH05AutomaticGrantRevoked: a superuser who tidies up the automatic grant locks the management role out. It says so, and goes on
// when it is given back.
func TestH05AutomaticGrantRevoked(t *testing.T) {
	on(t, []int{16, 17, 18}, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("tidy")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		pg.super(t, "postgres", "REVOKE tidy FROM terdut_admin CASCADE")
		_, err := i.EnsureDatabase(ctx, c, anyDatabase)
		for _, err := range []error{err, i.DropDatabase(ctx, c, true)} {
			if !IsInsufficientPrivilege(err) || !strings.Contains(MissingPrivilege(err), `ADMIN OPTION on role "tidy"`) {
				t.Errorf("want it to say that the admin option is missing, got %v", err)
			}
		}
		pg.super(t, "postgres", "GRANT tidy TO terdut_admin WITH ADMIN OPTION")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestDocumentedGrants: each part of what the documentation tells an admin to run can be run, and does what it says.
func TestDocumentedGrants(t *testing.T) {
	on(t, all, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		cfg := pg.managers[admins]
		pg.super(t, "postgres", "REVOKE CONNECT ON DATABASE postgres FROM PUBLIC", "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
		if _, err := open(t, cfg).Probe(ctx); !IsInsufficientPrivilege(err) || !strings.Contains(MissingPrivilege(err), "CONNECT") {
			t.Errorf("without CONNECT: %v", err)
		}
		pg.super(t, "postgres", pg.part(2))
		p, err := open(t, cfg).Probe(ctx)
		must(t, "Probe", err)
		if p.Identity == "" || len(p.Missing) > 0 || p.Superuser {
			t.Errorf("Probe: %+v", p)
		}
		pg.super(t, "postgres", "GRANT CONNECT ON DATABASE postgres TO PUBLIC", "GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC",
			"REVOKE CONNECT ON DATABASE postgres FROM terdut_admin", "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM terdut_admin",
			pg.part(4)) // Comments alone.
	})
}
