package postgresql

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

const sentinel = `p@ss/w%rd "S3ntin3l`

// forms in which a password could leak.
var forms = []func(string) string{
	url.QueryEscape, url.PathEscape,
	func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	func(s string) string { return hex.EncodeToString([]byte(s)) },
	func(s string) string { return strings.ReplaceAll(s, `"`, `\"`) },
}

// TestH12NoLeak breaks whatever can break and looks for the password in every error and in the server's log, which holds every statement.
func TestH12NoLeak(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		cfg := pg.managers[admins]
		i := open(t, cfg)
		c := claim("leak")
		var errs []error
		note := func(err error) {
			t.Helper()
			if err == nil {
				t.Error("expected an error")
				return
			}
			errs = append(errs, err)
		}
		_, err := i.Reserve(ctx, c)
		must(t, "Reserve", err)
		pg.super(t, "postgres", `CREATE ROLE leak`)
		_, err = i.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: -1, Password: sentinel})
		note(err)
		pg.super(t, "postgres", `DROP ROLE leak`)
		must(t, "ensure", ensure(ctx, i, c, sentinel))
		pg.super(t, "postgres", `ALTER ROLE leak SUPERUSER`) // Our management role may not alter it now, and the server logs the statement.
		_, err = i.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: -1, Password: sentinel})
		note(err)
		pg.super(t, "postgres", `ALTER ROLE leak NOSUPERUSER`)
		for op, spoil := range map[Op]string{ // The statements that hold the verifier fail themselves.
			OpCreateRole:  "CREATE ROLE fails",
			OpSetPassword: "ALTER ROLE fails SUPERUSER",
		} {
			fails := claim("fails")
			_, err := i.Reserve(ctx, fails)
			must(t, "Reserve", err)
			if op == OpSetPassword {
				must(t, "ensure", ensure(ctx, i, fails, sentinel+"x"))
			}
			o := open(t, cfg, func(c *Config) {
				c.Hook = func(_ context.Context, o Op) error {
					if o == op {
						pg.super(t, "postgres", spoil)
					}
					return nil
				}
			})
			_, err = o.EnsureRole(ctx, fails, RoleSpec{ConnectionLimit: -1, Password: sentinel})
			note(err)
			pg.super(t, "postgres", "ALTER ROLE fails NOSUPERUSER")
			if op == OpCreateRole {
				pg.super(t, "postgres", "DROP ROLE fails")
			}
			must(t, "remove", remove(ctx, i, fails))
		}
		note(i.CheckLogin(ctx, "leak", sentinel+"x", c.Database))
		note(i.CheckLogin(ctx, sentinel[:8], sentinel, "no such database"))

		for _, broken := range []func(*Config){
			func(c *Config) { c.Host = "no-such-host.invalid"; c.HostAddr = "" },
			func(c *Config) { c.Port = 1 },
			func(c *Config) { c.CABundle = nil },
			func(c *Config) { c.Host = "wrong.example.com" },
			func(c *Config) { c.Database = "no such database" },
			func(c *Config) {},
		} {
			o := open(t, cfg, func(c *Config) { c.Password = sentinel }, broken)
			_, err := o.Probe(ctx)
			note(err)
		}
		for _, err := range errs {
			for ; err != nil; err = errors.Unwrap(err) {
				text := fmt.Sprintf("%v %+v %#v", err, err, err)
				if leaks(text, sentinel, forms...) {
					t.Error("an error holds the password") // Not which: it would be in the output.
				}
				if strings.Contains(text, "SCRAM-SHA-256$") {
					t.Error("an error holds the verifier of a password")
				}
			}
		}
		must(t, "remove", remove(ctx, i, c))
		if leaks(pg.logText(t), sentinel, forms...) {
			t.Error("the server's log holds the password")
		}
		if !strings.Contains(pg.logText(t), "CREATE ROLE") {
			t.Error("the log does not hold statements, so this test proves nothing")
		}
	})
}

// TestHostileServer asks for the password in other ways than SCRAM, and lets everybody in.
func TestHostileServer(t *testing.T) {
	requests := map[string]pgproto3.BackendMessage{
		"ClearText": &pgproto3.AuthenticationCleartextPassword{},
		"MD5":       &pgproto3.AuthenticationMD5Password{},
		"Nothing":   &pgproto3.AuthenticationOk{},
	}
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, "listen", err)
			defer l.Close() // A test.
			answer := make(chan string, 1)
			go func() {
				defer close(answer)
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close() // A test.
				_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
				b := pgproto3.NewBackend(conn, conn)
				if _, err := b.ReceiveStartupMessage(); err != nil {
					return
				}
				b.Send(request)
				if b.Flush() != nil {
					return
				}
				_ = b.SetAuthType(pgproto3.AuthTypeCleartextPassword)
				if m, err := b.Receive(); err == nil {
					if p, ok := m.(*pgproto3.PasswordMessage); ok {
						answer <- p.Password
					}
				}
			}()
			i := open(t, Config{Host: "localhost", HostAddr: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, SSLMode: SSLDisable, Username: "u", Password: sentinel})
			if err := i.CheckLogin(testContext(t), "u", sentinel, "d"); !IsUntrusted(err) {
				t.Errorf("want it given up, got %v", err)
			}
			if _, got := <-answer; got {
				t.Error("something was sent as an answer")
			}
		})
	}
}

func TestErrors(t *testing.T) {
	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		cfg := pg.managers[admins]
		i := open(t, cfg)
		pg.super(t, "postgres", `CREATE ROLE weak LOGIN PASSWORD `+literal(func() string { v, _ := verifier(hostile); return v }()))
		t.Cleanup(func() { pg.super(t, "postgres", `DROP ROLE weak`) })
		weak := open(t, cfg, func(c *Config) { c.Username = "weak" })

		p, err := weak.Probe(ctx)
		must(t, "Probe", err)
		if want := "CREATEDB CREATEROLE"; !strings.HasSuffix(strings.Join(p.Missing, " "), want) {
			t.Errorf("missing: %v, want %s", p.Missing, want)
		}
		p, err = i.Probe(ctx)
		must(t, "Probe", err)
		if len(p.Missing) > 0 || p.Identity == "" || p.ReadOnly || p.Superuser {
			t.Errorf("Probe: %+v", p)
		}

		if err := i.CheckLogin(ctx, "nobody", "x", "postgres"); !IsLoginRejected(err) {
			t.Errorf("unknown role: %v", err)
		}
		if err := i.CheckLogin(ctx, "weak", hostile, "nowhere"); !IsNotFound(err) {
			t.Errorf("unknown database: %v", err)
		}
		noRegistry := open(t, cfg, func(c *Config) { c.Username, c.RegistryDatabase = "weak", "weak registry" })
		if _, err := noRegistry.Reserve(ctx, claim("x")); !IsInsufficientPrivilege(err) || !strings.Contains(MissingPrivilege(err), "CREATEDB") {
			t.Errorf("without CREATEDB: %v", err)
		}
		short, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := i.Observe(short, Names{"x", "x"}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}

		readOnly := claim("read only")
		must(t, "ensure", ensure(ctx, i, readOnly, hostile))
		pg.super(t, "postgres", `ALTER ROLE terdut_admin SET default_transaction_read_only = on`)
		standby := open(t, cfg)
		f, err := standby.Observe(ctx, readOnly.Names)
		must(t, "Observe", err)
		if !f.Server.ReadOnly {
			t.Error("a read-only server was not noticed")
		}
		if _, err := standby.EnsureRole(ctx, readOnly, RoleSpec{ConnectionLimit: 3}); !IsReadOnly(err) {
			t.Errorf("read only: %v", err)
		}
		pg.super(t, "postgres", `ALTER ROLE terdut_admin RESET default_transaction_read_only`)
		must(t, "remove", remove(ctx, i, readOnly))
	})
}
