package postgresql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
)

// ends are the oldest and the newest supported major version; all are those, and what is between.
var (
	ends = []int{15, 18}
	all  = []int{15, 16, 17, 18}
)

// grants is what the documentation tells an admin to run.
const grants = "../../../package/install/postgresql-management-role.sql"

// A testServer is shared by the tests of this package that want its major version. Its log holds every statement.
type testServer struct {
	*postgres.Server

	// managers are the two kinds of management role: both have to be enough for everything.
	managers map[string]Config
	// parts of the grants, see part.
	parts []string
}

var (
	servers = map[int]func() (*testServer, error){}
	// started servers, to be stopped at the end.
	started sync.Map
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "terdut-postgresql-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) // A temporary folder.
	for _, major := range all {
		servers[major] = sync.OnceValues(func() (*testServer, error) {
			return startServer(filepath.Join(dir, strconv.Itoa(major)), major)
		})
	}
	defer started.Range(func(s, _ any) bool {
		s.(*postgres.Server).Stop()
		return true
	})
	return m.Run()
}

// server of a major version, started when the first test asks for it.
func server(t *testing.T, major int) *testServer {
	t.Helper()
	return running(t, servers[major])
}

func running(t *testing.T, start func() (*testServer, error)) *testServer {
	t.Helper()
	pg, err := start()
	if err != nil {
		t.Fatal(err)
	}
	return pg
}

// startServer in a folder of its own, with further configuration parameters.
func startServer(dir string, major int, mods ...func(*postgres.Options)) (*testServer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	o := postgres.Options{
		Dir: dir, TLS: true, Major: major, CertificateHosts: []string{postgres.Host, postgres.HostAddr, "::1"}, Conf: map[string]string{
			"log_statement": "all", "log_connections": "on", "log_lock_waits": "on", "log_line_prefix": "%m [%p] %u@%d ",
			"max_prepared_transactions": "2", "listen_addresses": postgres.HostAddr + ",::1",
		},
	}
	if major >= 18 {
		o.Conf["extension_control_path"] = filepath.Join(dir, "share") + ":$system"
	}
	for _, m := range mods {
		m(&o)
	}
	s, err := postgres.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	started.Store(s, nil)
	pg := &testServer{Server: s}
	b, err := os.ReadFile(grants)
	if err != nil {
		return nil, err
	}
	pg.parts = strings.SplitAfter(string(b), "\n-- Part ") // The first is the introduction.
	c, err := s.Connect(ctx, "postgres")
	if err != nil {
		return nil, errors.New("cannot connect as superuser")
	}
	v, err := verifier(hostile)
	if err != nil {
		return nil, err
	}
	for _, sql := range []string{pg.part(1), `ALTER ROLE terdut_admin PASSWORD ` + literal(v)} {
		if _, err := c.Exec(ctx, sql); err != nil {
			return nil, errors.New("cannot create management role")
		}
	}
	_ = c.Close(ctx)

	base := Config{Host: s.Host, HostAddr: s.HostAddr, Port: s.Port, CABundle: s.CABundle}
	if !o.TLS {
		base.SSLMode = SSLDisable
	}
	admin, super := base, base
	admin.Username, admin.Password = "terdut_admin", hostile
	super.Username, super.Password, super.RegistryDatabase = s.Superuser, s.Password, "terdut_super"
	pg.managers = map[string]Config{admins: admin, supers: super}
	return pg, nil
}

// own is a server that a test has for itself, because it does things to it that others would notice.
func own(t *testing.T, major int, mods ...func(*postgres.Options)) *testServer {
	t.Helper()
	return running(t, func() (*testServer, error) {
		pg, err := startServer(t.TempDir(), major, mods...)
		if err == nil {
			t.Cleanup(pg.Stop)
		}
		return pg, err
	})
}

// ownOn runs a test on own servers of the oldest and the newest version.
func ownOn(t *testing.T, f func(t *testing.T, pg *testServer), mods ...func(*postgres.Options)) {
	t.Helper()
	for _, major := range ends {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			f(t, own(t, major, mods...))
		})
	}
}

// part of the documented grants, by its number.
func (pg *testServer) part(n int) string { return "-- Part " + pg.parts[n] }

// The two kinds of management role.
const (
	admins = "CreateDBCreateRole"
	supers = "Superuser"
)

// on runs a test on servers of several major versions, at the same time.
func on(t *testing.T, majors []int, f func(t *testing.T, pg *testServer)) {
	t.Helper()
	for _, major := range majors {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			f(t, server(t, major))
		})
	}
}

// each runs a test on several major versions, with either kind of management role.
func each(t *testing.T, majors []int, f func(t *testing.T, pg *testServer, manager string, cfg Config)) {
	t.Helper()
	on(t, majors, func(t *testing.T, pg *testServer) {
		for _, manager := range sorted(pg.managers) {
			t.Run(manager, func(t *testing.T) { f(t, pg, manager, pg.managers[manager]) })
		}
	})
}

// nobodyIn a database: whatever we did there, our sessions are gone.
func (pg *testServer) nobodyIn(t *testing.T, database string) {
	t.Helper()
	if n := ask[int](t, pg, "postgres", "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND application_name = $2", database, defaultApplication); n != 0 {
		t.Errorf("%d sessions are left in the tenant's database", n)
	}
}
