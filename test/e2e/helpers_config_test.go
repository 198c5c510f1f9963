package e2e

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
)

// composedKinds are the kinds that a Tenant composes, and the one that is delivered.
var composedKinds = []schema.GroupVersionKind{
	postgresqlv1alpha1.PGDatabaseGroupVersionKind, openbaov1alpha1.BaoSecretGroupVersionKind, externalSecretKind,
	corev1.SchemeGroupVersion.WithKind("Secret"),
}

// adopt lets a Tenant have what an owner left behind under the same name, as an admin would: in both provider configs. They are put back
// when the test ends.
func adopt(t *testing.T, u *unstructured.Unstructured, from types.UID) {
	t.Helper()
	target := commonv1alpha1.AdoptionTarget{From: string(from), To: u.GetNamespace() + "/" + u.GetName()}
	name := types.NamespacedName{Name: "default"}

	pg := &postgresqlv1alpha1.ClusterProviderConfig{}
	change(t, name, pg, func() {
		pg.Spec.Adoptions = append(pg.Spec.Adoptions, postgresqlv1alpha1.Adoption{Database: status(u, "database"), AdoptionTarget: target})
	})
	t.Cleanup(func() { change(t, name, pg, func() { pg.Spec.Adoptions = nil }) })

	bao := &openbaov1alpha1.ClusterProviderConfig{}
	change(t, name, bao, func() {
		bao.Spec.Adoptions = append(bao.Spec.Adoptions, openbaov1alpha1.Adoption{Path: openbao.Mount + "/" + kvPath(u), AdoptionTarget: target})
	})
	t.Cleanup(func() { change(t, name, bao, func() { bao.Spec.Adoptions = nil }) })
}

// change an object as it is now on the API server.
func change(t *testing.T, n types.NamespacedName, o client.Object, f func()) {
	t.Helper()
	ctx := context.Background() // It is used in cleanups too.
	if err := p.Client.Get(ctx, n, o); err != nil {
		t.Errorf("cannot get %T %s: %v", o, n, err)
		return
	}
	before := o.DeepCopyObject().(client.Object)
	f()
	if err := p.Client.Patch(ctx, o, client.MergeFrom(before)); err != nil {
		t.Errorf("cannot change %T %s: %v", o, n, err)
	}
}

// asSpecified is nil when PostgreSQL has what a Tenant's spec says, right now.
func asSpecified(u *unstructured.Unstructured) error { return asSpecifiedOn(p.Plane.Postgres, u) }

// asSpecifiedOn is asSpecified for a Tenant on any server.
func asSpecifiedOn(server *postgres.Server, u *unstructured.Unstructured) error {
	ctx := context.Background() // It is called from a watch too.
	spec, _, _ := unstructured.NestedInt64(u.Object, "spec", "connectionLimit")
	c, err := server.Connect(ctx, status(u, "database"))
	if err != nil {
		return fmt.Errorf("cannot connect: SQLSTATE %q", sqlState(err))
	}
	defer c.Close(ctx) // Nothing is left to do with it.

	var roleLimit, databaseLimit int64
	var plain, owned, public bool
	err = c.QueryRow(ctx, `SELECT r.rolconnlimit, d.datconnlimit, r.rolcanlogin AND r.rolinherit AND NOT (r.rolcreatedb OR r.rolcreaterole OR r.rolsuper)
			AND coalesce(r.rolvaliduntil = 'infinity', true), d.datdba = r.oid,
			EXISTS (SELECT FROM aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a WHERE a.grantee = 0)
		FROM pg_roles r, pg_database d WHERE r.rolname = $1 AND d.datname = $2`, status(u, "owner"), status(u, "database")).
		Scan(&roleLimit, &databaseLimit, &plain, &owned, &public)
	switch {
	case err != nil:
		return fmt.Errorf("cannot look at role and database: %w", err)
	case roleLimit != spec || databaseLimit != -1:
		return fmt.Errorf("connection limits are %d and %d, not %d and -1", roleLimit, databaseLimit, spec)
	case !plain || !owned || public:
		return fmt.Errorf("attributes of the role as asked for: %t, it owns the database: %t, PUBLIC has privileges: %t", plain, owned, public)
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "spec", "extensions")
	for _, e := range list {
		name, n := e.(map[string]any)["name"], 0
		if err := c.QueryRow(ctx, "SELECT count(*) FROM pg_extension WHERE extname = $1", name).Scan(&n); err != nil || n != 1 {
			return fmt.Errorf("extension %v is not installed (%v)", name, err)
		}
	}
	return nil
}
