package e2e

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// facts are what is so outside, by place. Values may be secret: only places are printed.
type facts map[string]string

// changes are the places where two sets of facts differ.
func (f facts) changes(now facts) []string {
	all := maps.Clone(f)
	maps.Copy(all, now)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(k string) bool {
		was, a := f[k]
		is, b := now[k]
		return a == b && was == is
	})
}

// world looks at everything that a Tenant whose database and owner have one name may write: role, database, their records in the
// registry, and the record in OpenBao. Nothing is empty facts.
func world(t *testing.T, name, path string) facts {
	t.Helper()
	f := facts{}
	c := superuser(t, "postgres")
	defer c.Close(context.Background()) // Nothing is left to do with it.

	f.query(t, c, "role/", `SELECT key, value::text FROM pg_authid a, jsonb_each(to_jsonb(a)) WHERE rolname = $1
		UNION ALL SELECT 'member of ' || m.roleid::regrole || ' by ' || m.grantor::regrole, 'yes'
			FROM pg_auth_members m JOIN pg_authid a ON a.oid = m.member WHERE a.rolname = $1
		UNION ALL SELECT 'setting', s.setconfig::text FROM pg_db_role_setting s JOIN pg_authid a ON a.oid = s.setrole WHERE a.rolname = $1`, name)
	f.query(t, c, "database/", `SELECT key, value::text FROM pg_database d, jsonb_each(to_jsonb(d) - 'datfrozenxid' - 'datminmxid') WHERE datname = $1
		UNION ALL SELECT 'comment', shobj_description(oid, 'pg_database') FROM pg_database
			WHERE datname = $1 AND shobj_description(oid, 'pg_database') IS NOT NULL`, name)
	if count(t, c, "SELECT count(*) FROM pg_database WHERE datname = 'terdut'") > 0 {
		r := superuser(t, "terdut")
		defer r.Close(context.Background()) // Nothing is left to do with it.
		// A registry that is being set up has no table yet.
		if count(t, r, "SELECT count(to_regclass('terdut_registry.object'))") == 0 {
			f.record(t, path)
			return f
		}
		f.query(t, r, "registry/", `SELECT o.kind || '.' || key, value::text FROM terdut_registry.object o, jsonb_each(to_jsonb(o)) WHERE name = $1`, name)
	}
	f.record(t, path)
	return f
}

// query adds facts from a query that returns pairs.
func (f facts) query(t *testing.T, c *pgx.Conn, prefix, sql string, args ...any) {
	t.Helper()
	rows, err := c.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("cannot look at %s: %v", prefix, err)
	}
	defer rows.Close()
	for rows.Next() {
		var k, v string
		if err := rows.Scan(&k, &v); err != nil {
			t.Fatalf("cannot look at %s: %v", prefix, err)
		}
		f[prefix+k] = v
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("cannot look at %s: %v", prefix, err)
	}
}

// record adds facts of a record of OpenBao.
func (f facts) record(t *testing.T, path string) {
	t.Helper()
	for _, part := range []string{"metadata", "data"} {
		s, err := p.Plane.OpenBao.Root().Logical().ReadWithContext(t.Context(), openbao.Mount+"/"+part+"/"+path)
		if err != nil {
			t.Fatalf("cannot read record %q: %v", path, err)
		}
		if s == nil {
			continue
		}
		for k, v := range s.Data {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatalf("cannot encode %s of record %q", part, path)
			}
			f["record/"+part+"/"+k] = string(b)
		}
	}
}

// has is true when there are facts at a place.
func (f facts) has(prefix string) bool {
	for k := range f {
		if strings.HasPrefix(k, prefix) {
			return true
		}
	}
	return false
}

// secretFacts are those of a Secret.
func secretFacts(t *testing.T, ns, name string) facts {
	t.Helper()
	s := &corev1.Secret{}
	if err := p.Client.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: name}, s); err != nil {
		t.Fatalf("cannot get Secret %q: %v", name, err)
	}
	f := facts{"secret/uid": string(s.UID), "secret/resourceVersion": s.ResourceVersion}
	for k, v := range s.Data {
		f["secret/data/"+k] = string(v)
	}
	return f
}

// passwordSecret makes a Secret with a password, and returns the password.
func passwordSecret(t *testing.T, ns, name string) string {
	t.Helper()
	s := &corev1.Secret{}
	s.Namespace, s.Name = ns, name
	pw := rand.Text()
	s.StringData = map[string]string{"password": pw}
	create(t, s)
	return pw
}

// newDatabase returns a PGDatabase whose password comes from the Secret "password" of its namespace.
func newDatabase(ns, object, name string) *postgresqlv1alpha1.PGDatabase {
	d := &postgresqlv1alpha1.PGDatabase{}
	d.SetGroupVersionKind(postgresqlv1alpha1.PGDatabaseGroupVersionKind)
	d.Namespace, d.Name = ns, object
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
	d.Spec.ForProvider.Database = &name
	d.Spec.ForProvider.Owner = postgresqlv1alpha1.Owner{Name: name}
	d.Spec.ForProvider.Owner.PasswordFrom.SecretKeyRef = &commonv1alpha1.LocalSecretKeySelector{Name: "password", Key: "password"}
	return d
}

// newRecord returns a BaoSecret with a generated password.
func newRecord(ns, object, path string) *openbaov1alpha1.BaoSecret {
	s := &openbaov1alpha1.BaoSecret{}
	s.SetGroupVersionKind(openbaov1alpha1.BaoSecretGroupVersionKind)
	s.Namespace, s.Name = ns, object
	s.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
	s.Spec.ForProvider.Path = path
	s.Spec.ForProvider.Data = []openbaov1alpha1.DataItem{{Key: "password", Generate: &openbaov1alpha1.Generate{Length: 32}}}
	return s
}

// A conditioned object is any managed resource or provider config of ours.
type conditioned interface {
	client.Object
	GetCondition(xpv2.ConditionType) xpv2.Condition
}

// becomes waits until a condition of an object has a status and a reason, and returns its message. An empty reason is any.
func becomes(t *testing.T, o conditioned, ct xpv2.ConditionType, s corev1.ConditionStatus, r xpv2.ConditionReason) string {
	t.Helper()
	eventually(t, fmt.Sprintf("%T %s to have %s=%s %s", o, o.GetName(), ct, s, r), func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		if c := o.GetCondition(ct); c.Status != s || (r != "" && c.Reason != r) {
			return fmt.Errorf("it is %s %s: %s", c.Status, c.Reason, c.Message)
		}
		return nil
	})
	return o.GetCondition(ct).Message
}

// isGone waits until an object does not exist any more.
func isGone(t *testing.T, o client.Object) {
	t.Helper()
	n := client.ObjectKeyFromObject(o)
	eventually(t, fmt.Sprintf("%T %s to be gone", o, n), func(ctx context.Context) error { return gone(ctx, o, n) })
}

// logsIn tells whether a role can log in to a database with a password, as an application would.
func logsIn(t *testing.T, database, role, password string) bool {
	t.Helper()
	cfg, err := pgx.ParseConfig(p.Plane.Postgres.ConnString("postgres"))
	if err != nil {
		t.Fatal("cannot parse connection string")
	}
	cfg.Database, cfg.User, cfg.Password = database, role, password
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		return false
	}
	return c.Close(t.Context()) == nil
}

// named returns a name for databases and roles that only this namespace has.
func named(ns string) string { return strings.ReplaceAll(ns, "-", "_") + "_x" }
