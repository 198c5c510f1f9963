package postgresql

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOpenSessions: sessions are counted, and ended only when that is asked for.
func TestOpenSessions(t *testing.T) {
	each(t, ends, func(t *testing.T, pg *testServer, manager string, cfg Config) {
		ctx := testContext(t)
		i := open(t, cfg)
		c := claim("busy " + manager)
		must(t, "ensure", ensure(ctx, i, c, hostile))
		conf := open(t, cfg)
		tenants, err := conf.acquire(ctx, login, c.Role, hostile, c.Database)
		must(t, "tenant session", err)
		defer conf.release(tenants)

		err = i.DropDatabase(ctx, c, false)
		var inUse *InUseError
		if !errors.As(err, &inUse) || inUse.Sessions != 1 || !IsInUse(err) {
			t.Fatalf("want it in use by 1 session, got %v", err)
		}
		var one int
		if _, err := tenants.row(ctx, OpRead, "", "SELECT 1", nil, &one); err != nil {
			t.Error("a session was ended without being asked for")
		}
		must(t, "open to connections", i.CheckLogin(ctx, c.Role, hostile, c.Database))

		must(t, "remove", remove(ctx, i, c))
		if n := pg.exists(t, registryOf(cfg), c.Database); n != 0 {
			t.Errorf("%d things are left", n)
		}
	})
}

// TestForeignSession: a management role that may not end a session says which privilege is missing, and finishes when it is granted.
func TestForeignSession(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("foreign session")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		pg.connect(t, c.Database)
		err := i.DropDatabase(ctx, c, true)
		if !IsInsufficientPrivilege(err) || MissingPrivilege(err) != "pg_signal_backend" {
			t.Fatalf("want the missing privilege pg_signal_backend, got %v", err)
		}
		pg.super(t, "postgres", `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = 'foreign session'`)
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestDroppedByHand: what is gone already counts as done.
func TestDroppedByHand(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("by hand")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		pg.super(t, "postgres", `DROP DATABASE "by hand"`, `DROP ROLE "by hand"`)
		must(t, "remove", remove(ctx, i, c))
		if n := pg.exists(t, defaultRegistry, c.Database); n != 0 {
			t.Errorf("%d things are left", n)
		}
	})
}

// TestObjectsElsewhere: a role with objects in other databases is disabled and reported; nothing there is touched.
func TestObjectsElsewhere(t *testing.T) {
	each(t, ends, func(t *testing.T, pg *testServer, manager string, cfg Config) {
		ctx := testContext(t)
		i := open(t, cfg)
		c := claim("elsewhere " + manager)
		other := "second " + manager
		must(t, "ensure", ensure(ctx, i, c, hostile))
		pg.super(t, "postgres", "CREATE DATABASE "+ident(other))
		pg.super(t, other, "CREATE TABLE kept AS SELECT 1", "ALTER TABLE kept OWNER TO "+ident(c.Role))

		for range 2 { // The second time changes nothing.
			must(t, "drop database", i.DropDatabase(ctx, c, true))
			kept, err := i.DropRole(ctx, c)
			must(t, "drop role", err)
			if diff := cmp.Diff([]string{other}, kept); diff != "" {
				t.Errorf("databases: -want, +got:\n%s", diff)
			}
		}
		if got := ask[string](t, pg, other, "SELECT tableowner FROM pg_tables WHERE tablename = 'kept'"); got != c.Role {
			t.Errorf("the table now belongs to %q", got)
		}
		if ask[bool](t, pg, other, "SELECT rolcanlogin FROM pg_roles WHERE rolname = $1", c.Role) {
			t.Error("the role can still log in")
		}
		f, err := i.Observe(ctx, c.Names)
		must(t, "Observe", err)
		next := claim(c.Role)
		if d := f.DecideRole(next.Owner, Consents{}); d.Verdict != RetainedByOther {
			t.Errorf("verdict for the next owner is %s", d.Verdict)
		}

		pg.super(t, other, "DROP TABLE kept")
		kept, err := i.DropRole(ctx, c)
		must(t, "drop role", err)
		if n := pg.exists(t, registryOf(cfg), c.Role); n != 0 || len(kept) != 0 {
			t.Errorf("%d things are left, kept %v", n, kept)
		}
		pg.super(t, "postgres", "DROP DATABASE "+ident(other))
	})
}

// TestLoser: who lost a name to another writes nothing, also when they go, and through another Instance.
func TestLoser(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		cfg := pg.managers[admins]
		i := open(t, cfg)
		winner := claim("contested")
		loser := winner
		loser.Owner = Owner{ControlPlane: "cp", UID: "loser", Namespace: "b", Name: "contested"}
		must(t, "ensure", ensure(ctx, i, winner, hostile))
		pg.super(t, winner.Database, "CREATE TABLE rows AS SELECT 42 AS n")

		// Another config that reaches the same server in another way.
		writes := 0
		second := open(t, cfg, counting(&writes), func(c *Config) { c.HostAddr = "" })
		_, err := second.Reserve(ctx, loser)
		if !IsConflict(err) || !strings.Contains(err.Error(), winner.Owner.UID) {
			t.Errorf("want a conflict that names the owner, got %v", err)
		}
		_, role := second.EnsureRole(ctx, loser, RoleSpec{ConnectionLimit: 1, Password: "other"})
		_, database := second.EnsureDatabase(ctx, loser, anyDatabase)
		_, extensions := second.EnsureExtensions(ctx, loser, []ExtensionSpec{{Name: "citext"}})
		_, dropRole := second.DropRole(ctx, loser)
		for _, err := range []error{role, database, extensions, dropRole, second.DropDatabase(ctx, loser, true)} {
			if !IsConflict(err) {
				t.Errorf("want a conflict, got %v", err)
			}
		}
		must(t, "Retain", second.Retain(ctx, loser))
		must(t, "RecordCredential", second.RecordCredential(ctx, loser, "9"))
		if writes != 0 {
			t.Errorf("%d writes were made", writes)
		}
		must(t, "the winner's login", i.CheckLogin(ctx, winner.Role, hostile, winner.Database))
		if got := ask[int](t, pg, winner.Database, "SELECT n FROM rows"); got != 42 {
			t.Error("the winner's data is gone")
		}

		must(t, "remove", remove(ctx, i, winner))
		must(t, "a third starts afresh", ensure(ctx, second, loser, hostile))
		must(t, "remove", remove(ctx, second, loser))
	})
}
