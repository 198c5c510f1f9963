package postgresql

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// TestH01TemplateInUse: somebody in template1 is in nobody's way, and we are never there. A template that was asked for and is busy keeps
// the role, and the next pass finishes.
func TestH01TemplateInUse(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		sleeper := pg.connect(t, "template1")
		sleep, wake := context.WithCancel(ctx)
		defer wake()
		var sleeping sync.WaitGroup
		sleeping.Go(func() { _, _ = sleeper.Exec(sleep, "SELECT pg_sleep(600)") })
		c := claim("template in use")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		if n := ask[int](t, pg, "postgres", "SELECT count(*) FROM pg_stat_activity WHERE datname = 'template1' AND application_name = $1", defaultApplication); n != 0 {
			t.Error("we are in template1")
		}
		must(t, "remove", remove(ctx, i, c))

		// A template that is busy keeps the role, and is told apart.
		must(t, "reserve", func() error { _, err := i.Reserve(ctx, c); return err }())
		_, err := i.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: -1, Password: hostile})
		must(t, "role", err)
		if _, err := i.EnsureDatabase(ctx, c, DatabaseSpec{ConnectionLimit: -1, Template: "template1"}); !IsInUse(err) {
			t.Errorf("a busy template: %v", err)
		}
		wake()
		sleeping.Wait()
		(&session{conn: sleeper}).close()
		f, err := i.Observe(ctx, c.Names)
		must(t, "Observe", err)
		if f.Role == nil || f.Database != nil {
			t.Error("want the role to be kept, and no database")
		}
		created, err := i.EnsureDatabase(ctx, c, DatabaseSpec{ConnectionLimit: -1, Template: "template1"})
		if must(t, "when it is free", err); !created {
			t.Error("it was there already")
		}
		must(t, "ensure", ensure(ctx, i, c, hostile))
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestH17TenantsApart: nobody but owner and management role gets into a database.
func TestH17TenantsApart(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		a, b := claim("tenant a"), claim("tenant b")
		must(t, "ensure", ensure(ctx, i, a, hostile))
		must(t, "ensure", ensure(ctx, i, b, hostile))
		if err := i.CheckLogin(ctx, b.Role, hostile, a.Database); !IsInsufficientPrivilege(err) {
			t.Errorf("a tenant in the other's database: %v", err)
		}
		if err := i.CheckLogin(ctx, b.Role, hostile, defaultRegistry); !IsInsufficientPrivilege(err) {
			t.Errorf("a tenant in the registry: %v", err)
		}
		if ask[bool](t, pg, "postgres", "SELECT has_database_privilege($1, $2, 'CONNECT') OR has_database_privilege($1, $2, 'TEMPORARY')", b.Role, a.Database) {
			t.Error("a tenant has a privilege on the other's database")
		}
		_, err := i.Extensions(ctx, a.Database)
		must(t, "the management role", err)
		must(t, "remove", remove(ctx, i, a))
		must(t, "remove", remove(ctx, i, b))
	})
}

// TestH17NeverOpen: between no two statements of a creation does another tenant get in.
func TestH17NeverOpen(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		other, c := claim("curious tenant"), claim("never open")
		must(t, "ensure", ensure(ctx, i, other, hostile))
		looks := 0
		watched := open(t, pg.managers[admins], func(cfg *Config) {
			cfg.Hook = func(ctx context.Context, op Op) error {
				err := i.CheckLogin(ctx, other.Role, hostile, c.Database)
				if err == nil {
					t.Errorf("before the provider can %s, another tenant gets in", op)
				}
				if !IsNotFound(err) {
					looks++
				}
				return nil
			}
		})
		must(t, "ensure", ensure(ctx, watched, c, hostile))
		if looks < 3 {
			t.Errorf("the database was there in %d of the looks, so this test proves nothing", looks)
		}
		must(t, "remove", remove(ctx, i, c))
		must(t, "remove", remove(ctx, i, other))
	})
}

// TestAtRest counts what an observation costs.
func TestAtRest(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("rest")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		before := i.Stats()
		const polls = 10
		for range polls {
			_, err := i.Observe(ctx, c.Names)
			must(t, "Observe", err)
		}
		after := i.Stats()
		if n := after.ManagementStatements - before.ManagementStatements; n != 2*polls {
			t.Errorf("%d statements in %d observations, want 2 each", n, polls)
		}
		before.ManagementStatements = after.ManagementStatements
		if after != before {
			t.Errorf("something else happened: before %+v, after %+v", before, after)
		}
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestH16Race repairs the same database from many sides at once: the catalog's complaints are not shown.
func TestH16Race(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[supers])
		c := claim("race")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		g, gctx := errgroup.WithContext(ctx)
		for n := range 8 {
			g.Go(func() error {
				for range 5 {
					if _, err := i.EnsureDatabase(gctx, c, DatabaseSpec{ConnectionLimit: n}); err != nil {
						return err
					}
					if _, err := i.EnsureRole(gctx, c, RoleSpec{ConnectionLimit: n}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		for range 2 { // Somebody who knows nothing of our lock.
			g.Go(func() error {
				conn, err := pg.Connect(gctx, "postgres")
				if err != nil {
					return err
				}
				defer conn.Close(gctx) // A test.
				for range 40 {
					_, _ = conn.Exec(gctx, `GRANT CONNECT ON DATABASE race TO PUBLIC`)
				}
				return nil
			})
		}
		must(t, "concurrent repair", g.Wait())
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestH16ConcurrentChange: the server refuses a change of a catalog row (XX000) when somebody else's change of it was committed while ours
// waited for it. It is tried again, and nobody hears of it.
func TestH16ConcurrentChange(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins], func(c *Config) { c.ApplicationName = "concurrent change" })
		c := claim("concurrent change")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		theirs := pg.connect(t, "postgres")
		for _, sql := range []string{"BEGIN", "GRANT CONNECT ON DATABASE " + ident(c.Database) + " TO PUBLIC"} {
			_, err := theirs.Exec(ctx, sql)
			must(t, sql, err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := i.EnsureDatabase(ctx, c, DatabaseSpec{ConnectionLimit: 7})
			done <- err
		}()
		const waiting = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'concurrent change' AND wait_event_type = 'Lock' AND query LIKE 'ALTER DATABASE%'"
		for ask[int](t, pg, "postgres", waiting) == 0 {
			if len(done) > 0 {
				t.Fatalf("it did not wait for the other change: %v", <-done)
			}
		}
		_, err := theirs.Exec(ctx, "COMMIT")
		must(t, "COMMIT", err)
		must(t, "a change that was refused once", <-done)
		if !strings.Contains(pg.logText(t), "tuple concurrently updated") {
			t.Error("the server refused nothing, so this test proves nothing")
		}
		f, err := i.Observe(ctx, c.Names)
		must(t, "Observe", err)
		if drift := f.DatabaseDrift(DatabaseSpec{ConnectionLimit: 7}); len(drift) > 0 {
			t.Errorf("drift is left: %v", drift)
		}
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestInterrupted: a request that is given up in the middle neither keeps a connection nor a lock.
func TestInterrupted(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins], func(c *Config) { c.MaxConnections = 2 })
		c := claim("interrupted")
		_, err := i.Reserve(ctx, c)
		must(t, "Reserve", err)
		for n := range 20 {
			short, cancel := context.WithTimeout(ctx, time.Duration(n)*5*time.Millisecond)
			_ = ensure(short, i, c, hostile)
			cancel()
		}
		must(t, "ensure", ensure(ctx, i, c, hostile))
		must(t, "remove", remove(ctx, i, c))
		if n := pg.exists(t, defaultRegistry, c.Database); n != 0 {
			t.Errorf("%d things are left", n)
		}
	})
}
