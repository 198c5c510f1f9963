package e2e

import (
	"context"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// A consent belongs to the config that it is written in, and to who may write that.
func TestConsentIsTheConfigs(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	name, path := named(ns), "consent/"+ns
	sql(t, "CREATE ROLE "+ident(name)+" LOGIN", "GRANT "+ident(name)+" TO terdut_admin WITH ADMIN OPTION", "CREATE DATABASE "+ident(name)+" OWNER "+ident(name))
	kvWrite(t, "data", path, map[string]any{"data": map[string]any{"password": "by hand"}})
	passwordSecret(t, ns, "password")
	target := commonv1alpha1.AdoptionTarget{From: commonv1alpha1.AdoptionFromUnregistered, To: ns + "/orders"}

	// A namespaced config that reaches the same servers, with what its owner allows.
	for from, to := range map[string]string{"postgresql-admin": "admin", "openbao-provider": "openbao"} {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: to}, Data: secretData(t, local.SystemNamespace, from)}
		create(t, s)
	}
	pg := &postgresqlv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "own"}}
	pg.Spec.ServerSpec = server(ns)
	pg.Spec.RegistryDatabase = registry
	pg.Spec.Credentials.SecretRef.Name = "admin"
	pg.Spec.Adoptions = []postgresqlv1alpha1.Adoption{{Database: name, AdoptionTarget: target}}
	bao := &openbaov1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "own"}}
	bao.Spec.Address, bao.Spec.Mount = p.Plane.OpenBao.Address, openbao.Mount
	bao.Spec.Auth.Token = &openbaov1alpha1.LocalTokenAuth{SecretRef: commonv1alpha1.LocalSecretKeySelector{Name: "openbao", Key: "token"}}
	bao.Spec.Adoptions = []openbaov1alpha1.Adoption{{Path: openbao.Mount + "/" + path, AdoptionTarget: target}}
	for _, o := range []conditioned{pg, bao} {
		create(t, o)
		becomes(t, o, postgresqlv1alpha1.TypeHealthy, corev1.ConditionTrue, "")
	}
	before := world(t, name, path)
	db, record := newDatabase(ns, "orders", name), newRecord(ns, "orders", path)
	create(t, db)
	create(t, record)
	notReadyFor(t, postgresqlv1alpha1.ReasonConflict, db, record)
	passes(t, databases, 2)
	notReadyFor(t, postgresqlv1alpha1.ReasonConflict, db, record)
	if diff := before.changes(world(t, name, path)); len(diff) > 0 {
		t.Errorf("a consent in another config changed %q", diff)
	}

	// Somebody who may do everything in the namespace may not consent for the cluster.
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "developer"}}
	binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"}
	binding.Subjects = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "developer"}}
	create(t, binding)
	cfg := p.Plane.Config()
	cfg.Impersonate.UserName = "developer"
	developer, err := client.New(cfg, client.Options{Scheme: p.Client.Scheme()})
	if err != nil {
		t.Fatalf("cannot create client: %v", err)
	}
	eventually(t, "the developer to be one", func(ctx context.Context) error {
		return developer.List(ctx, &corev1.SecretList{}, client.InNamespace(ns))
	})
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"adoptions":[]}}`))
	for _, o := range []client.Object{&postgresqlv1alpha1.ClusterProviderConfig{}, &openbaov1alpha1.ClusterProviderConfig{}} {
		o.SetName("default")
		if err := developer.Patch(t.Context(), o, patch); !kerrors.IsForbidden(err) {
			t.Errorf("a user of a namespace may consent in %T: %v", o, err)
		}
	}

	// With the config that the consent is in, it counts.
	for _, o := range []client.Object{db, record} {
		remove(t, o)
		isGone(t, o)
	}
	db, record = newDatabase(ns, "orders", name), newRecord(ns, "orders", path)
	db.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "own"}
	record.Spec.ProviderConfigReference = db.Spec.ProviderConfigReference
	create(t, db)
	create(t, record)
	bothReady(t, db, record)
}
