package terdutserver_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/process"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// database starts PostgreSQL with an empty database, and returns its DSN without the password.
func database(t *testing.T) (*postgres.Server, string) {
	t.Helper()
	ctx := testContext(t)
	dir, err := os.MkdirTemp("", "terdutserver-") // Shorter than t.TempDir, for the socket.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	pg, err := postgres.Start(ctx, postgres.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pg.Stop)
	c, err := pg.Connect(ctx, "postgres")
	if err != nil {
		t.Fatal("cannot connect as superuser")
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, `CREATE DATABASE terdut`); err != nil {
		t.Fatal(err)
	}
	u := url.URL{Scheme: "postgres", User: url.User(pg.Superuser), Host: fmt.Sprintf("%s:%d", pg.HostAddr, pg.Port), Path: "/terdut", RawQuery: "sslmode=disable"}
	return pg, u.String()
}

// TestPostgreSQL holds that the state outlives the server, that two servers on one database share it, that healthz follows the database, and
// that a server comes back with it.
func TestPostgreSQL(t *testing.T) {
	pg, dsn := database(t)
	t.Setenv("PGPASSWORD", pg.Password)
	ctx := testContext(t)

	one := start(t, terdutserver.Options{DatabaseDSN: dsn})
	c := tester{t, one.URL()}
	c.want(200, "GET", "/healthz", "", "")
	key := c.want(201, "POST", "/api/bootstrap", "", `{"username":"root","email":"root@terdut.example"}`).get(t, "api_key", "key")
	c.want(201, "POST", "/api/teams", key, `{"name":"ops"}`)
	c.want(409, "POST", "/api/teams", key, `{"name":"ops"}`)
	one.Close()

	two, three := start(t, terdutserver.Options{DatabaseDSN: dsn}), start(t, terdutserver.Options{DatabaseDSN: dsn})
	c = tester{t, two.URL()}
	c.want(403, "POST", "/api/bootstrap", "", `{"username":"x","email":"x"}`)
	var wg sync.WaitGroup
	for i := range 100 {
		s := []*terdutserver.Server{two, three}[i%2]
		wg.Go(func() { (tester{t, s.URL()}).send("POST", "/api/teams", key, fmt.Sprintf(`{"name":"team-%d"}`, i)) })
	}
	wg.Wait()
	st := must(three.Snapshot(ctx))(t)
	ids := map[int64]bool{}
	for _, team := range st.Teams {
		ids[team.ID] = true
	}
	if len(st.Teams) != 101 || len(ids) != 101 {
		t.Errorf("want 101 teams with an id each, got %d with %d", len(st.Teams), len(ids))
	}

	pg.Stop()
	got := c.want(503, "GET", "/healthz", "", "")
	if got.get(t, "error") != "the database is not available" {
		t.Errorf("healthz says %q", got.body)
	}
	c.want(503, "GET", "/api/teams", key, "")
	if err := pg.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	c.want(200, "GET", "/healthz", "", "")
	c.want(200, "GET", "/api/teams/1", key, "")
	if err := pg.Restart(ctx); err != nil { // Unnoticed.
		t.Fatal(err)
	}
	c.want(200, "GET", "/api/teams/1", key, "")
}

// TestProcess runs the command as a Deployment would: with its settings and the password in the environment.
func TestProcess(t *testing.T) {
	pg, dsn := database(t)
	ctx := testContext(t)
	dir := t.TempDir()
	binary := filepath.Join(dir, "terdut-server")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/terdut-server").CombinedOutput(); err != nil {
		t.Fatalf("cannot build: %v\n%s", err, out)
	}
	addr, control := freeAddr(t), freeAddr(t)
	p, err := process.Start(process.Spec{
		Name: "terdut-server", Path: binary, LogFile: filepath.Join(dir, "log"),
		Env: append(os.Environ(),
			"TERDUT_LISTEN_ADDR="+addr, "TERDUT_BASE_URL=https://oncall.example/", "TERDUT_DATABASE_DSN="+dsn, "PGPASSWORD="+pg.Password,
			"TERDUT_CONTROL_ADDR="+control, "TERDUT_SWEEPER_STALE_AFTER=6h"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(10 * time.Second) })
	c := tester{t, "http://" + addr}
	if err := p.Wait(ctx, func(context.Context) error {
		if r := c.send("GET", "/healthz", "", ""); r.status != 200 {
			return fmt.Errorf("status %d", r.status)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	key := c.want(201, "POST", "/api/bootstrap", "", `{"username":"root","email":"root@terdut.example"}`).get(t, "api_key", "key")
	c.want(201, "POST", "/api/teams", key, `{"name":"ops"}`)
	in := c.want(201, "POST", "/api/teams/1/integrations", key, `{"kind":"alertmanager","name":"prod"}`)
	if !strings.HasPrefix(in.get(t, "url"), "https://oncall.example/api/webhooks/alertmanager/") {
		t.Error("the webhook does not start with the base URL")
	}
	(tester{t, "http://" + control}).want(200, "GET", "/state", "", "")
	log, err := os.ReadFile(p.LogFile())
	if err != nil || strings.Contains(string(log), key) || strings.Contains(string(log), in.get(t, "key")) || strings.Contains(string(log), pg.Password) {
		t.Errorf("the log cannot be read or holds a secret: %v", err)
	}
	p.Stop(10 * time.Second)
	select {
	case <-p.Done():
	default:
		t.Error("the process does not stop")
	}
}

func freeAddr(t *testing.T) string {
	t.Helper()
	port := must(process.FreePort())(t)
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(port))
}
