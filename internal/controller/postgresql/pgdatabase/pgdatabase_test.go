package pgdatabase

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// configured refers to a config by name.
func configured(name string) func(*v1alpha1.PGDatabase) {
	return func(db *v1alpha1.PGDatabase) {
		db.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: connect.KindProviderConfig, Name: name}
	}
}

func TestConnect(t *testing.T) {
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "default", UID: "config"}}
	pc.Spec.Host, pc.Spec.SSLMode = "db.example", "disable"
	pc.Spec.Credentials.SecretRef.Name = "login"
	pc.Spec.Credentials.CredentialKeys = v1alpha1.CredentialKeys{UsernameKey: "username", PasswordKey: "password"}
	named := func(n string) func(*v1alpha1.PGDatabase) {
		return func(db *v1alpha1.PGDatabase) { db.Spec.ForProvider.Database = &n }
	}
	adopts := func(db *v1alpha1.PGDatabase) { meta.SetExternalName(db, "legacy") }

	type want struct {
		names   postgresql.Names
		waiting bool
		err     error
	}
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.PGDatabase
		want   want
	}{
		"Default":           {"The database has the object's name by default.", database(configured("default")), want{names: postgresql.Names{Database: "orders", Role: "shop"}}},
		"ExternalName":      {"An admin may have set another.", database(configured("default"), adopts), want{names: postgresql.Names{Database: "legacy", Role: "shop"}}},
		"Named":             {"The spec's name is the name.", database(configured("default"), named("shop db")), want{names: postgresql.Names{Database: "shop db", Role: "shop"}}},
		"NamedOtherwise":    {"The external name follows the spec.", database(configured("default"), named("shop db"), adopts), want{names: postgresql.Names{Database: "shop db", Role: "shop"}}},
		"Deleted":           {"Nothing is written to an object that goes.", going(commonv1alpha1.DeletionDelete, configured("default")), want{names: postgresql.Names{Database: "orders", Role: "shop"}}},
		"NoConfig":          {"Without a config nothing can be looked at.", database(configured("gone")), want{err: cmpopts.AnyError}},
		"NoConfigAndRetain": {"What is to be left behind needs no config.", going(commonv1alpha1.DeletionRetain, configured("gone")), want{waiting: true}},
		"NoConfigAndDelete": {"What is to be deleted needs its config.", going(commonv1alpha1.DeletionDelete, configured("gone")), want{err: cmpopts.AnyError}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := tc.mg
			mg.Finalizers = []string{"f"}
			c := view(t, &pg{}, mg.DeepCopy(), pc.DeepCopy(), login("login", "admin", password)).connector
			if err := c.kube.Get(t.Context(), client.ObjectKeyFromObject(mg), mg); err != nil {
				t.Fatal(err)
			}
			got := want{}
			e, err := c.Connect(t.Context(), mg)
			if x, ok := e.(*external); ok {
				got.names = x.names
			}
			got.waiting, got.err = err == nil && got.names == postgresql.Names{}, err
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nConnect(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got.waiting {
				if o, err := e.Observe(t.Context(), mg); err != nil || o.ResourceExists {
					t.Errorf("\n%s\nthe object must go at once, got %v and error %v", tc.reason, o, err)
				}
			}
		})
	}
}
