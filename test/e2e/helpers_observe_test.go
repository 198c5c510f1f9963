package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// metrics reads a page of metrics of a package's process. One that has just begun does not answer yet.
func metrics(t *testing.T, pkg string) string {
	t.Helper()
	page := ""
	eventually(t, "metrics of "+pkg, func(ctx context.Context) (err error) {
		page, err = metricsNow(ctx, pkg)
		return err
	})
	return page
}

func metricsNow(ctx context.Context, pkg string) (string, error) {
	for _, i := range p.Runtime.Instances() {
		if i.Package != pkg {
			continue
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+i.MetricsAddress+"/metrics", nil)
		if err != nil {
			return "", err
		}
		rsp, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", err
		}
		defer rsp.Body.Close() // It is only read.
		b, err := io.ReadAll(rsp.Body)
		return string(b), err
	}
	return "", errors.New("it does not run")
}

// reconciles counts the passes that the provider has made over a kind.
func reconciles(t *testing.T, kind string) int {
	t.Helper()
	n := 0.0
	prefix := fmt.Sprintf("controller_runtime_reconcile_total{controller=\"managed/%s\"", kind)
	for line := range strings.Lines(metrics(t, product.Provider)) {
		if strings.HasPrefix(line, prefix) {
			f := strings.Fields(line)
			v, err := strconv.ParseFloat(f[len(f)-1], 64)
			if err != nil {
				t.Fatalf("cannot read metric: %v", err)
			}
			n += v
		}
	}
	return int(n)
}

// Kinds as the provider's controllers are named.
const (
	databases   = "pgdatabase.postgresql.terdut.ryuvia.com"
	credentials = "baosecret.openbao.terdut.ryuvia.com"
)

// passes waits until the provider has looked n more times at each object of a kind, as many as there are.
func passes(t *testing.T, kind string, n int) {
	t.Helper()
	var l client.ObjectList = &postgresqlv1alpha1.PGDatabaseList{}
	if kind == credentials {
		l = &openbaov1alpha1.BaoSecretList{}
	}
	if err := p.Client.List(t.Context(), l); err != nil {
		t.Fatalf("cannot list %s: %v", kind, err)
	}
	objects := 0
	switch l := l.(type) {
	case *postgresqlv1alpha1.PGDatabaseList:
		objects = len(l.Items)
	case *openbaov1alpha1.BaoSecretList:
		objects = len(l.Items)
	}
	until := reconciles(t, kind) + n*max(objects, 1)
	eventually(t, fmt.Sprintf("%d passes over %s", n, kind), func(context.Context) error {
		if now := reconciles(t, kind); now < until {
			return fmt.Errorf("%d passes are missing", until-now)
		}
		return nil
	})
}

// A serverLog is the PostgreSQL server's log from some point on.
type serverLog int64

// serverLogFrom now on.
func serverLogFrom(t *testing.T) serverLog {
	t.Helper()
	fi, err := os.Stat(p.Plane.Postgres.LogFile)
	if err != nil {
		t.Fatalf("cannot look at the server's log: %v", err)
	}
	return serverLog(fi.Size())
}

func (l serverLog) text(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(p.Plane.Postgres.LogFile)
	if err != nil {
		t.Fatalf("cannot read the server's log: %v", err)
	}
	return string(b[min(int(l), len(b)):])
}

var write = regexp.MustCompile(`LOG:  (?:statement|execute [^:]*): *(?i:(CREATE|ALTER|DROP|GRANT|REVOKE|INSERT|UPDATE|DELETE|COMMENT)\b.*)`)

// writes are the statements since then that change something.
func (l serverLog) writes(t *testing.T) []string {
	t.Helper()
	return write.FindAllString(l.text(t), -1)
}
