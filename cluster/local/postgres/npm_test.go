package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// TestMajors starts a server of each major version that the product supports, with an extension of those that come along.
func TestMajors(t *testing.T) {
	for major := range npmVersions {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			s, err := Start(ctx, Options{Dir: t.TempDir(), TLS: true, Major: major})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Stop)
			c, err := s.Connect(ctx, "postgres")
			if err != nil {
				t.Fatal("cannot connect as superuser")
			}
			defer c.Close(ctx) // A test.
			got := 0
			if err := c.QueryRow(ctx, "SELECT current_setting('server_version_num')::int / 10000").Scan(&got); err != nil || got != major {
				t.Errorf("it is version %d: %v", got, err)
			}
			if _, err := c.Exec(ctx, "CREATE EXTENSION pgcrypto"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFetch: binaries are fetched once, and without npm it is said what is missing.
func TestFetch(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	t.Setenv(toolchain.CacheDirEnv, t.TempDir())
	first, err := fromNPM(ctx, 18)
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	if _, err := fromNPM(ctx, 17); !errors.Is(err, ErrNoNPM) {
		t.Errorf("without npm: %v", err)
	}
	if errors.Is(err, ErrNoNPM) {
		t.Logf("there is no npm in %q, so that is all that can be seen", path)
		return
	}
	if err != nil || !complete(first) {
		t.Fatalf("the binaries are not there: %v", err)
	}
	if second, err := fromNPM(ctx, 18); err != nil || second != first {
		t.Errorf("the second time: %q, %v", second, err)
	}
}
