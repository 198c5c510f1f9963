package postgresql

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestServerDown: connections that died while they were idle are replaced without anybody noticing, and a server that is down is
// unreachable until it is up.
func TestServerDown(t *testing.T) {
	ownOn(t, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("restart")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		must(t, "restart", pg.Restart(ctx))
		_, err := i.Observe(ctx, c.Names)
		must(t, "Observe after a restart", err)

		pg.Stop()
		for what, err := range everything(ctx, i, c) {
			if !IsUnreachable(err) || !strings.Contains(err.Error(), pg.address()) {
				t.Errorf("%s on a stopped server: %v", what, err)
			}
		}
		must(t, "start", pg.Restart(ctx))
		_, err = i.Observe(ctx, c.Names)
		must(t, "Observe after an outage", err)
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestServerStarting: a server that takes no connections yet (57P03) is unreachable, in its own words.
func TestServerStarting(t *testing.T) {
	ownOn(t, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("starting")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		pg.standby(t)
		pg.Options.Conf["hot_standby"] = "off"
		starting, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = pg.Restart(starting) // It never takes connections.
		}()
		var err error
		for !hasCode(err, "57P03") && ctx.Err() == nil {
			_, err = i.Observe(ctx, c.Names)
			if !IsUnreachable(err) {
				t.Fatalf("want it unreachable, got %v", err)
			}
		}
		if !strings.Contains(err.Error(), "the database system is") {
			t.Errorf("want the server's own words, got %v", err)
		}
		stop()
		<-ended
	})
}

// TestHotStandby: a standby can be read, and every write says that it cannot be written to; after a failover everything goes on.
func TestHotStandby(t *testing.T) {
	ownOn(t, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins])
		c := claim("standby")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		pg.super(t, "postgres", "GRANT CONNECT ON DATABASE standby TO PUBLIC", "ALTER ROLE standby CONNECTION LIMIT 3") // Something to repair.
		pg.standby(t)
		must(t, "restart", pg.Restart(ctx))

		f, err := i.Observe(ctx, c.Names)
		must(t, "Observe", err)
		p, err := i.Probe(ctx)
		must(t, "Probe", err)
		if !f.Server.ReadOnly || !p.ReadOnly {
			t.Error("a standby was not noticed")
		}
		must(t, "login", i.CheckLogin(ctx, c.Role, hostile, c.Database))
		for what, err := range everything(ctx, i, c) {
			if !IsReadOnly(err) || !strings.Contains(err.Error(), "25006") {
				t.Errorf("%s on a standby: %v", what, err)
			}
		}
		pg.super(t, "postgres", "SELECT pg_promote()")
		must(t, "ensure after a failover", ensure(ctx, i, c, hostile))
		if f, err = i.Observe(ctx, c.Names); err != nil || f.Server.ReadOnly || len(f.DatabaseDrift(anyDatabase)) > 0 {
			t.Errorf("after a failover: %v, drift %v", err, f.DatabaseDrift(anyDatabase))
		}
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestServerSlow: a server that does not answer in time is unreachable, whether it says nothing at all or stops in the middle, and gets no
// more than its bound of connections.
func TestServerSlow(t *testing.T) {
	ctx := testContext(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, "listen", err)
	t.Cleanup(func() { _ = l.Close() }) // It accepts what the kernel queues, and never reads.
	i := open(t, Config{Host: "localhost", HostAddr: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Username: "u", Password: hostile})
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if _, err := i.Probe(short); !IsUnreachable(err) || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("a silent server: %v", err)
	}

	on(t, ends, func(t *testing.T, pg *testServer) {
		ctx := testContext(t)
		i := open(t, pg.managers[admins], func(c *Config) { c.MaxConnections = 2 })
		c := claim("slow")
		must(t, "ensure", ensure(ctx, i, c, hostile))
		holder := pg.connect(t, defaultRegistry)
		for _, sql := range []string{"BEGIN", "LOCK TABLE terdut_registry.object"} {
			_, err := holder.Exec(ctx, sql)
			must(t, sql, err)
		}
		short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		for what, err := range everything(short, i, c) {
			if !IsUnreachable(err) && !IsTooManyConnections(err) {
				t.Errorf("%s on a slow server: %v", what, err)
			}
		}
		_, err := holder.Exec(ctx, "ROLLBACK")
		must(t, "ROLLBACK", err)
		must(t, "ensure", ensure(ctx, i, c, hostile))
		must(t, "remove", remove(ctx, i, c))
	})
}

// TestPredicates: each SQLSTATE that a server in trouble answers with is told apart.
func TestPredicates(t *testing.T) {
	predicates := map[string]func(error) bool{
		"InUse": IsInUse, "NotFound": IsNotFound, "InsufficientPrivilege": IsInsufficientPrivilege, "ReadOnly": IsReadOnly,
		"TooManyConnections": IsTooManyConnections, "LoginRejected": IsLoginRejected, "Unreachable": IsUnreachable,
		"ExtensionUnavailable": IsExtensionUnavailable, "Untrusted": IsUntrusted, "Unsupported": IsUnsupported,
	}
	cases := map[string]string{
		"53300": "TooManyConnections", "57P03": "Unreachable", "57P01": "Unreachable", "57P02": "Unreachable", "08006": "Unreachable",
		"25006": "ReadOnly", "55006": "InUse", "55P03": "InUse", "28P01": "LoginRejected", "28000": "LoginRejected",
		"42501": "InsufficientPrivilege", "3D000": "NotFound", "3F000": "NotFound", "42704": "NotFound", "0A000": "ExtensionUnavailable",
		"53100": "", "53200": "", "57014": "", // Disk full, out of memory, cancelled: the server's words are all there is to say.
	}
	i := open(t, Config{Host: "db", Username: "u"})
	for code, want := range cases {
		err := i.wrap(OpRead, "x", &pgconn.PgError{Code: code, Message: "in the server's words"})
		for name, is := range predicates {
			if is(err) != (name == want) {
				t.Errorf("%s: Is%s is %t", code, name, is(err))
			}
		}
		if !strings.Contains(err.Error(), "in the server's words") || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// TestH16Retryable: what concurrent work makes a server answer is tried again, and nothing else is.
func TestH16Retryable(t *testing.T) {
	i := open(t, Config{Host: "db", Username: "u"})
	cases := map[string]struct {
		code, message string
		want          bool
	}{
		"Deadlock":      {code: "40P01", message: "deadlock detected", want: true},
		"Serialization": {code: "40001", message: "could not serialize access", want: true},
		"UniqueIndex":   {code: "23505", message: "duplicate key value violates unique constraint", want: true}, // Two CREATE DATABASE at once.
		"Database":      {code: "42P04", message: "database already exists", want: true},
		"Role":          {code: "42710", message: "role already exists", want: true},
		"Tuple":         {code: "XX000", message: "tuple concurrently updated", want: true},
		"Internal":      {code: "XX000", message: "cache lookup failed", want: false},
		"Denied":        {code: "42501", message: "permission denied", want: false},
		"InUse":         {code: "55006", message: "database is being accessed by other users", want: false},
		"Full":          {code: "53300", message: "too many clients already", want: false},
	}
	for name, tc := range cases {
		if got := IsRetryable(i.wrap(OpCreateDatabase, "x", &pgconn.PgError{Code: tc.code, Message: tc.message})); got != tc.want {
			t.Errorf("%s: IsRetryable is %t", name, got)
		}
	}
}

// everything that writes, by name.
func everything(ctx context.Context, i *Instance, c Claim) map[string]error {
	changed := c
	changed.DeletionPolicy = "Retain"
	_, reserve := i.Reserve(ctx, changed)
	_, role := i.EnsureRole(ctx, c, RoleSpec{ConnectionLimit: -1, Password: hostile})
	_, database := i.EnsureDatabase(ctx, c, anyDatabase)
	_, dropRole := i.DropRole(ctx, c)
	return map[string]error{
		"Reserve": reserve, "EnsureRole": role, "EnsureDatabase": database, "RecordCredential": i.RecordCredential(ctx, c, "9"),
		"Retain": i.Retain(ctx, c), "DropDatabase": i.DropDatabase(ctx, c, true), "DropRole": dropRole,
	}
}

func (pg *testServer) address() string {
	return Config{Host: pg.Host, Port: pg.Port}.address()
}

// standby stops the server and makes it one when it is started again.
func (pg *testServer) standby(t *testing.T) {
	t.Helper()
	pg.Stop()
	must(t, "standby.signal", os.WriteFile(filepath.Join(pg.Options.Dir, "data", "standby.signal"), nil, 0o644))
}
