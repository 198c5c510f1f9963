package postgresql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestH10LaterStepFails: whatever fails after the password was set, at creation and at a rotation, the next passes end with the password
// that is stored elsewhere; and a version is recorded only after a login.
func TestH10LaterStepFails(t *testing.T) {
	const stored, next = "stored p@ss", "next p@ss"
	on(t, ends, func(t *testing.T, pg *testServer) {
		cfg := pg.managers[admins]
		for n, op := range []Op{OpCommit, OpSetPassword, OpGrantMembership, OpCreateDatabase, OpRevokePublic, OpAlterDatabase, OpRecord} {
			t.Run(string(op), func(t *testing.T) {
				ctx := testContext(t)
				i, broken := open(t, cfg), open(t, cfg, failing(op))
				c := claim(fmt.Sprintf("later %d", n))
				version := func() string {
					f, err := i.Observe(ctx, c.Names)
					must(t, "Observe", err)
					if f.RoleRecord == nil {
						return ""
					}
					return f.RoleRecord.CredentialVersion
				}
				if err := ensure(ctx, broken, c, stored); (err == nil) != (op == OpSetPassword) { // Creating sets it with the role.
					t.Fatalf("creating with a fault: %v", err)
				}
				if got := version(); got != "" && op != OpSetPassword {
					t.Errorf("a pass that failed recorded version %q", got)
				}
				must(t, "ensure", ensure(ctx, i, c, stored))

				// The rotation meets drift, so that there are later steps.
				pg.super(t, "postgres", "SET ROLE terdut_admin", "REVOKE "+ident(c.Role)+" FROM terdut_admin")
				pg.super(t, "postgres", "GRANT CONNECT ON DATABASE "+ident(c.Database)+" TO PUBLIC", "ALTER DATABASE "+ident(c.Database)+" CONNECTION LIMIT 1")
				if err := ensureVersion(ctx, broken, c, next, "2"); (err == nil) != (op == OpCreateDatabase) {
					t.Fatalf("rotating with a fault: %v", err)
				}
				if got := version(); got == "2" && op != OpCreateDatabase {
					t.Error("a pass that failed recorded the new version")
				}
				old, now := i.CheckLogin(ctx, c.Role, stored, "postgres"), i.CheckLogin(ctx, c.Role, next, "postgres")
				if (old == nil) == (now == nil) {
					t.Errorf("want one password to work meanwhile: %v, %v", old, now)
				}
				must(t, "ensure", ensureVersion(ctx, i, c, next, "2"))
				if got := version(); got != "2" {
					t.Errorf("version %q is recorded", got)
				}
				if err := i.CheckLogin(ctx, c.Role, stored, c.Database); !IsLoginRejected(err) {
					t.Errorf("the earlier password: %v", err)
				}
				must(t, "remove", remove(ctx, i, c))
			})
		}
	})
}

// TestH10MissingExtension: an extension that is not there does not keep the password from being the one that is stored.
func TestH10MissingExtension(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("missing extension")
		for n, password := range []string{"stored p@ss", "next p@ss"} {
			must(t, "ensure", ensureVersion(ctx, i, c, password, fmt.Sprint(n)))
			r, err := i.EnsureExtensions(ctx, c, []ExtensionSpec{{Name: "no such"}})
			must(t, "EnsureExtensions", err)
			if !IsExtensionUnavailable(r[0].Err) {
				t.Errorf("want it unavailable, got %v", r[0].Err)
			}
			must(t, "login", i.CheckLogin(ctx, c.Role, password, c.Database))
		}
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestH13SpecialCharacters: user, password and database with everything that breaks connection strings, of the tenant and of the
// management role.
func TestH13SpecialCharacters(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		v, err := verifier(hostile)
		must(t, "verifier", err)
		pg.super(t, "postgres", strings.ReplaceAll(pg.part(1), "terdut_admin", ident(hostile+" admin")), "ALTER ROLE "+ident(hostile+" admin")+" PASSWORD "+literal(v))
		i := open(t, pg.managers[admins], func(c *Config) { c.Username, c.RegistryDatabase = hostile+" admin", hostile+" registry" })
		c := claim(hostile)
		must(t, "ensure", ensure(ctx, i, c, hostile))
		conf, err := pgx.ParseConfig(pg.ConnString("postgres"))
		must(t, "ParseConfig", err)
		conf.User, conf.Password, conf.Database = c.Role, hostile, c.Database
		conn, err := pgx.ConnectConfig(ctx, conf)
		if err != nil {
			t.Fatal("another client cannot log in")
		}
		_ = conn.Close(ctx)
		must(t, "remove", remove(ctx, i, c))
		i.Close()
		pg.super(t, "postgres", "DROP DATABASE "+ident(hostile+" registry"), "DROP ROLE "+ident(hostile+" admin"))
	})
}

// TestH13IPv6: an IPv6 address is a host, verified like a name, and stands in brackets where a port follows.
func TestH13IPv6(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skipf("SKIPPED, NOTHING WAS TESTED: this machine has no IPv6 loopback address: %v", err)
	} else {
		_ = l.Close()
	}
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		ipv6 := func(c *Config) { c.Host, c.HostAddr = "::1", "" }
		i := open(t, pg.managers[admins], ipv6)
		p, err := i.Probe(ctx)
		must(t, "Probe", err)
		if p.TLSVersion == "" {
			t.Error("not encrypted")
		}
		c := claim("ipv6")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		must(t, "remove", remove(ctx, i, c))
		_, err = open(t, pg.managers[admins], ipv6, func(c *Config) { c.Database = "nowhere" }).Probe(ctx)
		if want := fmt.Sprintf("[::1]:%d", pg.Port); !IsNotFound(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with the address %s, got %v", want, err)
		}
	})
	if _, err := New(Config{Host: "[::1]", Username: "u"}); !IsUnsupported(err) {
		t.Errorf("brackets in a host: %v", err)
	}
}

// failing makes every write of an operation fail.
func failing(op Op) func(*Config) {
	return func(c *Config) {
		c.Hook = func(_ context.Context, o Op) error {
			if o == op {
				return errors.New("injected fault")
			}
			return nil
		}
	}
}
