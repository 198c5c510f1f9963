package main

import (
	"context"
	"crypto/rand"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
)

// Secret of the plain PGDatabases, and the key of their password.
const (
	plainSecret = "owner"
	plainKey    = "password"
)

// memory measures the provider's memory before and after PGDatabases are added to those of the Tenants.
func (b *bench) memory(ctx context.Context) error {
	l := &postgresqlv1alpha1.PGDatabaseList{}
	if err := b.p.Client.List(ctx, l); err != nil {
		return fmt.Errorf("cannot list PGDatabases: %w", err)
	}
	was, err := b.resident(ctx)
	if err != nil {
		return err
	}
	more := max(0, b.Databases-len(l.Items))
	progressf("Adding %d PGDatabases.", more)
	if err := b.namespace(ctx, namespacePlain); err != nil {
		return err
	}
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespacePlain, Name: plainSecret}, StringData: map[string]string{plainKey: rand.Text()}}
	if err := b.p.Client.Create(ctx, s); err != nil {
		return fmt.Errorf("cannot create Secret: %w", err)
	}
	objects := make([]client.Object, more)
	for i := range objects {
		objects[i] = newDatabase(fmt.Sprintf("plain-%04d", i))
	}
	_, took, err := b.apply(ctx, postgresqlv1alpha1.PGDatabaseGroupVersionKind, namespacePlain, objects)
	if err != nil {
		return err
	}
	is, err := b.resident(ctx)
	if err != nil {
		return err
	}
	if more > 0 {
		b.table.rowf(fmt.Sprintf("%d PGDatabases more at once, from apply until all are Ready", more), "%s", seconds(took))
	}
	b.table.rowf(fmt.Sprintf("resident memory of the provider with %d PGDatabases", len(l.Items)+more), "%.0f MiB (with %d: %.0f MiB)", is, len(l.Items), was)
	return nil
}

// newDatabase is a PGDatabase that belongs to no Tenant.
func newDatabase(name string) *postgresqlv1alpha1.PGDatabase {
	db := &postgresqlv1alpha1.PGDatabase{ObjectMeta: metav1.ObjectMeta{Namespace: namespacePlain, Name: name}}
	db.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
	db.Spec.ForProvider.Owner = postgresqlv1alpha1.Owner{
		Name:         name,
		PasswordFrom: postgresqlv1alpha1.PasswordSource{SecretKeyRef: &commonv1alpha1.LocalSecretKeySelector{Name: plainSecret, Key: plainKey}},
	}
	return db
}

// resident memory of the provider in MiB.
func (b *bench) resident(ctx context.Context) (float64, error) {
	m, err := b.providerMetrics(ctx)
	if err != nil {
		return 0, err
	}
	return m.sum("process_resident_memory_bytes", all) / (1 << 20), nil
}
