package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// registry is the database that the provider keeps its ownership records in.
const registry = "terdut"

// creation is the order of phases that a Tenant goes through.
var creation = []terdutv1alpha1.TenantPhase{
	terdutv1alpha1.PhasePlanned, terdutv1alpha1.PhaseCredentialCreated, terdutv1alpha1.PhaseRoleCreated, terdutv1alpha1.PhaseDatabaseCreated,
	terdutv1alpha1.PhaseExternalSecretCreated, terdutv1alpha1.PhaseCredentialProjected, terdutv1alpha1.PhaseReady,
}

// A history is what a watch has seen of the Tenants of a namespace.
type history struct {
	stop func()
	done chan struct{}
	mu   sync.Mutex
	// phases by Tenant, each once in a row.
	phases map[string][]terdutv1alpha1.TenantPhase
	// unresponsive are messages of the condition Responsive where it was False.
	unresponsive []string
}

// watchTenants records what becomes of the Tenants of a namespace, from before there is one. When the test ends, none may ever have been
// told that it is not Responsive. The function, which may be nil, is called for each change.
func watchTenants(t *testing.T, ns string, each func(*unstructured.Unstructured)) *history {
	t.Helper()
	c, err := client.NewWithWatch(p.Plane.Config(), client.Options{Scheme: p.Client.Scheme()})
	if err != nil {
		t.Fatalf("cannot create client: %v", err)
	}
	h := &history{done: make(chan struct{}), phases: map[string][]terdutv1alpha1.TenantPhase{}}
	var ctx context.Context
	ctx, h.stop = context.WithCancel(context.Background())
	var watches sync.WaitGroup
	for _, gvk := range slices.Compact([]schema.GroupVersionKind{terdutv1alpha1.TenantGroupVersionKind, behind(terdutv1alpha1.TenantGroupVersionKind)}) {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk)
		w, err := c.Watch(ctx, l)
		if err != nil {
			t.Fatalf("cannot watch Tenants: %v", err)
		}
		watches.Go(func() {
			defer w.Stop()
			for e := range w.ResultChan() {
				if u, ok := e.Object.(*unstructured.Unstructured); ok && standsIn(u, ns) {
					h.add(u)
					if each != nil && u.GetNamespace() == ns {
						each(u)
					}
				}
			}
		})
	}
	go func() {
		watches.Wait()
		close(h.done)
	}()
	t.Cleanup(func() {
		complain := t.Errorf
		if flavour == product.FlavourClaims {
			complain = t.Logf // Making a Tenant is nearly all that Crossplane listens to behind a claim, see docs/flavours.md.
		}
		for _, m := range h.end().unresponsive {
			complain("a Tenant was not Responsive: %s", m)
		}
	})
	return h
}

func (h *history) add(u *unstructured.Unstructured) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := condition(u, "Responsive"); c["status"] == "False" {
		h.unresponsive = append(h.unresponsive, fmt.Sprintf("%s: %v %v", u.GetName(), c["reason"], c["message"]))
	}
	if u.GetNamespace() == "" {
		return // It is behind a claim, which says the same.
	}
	ph, seen := terdutv1alpha1.TenantPhase(phase(u)), h.phases[u.GetName()]
	if ph != "" && (len(seen) == 0 || seen[len(seen)-1] != ph) {
		h.phases[u.GetName()] = append(seen, ph)
	}
}

// end the watch. What was seen may be read then.
func (h *history) end() *history {
	h.stop()
	<-h.done
	return h
}

// outside is what PostgreSQL and OpenBao hold for a Tenant. There is no secret in it.
type outside struct {
	DatabaseOID, RoleOID uint32
	// Row versions of both in PostgreSQL's catalogs: every change of the object makes a new one, a change of the password too.
	DatabaseRow, RoleRow  string
	KVVersion, KVVersions int
}

// outsideOf looks at what there is for a Tenant. What does not exist is zero.
func outsideOf(t *testing.T, c *pgx.Conn, u *unstructured.Unstructured) outside {
	t.Helper()
	o := outside{}
	err := c.QueryRow(t.Context(), "SELECT oid, xmin::text FROM pg_database WHERE datname = $1", status(u, "database")).Scan(&o.DatabaseOID, &o.DatabaseRow)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatalf("cannot look at database: %v", err)
	}
	err = c.QueryRow(t.Context(), "SELECT oid, xmin::text FROM pg_authid WHERE rolname = $1", status(u, "owner")).Scan(&o.RoleOID, &o.RoleRow)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatalf("cannot look at role: %v", err)
	}
	if m := kvMetadata(t, kvPath(u)); m != nil {
		o.KVVersion, o.KVVersions = number(m["current_version"]), len(m["versions"].(map[string]any))
	}
	return o
}

// A row of the ownership registry.
type row struct{ Kind, Name, State, OwnerUID, Owner, Policy string }

// registryRows of a Tenant, by the names of its database and owner, whoever is recorded.
func registryRows(t *testing.T, u *unstructured.Unstructured) []row {
	t.Helper()
	q, err := superuser(t, registry).Query(t.Context(), `SELECT kind, name, state, owner_uid, owner_namespace || '/' || owner_name, deletion_policy
		FROM terdut_registry.object WHERE name IN ($1, $2) ORDER BY kind`, status(u, "database"), status(u, "owner"))
	if err != nil {
		t.Fatalf("cannot read registry: %v", err)
	}
	rows, err := pgx.CollectRows(q, pgx.RowToStructByPos[row])
	if err != nil {
		t.Fatalf("cannot read registry: %v", err)
	}
	return rows
}

// kvPath is the path of a Tenant's record below the mount.
func kvPath(u *unstructured.Unstructured) string {
	return "tenants/" + u.GetNamespace() + "/" + u.GetName()
}

// kvMetadata of a record, nil when there is none.
func kvMetadata(t *testing.T, path string) map[string]any {
	t.Helper()
	s, err := p.Plane.OpenBao.Root().Logical().ReadWithContext(t.Context(), openbao.Mount+"/metadata/"+path)
	if err != nil {
		t.Fatalf("cannot read metadata of record %q: %v", path, err)
	}
	if s == nil {
		return nil
	}
	return s.Data
}

// kvPassword of a record, empty when there is none. It must not be printed.
func kvPassword(ctx context.Context, path string) (string, error) {
	s, err := p.Plane.OpenBao.Root().Logical().ReadWithContext(ctx, openbao.Mount+"/data/"+path)
	if err != nil {
		return "", fmt.Errorf("cannot read record %q: %w", path, err)
	}
	if s == nil {
		return "", fmt.Errorf("record %q does not exist", path)
	}
	data, _ := s.Data["data"].(map[string]any)
	v, ok := data["password"].(string)
	if !ok {
		return "", fmt.Errorf("record %q has no password", path)
	}
	return v, nil
}

func number(v any) int {
	n, _ := strconv.Atoi(fmt.Sprint(v))
	return n
}

// samePassword compares passwords without ever printing one.
func samePassword(t *testing.T, what string, before, after []byte) {
	t.Helper()
	if len(after) == 0 || !bytes.Equal(before, after) {
		t.Errorf("%s: the password is not what it was", what)
	}
}

// login connects with the single keys of a Secret, and checks the server's certificate against the Secret's.
func login(ctx context.Context, data map[string][]byte) (*pgx.Conn, error) {
	return loginTo(ctx, data, string(data["dbname"]))
}

// loginTo connects to any database with the other keys of a Secret.
func loginTo(ctx context.Context, data map[string][]byte, database string) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig("sslmode=disable")
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(string(data["port"]), 10, 16)
	if err != nil {
		return nil, errors.New("key port is not a port")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data["ca.crt"]) {
		return nil, errors.New("key ca.crt is not a certificate")
	}
	cfg.Host, cfg.Port, cfg.Database = string(data["host"]), uint16(port), database
	cfg.User, cfg.Password = string(data["username"]), string(data["password"])
	cfg.TLSConfig = &tls.Config{RootCAs: roots, ServerName: cfg.Host, MinVersion: tls.VersionTLS12}
	cfg.Fallbacks = nil
	return pgx.ConnectConfig(ctx, cfg)
}

// mustLogin connects with the single keys of a Secret. The driver's errors do not repeat the password, but a test does not rely on it.
func mustLogin(t *testing.T, data map[string][]byte) *pgx.Conn {
	t.Helper()
	c, err := login(t.Context(), data)
	if err != nil {
		t.Fatalf("the Secret's values do not log in: SQLSTATE %q", sqlState(err))
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// sqlState of an error of PostgreSQL, empty for any other.
func sqlState(err error) string {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// exec runs statements.
func exec(t *testing.T, c *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := c.Exec(t.Context(), s); err != nil {
			t.Fatalf("cannot execute %q: %v", s, err)
		}
	}
}

func ident(name string) string { return pgx.Identifier{name}.Sanitize() }

// allGone waits until a Tenant and everything that it composed are gone.
func allGone(t *testing.T, ns, name string) {
	t.Helper()
	eventually(t, "Tenant "+name+" to be gone", func(ctx context.Context) error {
		return gone(ctx, newTenant(ns, name, nil), types.NamespacedName{Namespace: ns, Name: name})
	})
	eventually(t, "composed resources of "+name+" to be gone", func(ctx context.Context) error {
		left, err := composed(ctx, ns)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left: %v", left)
		}
		return err
	})
}

// composed lists what Tenants compose in a namespace, and the Secrets of it.
func composed(ctx context.Context, ns string) ([]string, error) {
	var left []string
	for _, gvk := range composedKinds {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk)
		if err := p.Client.List(ctx, l, client.InNamespace(ns)); err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", gvk.Kind, err)
		}
		for i := range l.Items {
			left = append(left, gvk.Kind+"/"+l.Items[i].GetName())
		}
	}
	slices.Sort(left)
	return left, nil
}
