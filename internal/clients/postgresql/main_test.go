package postgresql

import (
	"context"
	"crypto/rand"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// hostile is a password with everything that breaks connection strings.
const hostile = `a@b/c:d?e#f%41+g "h'i\j k`

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func open(t *testing.T, c Config, mods ...func(*Config)) *Instance {
	t.Helper()
	for _, m := range mods {
		m(&c)
	}
	i, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return i
}

// claim of a new owner for a database and a role of the same name.
func claim(name string) Claim {
	return Claim{
		Names: Names{Database: name, Role: name}, DeletionPolicy: "Delete",
		Owner: Owner{ControlPlane: "cp", UID: rand.Text(), Namespace: "ns", Name: name},
	}
}

var (
	anyRole     = RoleSpec{ConnectionLimit: -1}
	anyDatabase = DatabaseSpec{ConnectionLimit: -1, Encoding: "UTF8"}
)

// ensure does what a controller does to make a claim true, up to the proof of login.
func ensure(ctx context.Context, i *Instance, c Claim, password string) error {
	return ensureVersion(ctx, i, c, password, "1")
}

// ensureVersion is ensure with a version of the credential.
func ensureVersion(ctx context.Context, i *Instance, c Claim, password, version string) error {
	f, err := i.Reserve(ctx, c)
	if err != nil {
		return err
	}
	r := anyRole
	if f.RoleRecord.CredentialVersion != version {
		r.Password = password
	}
	if _, err := i.EnsureRole(ctx, c, r); err != nil {
		return err
	}
	if _, err := i.EnsureDatabase(ctx, c, anyDatabase); err != nil {
		return err
	}
	if err := i.CheckLogin(ctx, c.Role, password, c.Database); err != nil {
		return err
	}
	return i.RecordCredential(ctx, c, version)
}

// remove does what a controller does to end a claim.
func remove(ctx context.Context, i *Instance, c Claim) error {
	if err := i.DropDatabase(ctx, c, true); err != nil {
		return err
	}
	_, err := i.DropRole(ctx, c)
	return err
}

// super runs statements as the superuser in a database.
func (pg *testServer) super(t *testing.T, database string, statements ...string) {
	t.Helper()
	ctx := testContext(t)
	c := pg.connect(t, database)
	for _, s := range statements {
		if _, err := c.Exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	(&session{conn: c}).close() // And be gone: a session that lingers is in the way of dropping its database.
}

// connect as the superuser; the session ends with the test.
func (pg *testServer) connect(t *testing.T, database string) *pgx.Conn {
	t.Helper()
	ctx := testContext(t)
	c, err := pg.Connect(ctx, database)
	if err != nil {
		t.Fatal("cannot connect as superuser")
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// ask for one value as the superuser.
func ask[T any](t *testing.T, pg *testServer, database, sql string, args ...any) T {
	t.Helper()
	var v T
	c := pg.connect(t, database)
	if err := c.QueryRow(testContext(t), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	(&session{conn: c}).close()
	return v
}

// exists counts what there is of a name: databases, roles and records.
func (pg *testServer) exists(t *testing.T, registry, name string) int {
	t.Helper()
	return ask[int](t, pg, registry, `SELECT (SELECT count(*) FROM pg_database WHERE datname = $1) + (SELECT count(*) FROM pg_roles WHERE rolname = $1)
		+ (SELECT count(*) FROM terdut_registry.object WHERE name = $1)`, name)
}

// logText of the server so far.
func (pg *testServer) logText(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(pg.LogFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// must be nil.
func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func registryOf(c Config) string {
	if c.RegistryDatabase == "" {
		return defaultRegistry
	}
	return c.RegistryDatabase
}

// leaks returns whether a text holds a password in a form that a person could use, without saying which.
func leaks(text, password string, forms ...func(string) string) bool {
	if strings.Contains(text, password) {
		return true
	}
	for _, f := range forms {
		if strings.Contains(text, f(password)) {
			return true
		}
	}
	return false
}

// counting counts writes, but not commits: a transaction that only reads has one, too.
func counting(n *int) func(*Config) {
	return func(c *Config) {
		c.Hook = func(_ context.Context, o Op) error {
			if o != OpCommit {
				*n++
			}
			return nil
		}
	}
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
