package packages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// facts are what is so, by place. Values may be secret: only places are printed.
type facts map[string]string

// changes are the places where two sets of facts differ.
func (f facts) changes(later facts) []string {
	all := maps.Clone(f)
	maps.Copy(all, later)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(k string) bool {
		was, a := f[k]
		is, b := later[k]
		return a == b && was == is
	})
}

// kept are the kinds of which no object may be made anew by an upgrade. A ReplicaSet has the hash of its pod template in its name.
var kept = []schema.GroupVersionKind{
	terdutv1alpha1.TenantGroupVersionKind, postgresqlv1alpha1.PGDatabaseGroupVersionKind, openbaov1alpha1.BaoSecretGroupVersionKind,
	{Group: "external-secrets.io", Version: "v1", Kind: "ExternalSecret"},
	corev1.SchemeGroupVersion.WithKind("Secret"), corev1.SchemeGroupVersion.WithKind("Pod"),
	appsv1.SchemeGroupVersion.WithKind("Deployment"), appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
}

// objects of a namespace: which they are, what they stand for outside, and what the Secrets hold.
func objects(t *testing.T, ns string) facts {
	t.Helper()
	f := facts{}
	for _, gvk := range kept {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk)
		if err := p.Client.List(t.Context(), l, client.InNamespace(ns)); err != nil {
			t.Fatalf("cannot list %s: %v", gvk.Kind, err)
		}
		for i := range l.Items {
			u := &l.Items[i]
			place := gvk.Kind + "/" + u.GetName()
			f[place] = string(u.GetUID())
			f[place+" external name"] = u.GetAnnotations()["crossplane.io/external-name"]
			switch gvk.Kind {
			case "Deployment", "ReplicaSet":
				f[place+" generation"] = fmt.Sprint(u.GetGeneration())
			case "Secret":
				data, _, _ := unstructured.NestedStringMap(u.Object, "data")
				for k, v := range data {
					f[place+" key "+k] = v
				}
			}
		}
	}
	return f
}

// outside is what there is for a database whose owner has the same name, and for a record: ids, versions, and the row of the role in the
// catalog, which another password would make anew.
func outside(t *testing.T, database, path string) facts {
	t.Helper()
	f := facts{}
	c := superuser(t)
	defer c.Close(context.Background()) // Nothing is left to do with it.
	for place, sql := range map[string]string{
		"oid of database " + database: "SELECT oid::text FROM pg_database WHERE datname = $1",
		"oid of role " + database:     "SELECT oid::text FROM pg_authid WHERE rolname = $1",
		"row of role " + database:     "SELECT xmin::text FROM pg_authid WHERE rolname = $1",
	} {
		v := ""
		if err := c.QueryRow(t.Context(), sql, database).Scan(&v); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			t.Fatalf("cannot look at %s: %v", place, err)
		}
		if v != "" {
			f[place] = v
		}
	}
	s, err := p.Plane.OpenBao.Root().Logical().ReadWithContext(t.Context(), openbao.Mount+"/metadata/"+path)
	if err != nil {
		t.Fatalf("cannot read metadata of record %q: %v", path, err)
	}
	if s != nil {
		versions, _ := s.Data["versions"].(map[string]any)
		f["version of record "+path] = fmt.Sprint(s.Data["current_version"])
		f["versions of record "+path] = fmt.Sprint(len(versions))
	}
	return f
}
