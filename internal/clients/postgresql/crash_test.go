package postgresql

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestCrash stops the work before each of its writes in turn, as a killed process would, and lets a new Instance finish it.
func TestCrash(t *testing.T) {
	each(t, ends, func(t *testing.T, pg *testServer, manager string, cfg Config) {
		ctx := testContext(t)
		fresh := open(t, cfg)
		must(t, "EnsureRegistry", fresh.EnsureRegistry(ctx))

		// crashing returns an Instance that stops before the nth write and does nothing from there on.
		crashing := func(n int) (*Instance, *int) {
			count := 0
			return open(t, cfg, func(c *Config) {
				c.Hook = func(context.Context, Op) error {
					if count++; count >= n {
						return errors.New("killed")
					}
					return nil
				}
			}), &count
		}
		steps := 0
		for n := 1; ; n++ {
			name := fmt.Sprintf("crash %s %d", manager, n)
			c := claim(name)
			i, count := crashing(n)
			err := ensure(ctx, i, c, hostile)
			if err == nil {
				steps = *count
				must(t, "remove", remove(ctx, fresh, c))
				break
			}
			must(t, fmt.Sprintf("ensure after a crash before write %d", n), ensure(ctx, fresh, c, hostile))
			if got := pg.exists(t, registryOf(cfg), name); got != 4 {
				t.Errorf("after a crash before write %d there are %d things of that name, want 4", n, got)
			}
			f, err := fresh.Observe(ctx, c.Names)
			must(t, "Observe", err)
			if drift := append(f.RoleDrift(anyRole), f.DatabaseDrift(anyDatabase)...); len(drift) > 0 {
				t.Errorf("after a crash before write %d drift is left: %v", n, drift)
			}

			// The same for the way back.
			i, _ = crashing(n)
			_ = remove(ctx, i, c)
			must(t, fmt.Sprintf("remove after a crash before write %d", n), remove(ctx, fresh, c))
			if got := pg.exists(t, registryOf(cfg), name); got != 0 {
				t.Errorf("after a crash before write %d of the deletion %d things are left", n, got)
			}
		}
		if steps < 8 {
			t.Errorf("only %d writes were seen", steps)
		}
	})
}

// TestCrashThenGone: an object that is given up after a crash leaves nothing, wherever the crash was.
func TestCrashThenGone(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		cfg := pg.managers[admins]
		ctx := testContext(t)
		fresh := open(t, cfg)
		must(t, "EnsureRegistry", fresh.EnsureRegistry(ctx))
		for _, op := range []Op{OpReserve, OpCreateRole, OpRecord, OpCommit, OpGrantMembership, OpCreateDatabase, OpRevokePublic, OpAlterDatabase} {
			t.Run(string(op), func(t *testing.T) {
				c := claim("gone " + string(op))
				i := open(t, cfg, func(c *Config) {
					c.Hook = func(_ context.Context, o Op) error {
						if o == op {
							return errors.New("killed")
						}
						return nil
					}
				})
				if err := ensure(ctx, i, c, hostile); err == nil {
					t.Fatal("the operation was not seen")
				}
				must(t, "remove", remove(ctx, fresh, c))
				if got := pg.exists(t, defaultRegistry, c.Database); got != 0 {
					t.Errorf("%d things are left", got)
				}
			})
		}
	})
}

// TestFirstUse crashes before each write of setting up the registry.
func TestFirstUse(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		cfg := pg.managers[admins]
		cfg.RegistryDatabase = "first use"
		ctx := testContext(t)
		for n := 1; ; n++ {
			count := 0
			i := open(t, cfg, func(c *Config) {
				c.Hook = func(context.Context, Op) error {
					if count++; count >= n {
						return errors.New("killed")
					}
					return nil
				}
			})
			if err := i.EnsureRegistry(ctx); err == nil {
				break
			}
			i.Close()
		}
		if ask[bool](t, pg, "postgres", `SELECT has_database_privilege('pg_monitor', 'first use', 'CONNECT')`) {
			t.Error("everybody may connect to the registry")
		}
		i := open(t, cfg)
		c := claim("after first use")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestForgedRegistry: a registry that a tenant could have written proves nothing.
func TestForgedRegistry(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		pg.super(t, "postgres", `CREATE ROLE mallory LOGIN CREATEDB`, `CREATE DATABASE forged OWNER mallory`)
		for manager, cfg := range pg.managers {
			t.Run(manager, func(t *testing.T) {
				cfg.RegistryDatabase = "forged"
				i := open(t, cfg)
				ctx := testContext(t)
				c := claim("forged claim")
				_, observe := i.Observe(ctx, c.Names)
				_, reserve := i.Reserve(ctx, c)
				for _, err := range []error{observe, reserve} {
					if !IsUntrusted(err) {
						t.Errorf("want it refused, got %v", err)
					}
				}
			})
		}
	})
}
