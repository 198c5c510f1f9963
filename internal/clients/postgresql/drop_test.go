package postgresql

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestH06OpenSessions: sessions are counted, and ended only when that is asked for; and none of them is ever ours.
func TestH06OpenSessions(t *testing.T) {
	each(t, ends, func(t *testing.T, pg *testServer, manager string, cfg Config) {
		ctx := testContext(t)
		i := open(t, cfg)
		c := claim("busy " + manager)
		must(t, "ensure", ensure(ctx, i, c, hostile))
		pg.nobodyIn(t, c.Database)
		_, err := i.EnsureExtensions(ctx, c, []ExtensionSpec{{Name: "citext"}, {Name: "no such"}})
		must(t, "EnsureExtensions", err)
		_, err = i.Extensions(ctx, c.Database)
		must(t, "Extensions", err)
		pg.nobodyIn(t, c.Database)

		conf := open(t, cfg, func(c *Config) { c.ApplicationName = "tenant" })
		session, err := conf.acquire(ctx, login, c.Role, hostile, c.Database)
		must(t, "tenant session", err)
		defer conf.release(session)
		for range 2 { // Trying again is the same.
			err = i.DropDatabase(ctx, c, false)
			var inUse *InUseError
			if !errors.As(err, &inUse) || inUse.Sessions != 1 || !IsInUse(err) || !strings.Contains(err.Error(), "1 session") {
				t.Fatalf("want it in use by 1 session, got %v", err)
			}
		}
		var one int
		if _, err := session.row(ctx, OpRead, "", "SELECT 1", nil, &one); err != nil {
			t.Error("a session was ended without being asked for")
		}
		must(t, "open to connections", i.CheckLogin(ctx, c.Role, hostile, c.Database))
		pg.nobodyIn(t, c.Database)

		must(t, "remove", remove(ctx, i, c))
		if n := pg.exists(t, registryOf(cfg), c.Database); n != 0 {
			t.Errorf("%d things are left", n)
		}
	})
}

// TestH06ForeignSession: a management role that may not end a session says which privilege is missing, keeps new ones out, and finishes
// when it is granted as documented.
func TestH06ForeignSession(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("foreign session")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		v, err := verifier(hostile)
		must(t, "verifier", err)
		pg.super(t, "postgres", "CREATE ROLE monitor LOGIN PASSWORD "+literal(v), `GRANT CONNECT ON DATABASE "foreign session" TO monitor`)
		conf := open(t, pg.managers[admins], func(c *Config) { c.ApplicationName = "monitor" })
		session, err := conf.acquire(ctx, login, "monitor", hostile, c.Database)
		must(t, "a monitor's session", err)
		defer conf.release(session)

		for range 2 {
			err = i.DropDatabase(ctx, c, true)
			if !IsInsufficientPrivilege(err) || MissingPrivilege(err) != "pg_signal_backend" || !strings.Contains(err.Error(), "42501") {
				t.Fatalf("want the missing privilege pg_signal_backend, got %v", err)
			}
		}
		if err := i.CheckLogin(ctx, c.Role, hostile, c.Database); err == nil {
			t.Error("new sessions are still let in")
		}
		pg.super(t, "postgres", pg.part(3))
		must(t, "remove", remove(ctx, i, c))
		pg.super(t, "postgres", "REVOKE pg_signal_backend FROM terdut_admin", "DROP ROLE monitor")
	})
}

// TestH06SuperusersSession: nobody but a superuser ends a superuser's session; that is said, not waited for.
func TestH06SuperusersSession(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("superusers session")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		conn := pg.connect(t, c.Database)
		if err := i.DropDatabase(ctx, c, true); !IsInsufficientPrivilege(err) {
			t.Errorf("want it refused, got %v", err)
		}
		(&session{conn: conn}).close()
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestH06PreparedTransaction: what is no session and holds a database makes it in use as well, with force and without.
func TestH06PreparedTransaction(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		cfg := pg.managers[admins]
		ctx := testContext(t)
		i := open(t, cfg)
		c := claim("prepared")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		pg.super(t, c.Database, "BEGIN", "CREATE TABLE t ()", "PREPARE TRANSACTION 'held'")
		conf := open(t, cfg, func(c *Config) { c.ApplicationName = "tenant" })
		for _, sessions := range []int{0, 1} {
			if sessions > 0 { // With a session it is the server that is asked to end it, and refuses.
				session, err := conf.acquire(ctx, login, c.Role, hostile, c.Database)
				must(t, "tenant session", err)
				defer conf.release(session)
			}
			err := i.DropDatabase(ctx, c, sessions > 0)
			var inUse *InUseError
			if !errors.As(err, &inUse) || !strings.Contains(err.Error(), "55006") {
				t.Errorf("%d sessions: want it in use, got %v", sessions, err)
			}
		}
		pg.super(t, "postgres", "ALTER DATABASE "+ident(c.Database)+" ALLOW_CONNECTIONS true")
		pg.super(t, c.Database, "ROLLBACK PREPARED 'held'")
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestH06DroppedByHand: what is gone already counts as done.
func TestH06DroppedByHand(t *testing.T) {
	each(t, ends, func(t *testing.T, pg *testServer, manager string, cfg Config) {
		ctx := testContext(t)
		i := open(t, cfg)
		c := claim("by hand " + manager)
		for _, by := range [][]string{{"DROP DATABASE " + ident(c.Database)}, {"DROP DATABASE " + ident(c.Database), "DROP ROLE " + ident(c.Role)}} {
			must(t, "ensure", ensure(ctx, i, c, hostile))
			pg.super(t, "postgres", by...)
			must(t, "remove", remove(ctx, i, c))
			if n := pg.exists(t, registryOf(cfg), c.Database); n != 0 {
				t.Errorf("%d things are left", n)
			}
		}
	})
}

// TestH07ObjectsElsewhere: a role with objects in other databases is disabled and reported; nothing there is touched.
func TestH07ObjectsElsewhere(t *testing.T) {
	each(t, ends, func(t *testing.T, pg *testServer, manager string, cfg Config) {
		ctx := testContext(t)
		i := open(t, cfg)
		c := claim("elsewhere " + manager)
		other := "second " + manager
		must(t, "ensure", ensure(ctx, i, c, hostile))
		third := "third " + manager
		pg.super(t, "postgres", "CREATE DATABASE "+ident(other), "CREATE DATABASE "+ident(third))
		pg.super(t, other, "GRANT CREATE ON SCHEMA public TO "+ident(c.Role), "SET ROLE "+ident(c.Role), "CREATE TABLE public.kept AS SELECT 1")
		pg.super(t, third, "CREATE TABLE lent ()", "GRANT SELECT ON lent TO "+ident(c.Role))

		for range 2 { // The second time changes nothing.
			must(t, "drop database", i.DropDatabase(ctx, c, true))
			kept, err := i.DropRole(ctx, c)
			must(t, "drop role", err)
			if diff := cmp.Diff([]string{other, third}, kept); diff != "" {
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

		pg.super(t, other, "DROP TABLE kept", "REVOKE CREATE ON SCHEMA public FROM "+ident(c.Role))
		kept, err := i.DropRole(ctx, c)
		must(t, "drop role", err)
		if diff := cmp.Diff([]string{third}, kept); diff != "" {
			t.Errorf("databases: -want, +got:\n%s", diff)
		}
		pg.super(t, third, "DROP TABLE lent")
		kept, err = i.DropRole(ctx, c)
		must(t, "drop role", err)
		if n := pg.exists(t, registryOf(cfg), c.Role); n != 0 || len(kept) != 0 {
			t.Errorf("%d things are left, kept %v", n, kept)
		}
		pg.super(t, "postgres", "DROP DATABASE "+ident(other), "DROP DATABASE "+ident(third))
	})
}

// TestH08Loser: who lost a name to another writes nothing, also when they go, and through another Instance.
func TestH08Loser(t *testing.T) {
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
		// A role of its own does not let the loser write to the database.
		own := claim("own")
		own.Owner = loser.Owner
		must(t, "ensure", ensure(ctx, i, own, hostile))
		own.Database = winner.Database
		_, database = second.EnsureDatabase(ctx, own, DatabaseSpec{ConnectionLimit: 1})
		_, extensions = second.EnsureExtensions(ctx, own, []ExtensionSpec{{Name: "citext"}})
		for _, err := range []error{database, extensions, second.DropDatabase(ctx, own, true)} {
			if !IsConflict(err) {
				t.Errorf("with a role of its own: want a conflict, got %v", err)
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

		own.Database = own.Role
		must(t, "remove", remove(ctx, i, own))
		must(t, "remove", remove(ctx, i, winner))
		must(t, "a third starts afresh", ensure(ctx, second, loser, hostile))
		must(t, "remove", remove(ctx, second, loser))
	})
}
