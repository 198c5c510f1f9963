package docs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
)

// psqlMain does what psql does, as far as the pages use it, on machines that have none. What is sent is a real server's to accept or refuse.
func psqlMain(args []string) int {
	if err := psql(context.Background(), args, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "psql:", err)
		return 2
	}
	return 0
}

func psql(ctx context.Context, args []string, typed io.Reader) error {
	// The rest of where and as whom is in libpq's variables, which pgx reads too.
	if len(args) < 2 || args[0] != "-d" {
		return fmt.Errorf("the stand-in of the test does not know %q", args)
	}
	conn, err := pgx.Connect(ctx, "dbname="+args[1])
	if err != nil {
		return errors.New("cannot connect") // Its text has more than it needs.
	}
	defer func() { _ = conn.Close(ctx) }()
	for args = args[2:]; len(args) > 0; args = args[2:] {
		if len(args) < 2 {
			return fmt.Errorf("%s needs a value", args[0])
		}
		sql, kind := args[1], args[0]
		if role, ok := strings.CutPrefix(sql, `\password `); ok && kind == "-c" {
			if sql, err = setPassword(conn, role, typed); err != nil {
				return err
			}
		}
		switch kind {
		case "-f":
			b, err := os.ReadFile(args[1])
			if err != nil {
				return err
			}
			sql = string(b)
		case "-c":
		default:
			return fmt.Errorf("the stand-in of the test does not know %q", kind)
		}
		if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}

// setPassword is the statement that gives a role the password that is typed twice.
func setPassword(conn *pgx.Conn, role string, typed io.Reader) (string, error) {
	lines := bufio.NewScanner(typed)
	var words []string
	for len(words) < 2 && lines.Scan() {
		words = append(words, lines.Text())
	}
	if len(words) < 2 || words[0] != words[1] || words[0] == "" {
		return "", errors.New("passwords are not there, or do not match")
	}
	quoted, err := conn.PgConn().EscapeString(words[0])
	if err != nil {
		return "", errors.New("cannot quote the password")
	}
	return "ALTER ROLE " + pgx.Identifier{role}.Sanitize() + " PASSWORD '" + quoted + "'", nil
}

// TestPSQL holds that the stand-in for psql does what the pages ask of it.
func TestPSQL(t *testing.T) {
	s, err := postgres.Start(t.Context(), postgres.Options{Dir: t.TempDir(), TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, s.CABundle, 0o600); err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"PGHOST": s.Host, "PGPORT": strconv.Itoa(s.Port), "PGUSER": s.Superuser, "PGPASSWORD": s.Password, "PGSSLMODE": "verify-full", "PGSSLROOTCERT": ca,
	} {
		t.Setenv(k, v)
	}
	const role = "../../package/install/postgresql-management-role.sql"
	set := []string{"-d", "postgres", "-c", `\password terdut_admin`}
	for _, tc := range []struct {
		args  []string
		typed string
		fails bool
	}{
		{args: []string{"-d", "postgres", "-f", role}},
		{args: []string{"-d", "postgres", "-f", role}, fails: true},
		{args: set, typed: "it's\nanother\n", fails: true},
		{args: set, fails: true},
		{args: set, typed: "it's\nit's\n"},
		{args: []string{"-d", "postgres", "-x", "y"}, fails: true},
	} {
		if err := psql(t.Context(), tc.args, strings.NewReader(tc.typed)); (err != nil) != tc.fails {
			t.Errorf("psql %q: got error %v, want one: %t", tc.args, err, tc.fails)
		}
	}
	t.Setenv("PGUSER", "terdut_admin")
	t.Setenv("PGPASSWORD", "it's")
	if err := psql(t.Context(), []string{"-d", "postgres", "-c", "CREATE DATABASE a", "-c", "DROP DATABASE a"}, nil); err != nil {
		t.Errorf("the role cannot log in with its password, or not work: %v", err)
	}
}
