package postgresql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
)

func maxConnections(n string) func(*postgres.Options) {
	return func(o *postgres.Options) { o.Conf["max_connections"] = n }
}

// TestH16Many makes and removes many claims at once on a small server, through few connections, while the server counts them.
func TestH16Many(t *testing.T) {
	ownOn(t, func(t *testing.T, pg *testServer) {
		const claims, bound = 50, 5
		ctx := testContext(t)
		i := open(t, pg.managers[admins], func(c *Config) { c.MaxConnections, c.ApplicationName = bound, "many" })

		watch, stop := context.WithCancel(ctx)
		most, watching := 0, sync.WaitGroup{}
		conn := pg.connect(t, "postgres")
		watching.Go(func() {
			for watch.Err() == nil {
				n := 0
				if conn.QueryRow(watch, "SELECT count(*), pg_sleep(0.01) FROM pg_stat_activity WHERE application_name = 'many'").Scan(&n, nil) == nil {
					most = max(most, n)
				}
			}
		})
		for _, step := range []func(context.Context, *Instance, Claim) error{
			func(ctx context.Context, i *Instance, c Claim) error {
				if err := ensure(ctx, i, c, hostile); err != nil {
					return err
				}
				r, err := i.EnsureExtensions(ctx, c, []ExtensionSpec{{Name: "citext"}})
				return errors.Join(err, r[0].Err)
			},
			remove,
		} {
			g, gctx := errgroup.WithContext(ctx)
			for n := range claims {
				c := claim(fmt.Sprintf("many %d", n))
				c.Owner.UID = c.Database
				g.Go(func() error { return step(gctx, i, c) })
			}
			must(t, "concurrent work", g.Wait())
		}
		stop()
		watching.Wait()
		if most > bound || most < 2 {
			t.Errorf("the server saw %d connections at once, the bound is %d", most, bound)
		}
		if n := ask[int](t, pg, defaultRegistry, "SELECT count(*) FROM terdut_registry.object"); n != 0 {
			t.Errorf("%d records are left", n)
		}

		// Credentials change: the next Instance begins, and this one is gone from the server.
		i.Close()
		if n := ask[int](t, pg, "postgres", "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'many'"); n != 0 {
			t.Errorf("%d connections are open after Close", n)
		}
	}, maxConnections("20"))
}

// TestH16ServerFull: others have taken every slot. That is told apart from a server that is down, nothing changes, and work goes on when
// there is room again.
func TestH16ServerFull(t *testing.T) {
	ownOn(t, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		cfg := pg.managers[admins]
		c := claim("full")
		must(t, "ensure", ensure(ctx, open(t, cfg), c, hostile))

		crowd := open(t, cfg, func(c *Config) { c.MaxConnections, c.ApplicationName = 100, "crowd" })
		var sessions []*session
		err := error(nil)
		for err == nil {
			var s *session
			if s, err = crowd.acquire(ctx, login, c.Role, hostile, c.Database); err == nil {
				sessions = append(sessions, s)
			}
		}
		fresh, poor := open(t, cfg), open(t, cfg, func(c *Config) { c.MaxConnections = 1 })
		_, observe := fresh.Observe(ctx, c.Names)
		_, probe := fresh.Probe(ctx)
		_, reserve := fresh.Reserve(ctx, c)
		_, extensions := poor.EnsureExtensions(ctx, c, []ExtensionSpec{{Name: "citext"}})
		for _, err := range []error{err, observe, probe, reserve, extensions, fresh.CheckLogin(ctx, c.Role, hostile, c.Database), fresh.DropDatabase(ctx, c, true)} {
			if !IsTooManyConnections(err) || IsUnreachable(err) || !strings.Contains(err.Error(), "53300") {
				t.Errorf("want it full, got %v", err)
			}
		}
		if n := fresh.Stats().Open + poor.Stats().Open; n != 0 {
			t.Errorf("%d connections count as open", n)
		}
		for _, s := range sessions {
			s.i.release(s)
		}
		must(t, "ensure", ensure(ctx, fresh, c, hostile))
		must(t, "remove", remove(ctx, fresh, c))
	}, maxConnections("20"))
}

// TestH16InstanceFull: a full Instance is told apart from an unreachable server, and one connection is enough for everything.
func TestH16InstanceFull(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		c := claim("one connection")
		one := open(t, pg.managers[admins], func(c *Config) { c.MaxConnections = 1 })
		s, err := one.acquire(ctx, tenant, one.cfg.Username, one.cfg.Password, "postgres")
		must(t, "acquire", err)
		short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		if _, err := one.Observe(short, c.Names); !IsTooManyConnections(err) || !strings.Contains(err.Error(), "busy") {
			t.Errorf("a full Instance: %v", err)
		}
		one.release(s)
		must(t, "ensure with a single connection", ensure(ctx, one, c, hostile))
		if n := one.Stats().Open; n != 1 {
			t.Errorf("%d connections are open", n)
		}
		must(t, "remove", remove(ctx, one, c))
		one.Close()
		if n := one.Stats().Open; n != 0 {
			t.Errorf("%d connections are open after Close", n)
		}

		// Credentials change in the middle of something: that is finished, and its connection closed.
		two := open(t, pg.managers[admins], func(c *Config) { c.MaxConnections = 2 })
		s, err = two.acquire(ctx, management, two.cfg.Username, two.cfg.Password, "postgres")
		must(t, "acquire", err)
		two.Close()
		two.release(s)
		if n := two.Stats().Open; n != 0 {
			t.Errorf("%d connections are open after Close and the end of what was under way", n)
		}
	})
}
