package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// A profile is a management role of a server.
type profile struct {
	server         *postgres.Server
	user, password string
	// registry is a database of the role's own: one that another role made is not trusted.
	registry  string
	superuser bool
}

// TestH04PrivilegeProfiles takes a Tenant through its whole life on the oldest and the newest PostgreSQL, with the documented management
// role and with a superuser.
func TestH04PrivilegeProfiles(t *testing.T) {
	t.Parallel()
	grants, err := os.ReadFile(filepath.Join("..", "..", "package", "install", "postgresql-management-role.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, major := range []int{15, 18} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			server, err := postgres.Start(t.Context(), postgres.Options{Dir: t.TempDir(), TLS: true, Major: major})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(server.Stop)
			profiles := map[string]profile{
				"Documented": {server: server, user: product.ManagementRole, password: rand.Text(), registry: "terdut"},
				"Superuser":  {server: server, user: server.Superuser, password: server.Password, registry: "terdut_super", superuser: true},
			}
			c := profiles["Superuser"].connect(t, "postgres")
			exec(t, c, string(grants))
			if _, err := c.Exec(t.Context(), fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", product.ManagementRole, profiles["Documented"].password)); err != nil {
				t.Fatal("cannot give the management role a password")
			}
			for name, profile := range profiles {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					profile.life(t)
				})
			}
		})
	}
}

// connect to the profile's server as its superuser.
func (f profile) connect(t *testing.T, database string) *pgx.Conn {
	t.Helper()
	c, err := f.server.Connect(t.Context(), database)
	if err != nil {
		t.Fatalf("cannot connect to PostgreSQL as superuser: SQLSTATE %q", sqlState(err))
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// config makes a ClusterProviderConfig for the profile, named like the namespace of its own that is returned.
func (f profile) config(t *testing.T) (string, *postgresqlv1alpha1.ClusterProviderConfig) {
	t.Helper()
	secret := &corev1.Secret{StringData: map[string]string{"username": f.user, "password": f.password}}
	secret.Namespace, secret.GenerateName = local.SystemNamespace, "management-role-"
	create(t, secret)
	t.Cleanup(func() { _ = p.Client.Delete(context.Background(), secret) }) // After the namespace: what is in it may need the Secret to go.
	ns := namespace(t)

	pc, ca := &postgresqlv1alpha1.ClusterProviderConfig{}, string(f.server.CABundle)
	pc.Name = ns
	pc.Spec.Host, pc.Spec.HostAddr, pc.Spec.Port, pc.Spec.CABundle = f.server.Host, &f.server.HostAddr, int32(f.server.Port), &ca
	pc.Spec.RegistryDatabase = f.registry
	pc.Spec.Credentials.SecretRef.Namespace, pc.Spec.Credentials.SecretRef.Name = secret.Namespace, secret.Name
	create(t, pc)
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(p.Client.Delete(context.Background(), pc)); err != nil {
			t.Errorf("cannot delete config: %v", err)
		}
	})
	becomes(t, pc, postgresqlv1alpha1.TypeHealthy, corev1.ConditionTrue, postgresqlv1alpha1.ReasonProbed)
	return ns, pc
}

// life of a Tenant: created, used, rotated, brought back from drift, changed, and deleted without a trace.
func (f profile) life(t *testing.T) {
	ns, pc := f.config(t)
	extensions := []any{map[string]any{"name": "pgcrypto"}}
	if f.superuser {
		extensions = append(extensions, map[string]any{"name": "pg_stat_statements"}) // Nobody else may install it.
	}
	create(t, newTenant(ns, "orders", map[string]any{
		"instanceRef": map[string]any{"name": pc.Name}, "extensions": extensions, "deletionPolicy": "Delete", "rotation": map[string]any{"trigger": "first"},
	}))
	u := tenantReady(t, ns, "orders")
	f.use(t, u, func(c *pgx.Conn) { digest(t, c) })
	f.grants(t, u)

	old := secretData(t, ns, "orders-db")
	f.settled(t, u, rotateTenant(t, u, "second"))
	if err := provenWith(t.Context(), u); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
	if c, err := login(t.Context(), old); sqlState(err) != "28P01" {
		if err == nil {
			_ = c.Close(t.Context())
		}
		t.Errorf("the old password: SQLSTATE %q, want it to be refused", sqlState(err))
	}

	f.drift(t, u)
	eventually(t, "drift to be put back", func(ctx context.Context) error {
		if err := asSpecifiedOn(f.server, u); err != nil {
			return err
		}
		return provenWith(ctx, u)
	})
	tenantReady(t, ns, "orders")
	f.grants(t, u)

	change(t, types.NamespacedName{Namespace: ns, Name: "orders"}, u, func() {
		_ = unstructured.SetNestedSlice(u.Object, append(extensions, map[string]any{"name": "hstore"}), "spec", "extensions")
		_ = unstructured.SetNestedField(u.Object, int64(7), "spec", "connectionLimit")
	})
	f.settled(t, u, u.GetGeneration())
	if err := asSpecifiedOn(f.server, u); err != nil {
		t.Errorf("after a change of the spec: %v", err)
	}
	f.use(t, u, func(c *pgx.Conn) { exec(t, c, "SELECT 'a=>1'::hstore") })

	remove(t, u)
	allGone(t, ns, "orders")
	n := count(t, f.connect(t, f.registry), `SELECT (SELECT count(*) FROM pg_database WHERE datname = $1) + (SELECT count(*) FROM pg_roles WHERE rolname = $2)
		+ (SELECT count(*) FROM terdut_registry.object WHERE name IN ($1, $2))`, status(u, "database"), status(u, "owner"))
	if n != 0 || kvMetadata(t, kvPath(u)) != nil {
		t.Errorf("deletion left %d of role, database and their records, or the record in OpenBao", n)
	}
	remove(t, pc)
	isGone(t, pc)
}

// use the Tenant's database as an application does.
func (f profile) use(t *testing.T, u *unstructured.Unstructured, do func(*pgx.Conn)) {
	t.Helper()
	c := mustLogin(t, secretData(t, u.GetNamespace(), "orders-db"))
	do(c)
	_ = c.Close(t.Context()) // A session would keep the database.
}

// settled waits until a generation of the Tenant is Ready.
func (f profile) settled(t *testing.T, u *unstructured.Unstructured, generation int64) {
	t.Helper()
	tenantIs(t, u.GetNamespace(), u.GetName(), func(u *unstructured.Unstructured) error {
		if observedGeneration(u) != generation || condition(u, "Ready")["status"] != "True" {
			return fmt.Errorf("generation %d is not Ready", generation)
		}
		return nil
	})
}

// drift undoes everything that the profile's role may put back.
func (f profile) drift(t *testing.T, u *unstructured.Unstructured) {
	t.Helper()
	database, owner := ident(status(u, "database")), ident(status(u, "owner"))
	c := f.connect(t, "postgres")
	exec(t, c, "ALTER ROLE "+owner+" CREATEDB NOINHERIT CONNECTION LIMIT 1", "ALTER ROLE "+owner+" VALID UNTIL 'yesterday'",
		"ALTER DATABASE "+database+" CONNECTION LIMIT 3", "GRANT CONNECT, TEMPORARY ON DATABASE "+database+" TO PUBLIC", "ALTER ROLE "+owner+" PASSWORD 'by hand'")
	if f.superuser {
		exec(t, c, "ALTER DATABASE "+database+" OWNER TO postgres")
		return
	}
	// What the management role gave to itself, without which it cannot alter or drop the database.
	exec(t, c, "SET ROLE "+f.user, "REVOKE "+owner+" FROM "+f.user)
}

// grants fails unless the profile's role did the work, with no more rights than it says, and no more of them over the owner than it needs.
func (f profile) grants(t *testing.T, u *unstructured.Unstructured) {
	t.Helper()
	var user string
	var super, ownerIsMember bool
	var memberships []string
	c := f.connect(t, "postgres")
	// Before PostgreSQL 16 a membership has neither option, and both effects.
	err := c.QueryRow(t.Context(), `SELECT pg_get_userbyid(d.datdba), a.rolsuper, EXISTS (SELECT FROM pg_auth_members WHERE member = o.oid),
			ARRAY(SELECT CASE WHEN m.admin_option THEN 'admin' ELSE 'member' END
				|| CASE WHEN coalesce((to_jsonb(m) ->> 'inherit_option')::bool, true) THEN ' inherit' ELSE '' END
				|| CASE WHEN coalesce((to_jsonb(m) ->> 'set_option')::bool, true) THEN ' set' ELSE '' END
				FROM pg_auth_members m WHERE m.roleid = o.oid AND m.member = a.oid ORDER BY 1)
		FROM pg_roles a, pg_roles o, pg_database d WHERE a.rolname = $1 AND o.rolname = $2 AND d.datname = $3`, f.user, status(u, "owner"), f.registry).
		Scan(&user, &super, &ownerIsMember, &memberships)
	if err != nil {
		t.Fatalf("cannot look at roles: %v", err)
	}
	if user != f.user || super != f.superuser || ownerIsMember {
		t.Errorf("the registry belongs to %s, which is a superuser: %t; the owner is a member of something: %t", user, super, ownerIsMember)
	}
	want := []string{}
	switch {
	case f.superuser:
	case f.server.Options.Major < 16:
		want = []string{"member inherit set"}
	default:
		want = []string{"admin", "member inherit set"} // The first comes with creating a role, and stays as it is.
	}
	if diff := cmp.Diff(want, memberships); diff != "" {
		t.Errorf("memberships of the management role in the owner: -want +got:\n%s", diff)
	}
}
