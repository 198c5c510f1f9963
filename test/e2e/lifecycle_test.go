package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// TestTenantBecomesReady applies the example and another Tenant, and looks at everything that an application and an admin get.
func TestTenantBecomesReady(t *testing.T) {
	t.Parallel()
	const shop = "shop"
	if err := p.ApplyFile(t.Context(), "examples/tenant/namespace.yaml"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { deleteNamespace(t, shop) })
	own := namespace(t)
	histories := []*history{watchTenants(t, shop, nil), watchTenants(t, own, nil)}

	if err := p.ApplyFile(t.Context(), "examples/tenant/tenant.yaml"); err != nil {
		t.Fatal(err)
	}
	create(t, newTenant(own, "quoted", map[string]any{
		"database": own + ` "Ünïcode" & 50%`, "owner": own + " owner@home", "secretName": "credentials", "connectionLimit": int64(5),
		"extensions": []any{map[string]any{"name": "pgcrypto"}}, "deletionPolicy": "Delete",
	}))
	orders, quoted := tenantReady(t, shop, "orders"), tenantReady(t, own, "quoted")

	for i, u := range []*unstructured.Unstructured{orders, quoted} {
		phasesInOrder(t, histories[i].end().phases[u.GetName()])
		data := secretData(t, u.GetNamespace(), status(u, "secretRef", "name"))
		statusOf(t, u, data)
		loginWithURI(t, data)
		digest(t, mustLogin(t, data))
		recorded(t, u)
		hardened(t, u)
	}
	if got := status(orders, "database"); got != "shop_orders" {
		t.Errorf("database of the example: %q", got)
	}

	// Each may log in to its own database alone.
	for user, database := range map[*unstructured.Unstructured]string{orders: status(quoted, "database"), quoted: status(orders, "database")} {
		c, err := loginTo(t.Context(), secretData(t, user.GetNamespace(), status(user, "secretRef", "name")), database)
		if err == nil {
			_ = c.Close(t.Context())
		}
		if got := sqlState(err); got != "42501" {
			t.Errorf("%s connects to the database of another Tenant: SQLSTATE %q, want insufficient_privilege", user.GetName(), got)
		}
	}
}

// phasesInOrder fails unless phases go from the first to the last, never backwards and nowhere else.
func phasesInOrder(t *testing.T, seen []terdutv1alpha1.TenantPhase) {
	t.Helper()
	if len(seen) == 0 || seen[0] != terdutv1alpha1.PhasePlanned || seen[len(seen)-1] != terdutv1alpha1.PhaseReady {
		t.Errorf("phases %v: want them to begin with Planned and end with Ready", seen)
	}
	for i, ph := range seen {
		at := slices.Index(creation, ph)
		if at < 0 || i > 0 && at <= slices.Index(creation, seen[i-1]) {
			t.Errorf("phases %v: %s is out of order", seen, ph)
		}
	}
}

// statusOf fails unless the status of a Ready Tenant says what its spec and its Secret say.
func statusOf(t *testing.T, u *unstructured.Unstructured, data map[string][]byte) {
	t.Helper()
	policy, _, _ := unstructured.NestedString(u.Object, "spec", "deletionPolicy")
	port, _, _ := unstructured.NestedInt64(u.Object, "status", "port")
	generation, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	got := map[string]any{
		"database": status(u, "database"), "owner": status(u, "owner"), "host": status(u, "host"), "hostaddr": status(u, "hostaddr"),
		"port": port, "kvURL": status(u, "kvURL"), "deletionPolicy": status(u, "deletionPolicy"), "observedGeneration": generation,
	}
	want := map[string]any{
		"database": string(data["dbname"]), "owner": string(data["username"]), "host": p.Plane.Postgres.Host, "hostaddr": p.Plane.Postgres.HostAddr,
		"port": int64(p.Plane.Postgres.Port), "kvURL": p.Plane.OpenBao.Address + "/v1/kv/data/" + kvPath(u), "deletionPolicy": policy,
		"observedGeneration": u.GetGeneration(),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status of %s: -want +got:\n%s", u.GetName(), diff)
	}
	for _, c := range []string{"Ready", "Synced", "CredentialReady", "DatabaseReady", "SecretProjected", "LoginVerified"} {
		if condition(u, c)["status"] != "True" {
			t.Errorf("%s is Ready but not %s: %s", u.GetName(), c, conditionsOf(u))
		}
	}
}

// loginWithURI connects with the URI alone; the CA is what libpq would take from a file too.
func loginWithURI(t *testing.T, data map[string][]byte) {
	t.Helper()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, data["ca.crt"], 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := pgx.ParseConfig(string(data["uri"]) + "&sslrootcert=" + ca)
	if err != nil {
		t.Fatal("the Secret's URI cannot be parsed") // The error would repeat the URI.
	}
	if cfg.Host != string(data["host"]) || strconv.Itoa(int(cfg.Port)) != string(data["port"]) || cfg.Database != string(data["dbname"]) ||
		cfg.User != string(data["username"]) || cfg.Password != string(data["password"]) {
		t.Error("the Secret's URI does not have the parts that its single keys have")
	}
	if string(data["sslmode"]) != "verify-full" || cfg.TLSConfig == nil || cfg.TLSConfig.ServerName != cfg.Host || len(cfg.Fallbacks) > 0 {
		t.Errorf("sslmode %q: the URI does not verify the server", data["sslmode"])
	}
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatalf("the Secret's URI does not log in: SQLSTATE %q", sqlState(err))
	}
	digest(t, c)
	_ = c.Close(t.Context())
}

// digest uses the extension pgcrypto.
func digest(t *testing.T, c *pgx.Conn) {
	t.Helper()
	const want = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881" // SHA-256 of x.
	got := ""
	if err := c.QueryRow(t.Context(), "SELECT encode(digest('x', 'sha256'), 'hex')").Scan(&got); err != nil || got != want {
		t.Errorf("pgcrypto: got %q, %v", got, err)
	}
}

// recorded fails unless the registry and the record in OpenBao say whose the database is.
func recorded(t *testing.T, u *unstructured.Unstructured) {
	t.Helper()
	base := row{State: "created", OwnerUID: string(u.GetUID()), Owner: u.GetNamespace() + "/" + u.GetName(), Policy: status(u, "deletionPolicy")}
	d, r := base, base
	d.Kind, d.Name, r.Kind, r.Name = "database", status(u, "database"), "role", status(u, "owner")
	if diff := cmp.Diff([]row{d, r}, registryRows(t, u)); diff != "" {
		t.Errorf("registry of %s: -want +got:\n%s", u.GetName(), diff)
	}
	o := outsideOf(t, superuser(t, "postgres"), u)
	if o.KVVersion != 1 || o.KVVersions != 1 {
		t.Errorf("%s: the record is at version %d and has %d, want one", u.GetName(), o.KVVersion, o.KVVersions)
	}
	custom, _ := kvMetadata(t, kvPath(u))["custom_metadata"].(map[string]any)
	if custom["terdut-owner-uid"] != string(u.GetUID()) {
		t.Errorf("%s: the record belongs to %v", u.GetName(), custom["terdut-owner-uid"])
	}
}

// hardened fails unless strangers cannot connect, and the server keeps only a verifier of the password.
func hardened(t *testing.T, u *unstructured.Unstructured) {
	t.Helper()
	c := superuser(t, "postgres")
	if n := count(t, c, `SELECT count(*) FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
		WHERE d.datname = $1 AND a.grantee = 0 AND a.privilege_type IN ('CONNECT', 'TEMPORARY')`, status(u, "database")); n != 0 {
		t.Errorf("%s: PUBLIC has %d privileges", u.GetName(), n)
	}
	if n := count(t, c, "SELECT count(*) FROM pg_authid WHERE rolname = $1 AND rolpassword LIKE 'SCRAM-SHA-256$%' AND rolcanlogin", status(u, "owner")); n != 1 {
		t.Errorf("%s: the owner has no SCRAM verifier", u.GetName())
	}
	if n := count(t, c, `SELECT count(*) FROM pg_roles WHERE rolname = $1 AND (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)`,
		status(u, "owner")); n != 0 {
		t.Errorf("%s: the owner may do more than own a database", u.GetName())
	}
}
