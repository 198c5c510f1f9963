package postgres

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	o := Options{Dir: t.TempDir(), TLS: true, Conf: map[string]string{"log_statement": "all"}}
	s, err := Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })

	type facts struct {
		SSL                bool
		HBA, LogStatements string
	}
	ask := func() facts {
		t.Helper()
		c, err := s.Connect(ctx, "postgres")
		if err != nil {
			t.Fatal("cannot connect as superuser")
		}
		defer c.Close(ctx) // Only read.
		f := facts{}
		err = c.QueryRow(ctx, `SELECT ssl, (SELECT string_agg(DISTINCT auth_method, ',') FROM pg_hba_file_rules), current_setting('log_statement')
			FROM pg_stat_ssl WHERE pid = pg_backend_pid()`).Scan(&f.SSL, &f.HBA, &f.LogStatements)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	want := facts{SSL: true, HBA: "scram-sha-256", LogStatements: "all"}
	if diff := cmp.Diff(want, ask()); diff != "" {
		t.Errorf("first start: -want, +got:\n%s", diff)
	}

	port, password := s.Port, s.Password
	if err := s.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, ask()); diff != "" {
		t.Errorf("after a restart: -want, +got:\n%s", diff)
	}
	if s.Port != port {
		t.Errorf("a restart changed the port from %d to %d", port, s.Port)
	}

	s.Stop()
	if _, err := s.Connect(ctx, "postgres"); err == nil {
		t.Error("a stopped server still accepts connections")
	}

	// The folder is continued by another start: same data, password and CA.
	ca := s.CABundle
	if s, err = Start(ctx, o); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, ask()); diff != "" {
		t.Errorf("continued folder: -want, +got:\n%s", diff)
	}
	if s.Password != password || !cmp.Equal(ca, s.CABundle) {
		t.Error("a continued folder has another password or CA")
	}
}

func TestNewest(t *testing.T) {
	cases := map[string]struct {
		reason  string
		install []string
		want    string
	}{
		"Numeric":    {reason: "Versions are numbers: 9 is not newer than 15.", install: []string{"9", "15"}, want: "15"},
		"Newest":     {reason: "The newest version wins.", install: []string{"15", "17", "16"}, want: "17"},
		"TooOld":     {reason: "Versions that the product does not support are not used.", install: []string{"13", "14"}},
		"Incomplete": {reason: "A client-only installation has no server.", install: nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.MkdirAll(filepath.Join(root, "18", "bin"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, v := range tc.install {
				bin := filepath.Join(root, v, "bin")
				if err := os.MkdirAll(bin, 0o755); err != nil {
					t.Fatal(err)
				}
				for _, b := range []string{"initdb", "postgres"} {
					if err := os.WriteFile(filepath.Join(bin, b), nil, 0o755); err != nil {
						t.Fatal(err)
					}
				}
			}
			want := ""
			if tc.want != "" {
				want = filepath.Join(root, tc.want, "bin")
			}
			if diff := cmp.Diff(want, newest(filepath.Join(root, "*", "bin"))); diff != "" {
				t.Errorf("%s\nnewest(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
