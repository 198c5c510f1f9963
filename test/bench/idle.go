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

// Secret of the plain PGDatabases, and the key of their password. Their users' names are keys of their own.
const (
	plainSecret = "owner"
	plainKey    = "password"
)

// idlePolls of each managed resource are counted, at the provider's default poll interval.
const idlePolls = 2

// idle adds PGDatabases to those of the Tenants, half of them with an extension and all with a login check, and counts what the provider
// does, and what it takes, while nothing changes.
func (b *bench) idle(ctx context.Context) error {
	l := &postgresqlv1alpha1.PGDatabaseList{}
	if err := b.p.Client.List(ctx, l); err != nil {
		return fmt.Errorf("cannot list PGDatabases: %w", err)
	}
	was, err := b.resident(ctx)
	if err != nil {
		return err
	}
	if err := b.addDatabases(ctx, max(0, b.Idle-len(l.Items))); err != nil {
		return err
	}
	n := max(b.Idle, len(l.Items))

	st, err := countStatements(ctx, b.p.Plane.Postgres)
	if err != nil {
		return err
	}
	defer st.close(ctx)
	progressf("Waiting until nothing changes.")
	if err := b.settle(ctx, 1, tenantKinds); err != nil {
		return err
	}
	progressf("Counting %d polls of %d idle PGDatabases.", idlePolls, n)
	before, err := b.versions(ctx)
	if err != nil {
		return err
	}
	from, err := b.count(ctx, st, nil)
	if err != nil {
		return err
	}
	if err := b.polls(ctx, idlePolls, tenantKinds); err != nil {
		return err
	}
	to, err := b.count(ctx, st, nil)
	if err != nil {
		return err
	}
	after, err := b.versions(ctx)
	if err != nil {
		return err
	}
	is, err := b.resident(ctx)
	if err != nil {
		return err
	}
	observes := to.observes[postgresqlv1alpha1.PGDatabaseGroupVersionKind] - from.observes[postgresqlv1alpha1.PGDatabaseGroupVersionKind]
	b.table.rowf(fmt.Sprintf("%d idle PGDatabases, default intervals: Observes", n), "%.0f", observes)
	b.table.rowf("  objects of ours, of which changed their resourceVersion", "%d, %d", len(after), moved(before, after))
	b.table.rowf("  writes to the API server by the provider", "%.0f", to.writes()-from.writes())
	if st.counted {
		b.table.rowf("  SQL statements per PGDatabase Observe", "%s", per(to.sql.management-from.sql.management, observes))
		b.table.rowf("  statements of the provider in tenant databases", "%.0f", to.sql.tenant-from.sql.tenant)
	}
	b.table.rowf("  sessions in tenant databases and logins", "%.0f", to.sql.sessions-from.sql.sessions)
	b.table.rowf("  resident memory of the provider", "%.0f MiB (with %d PGDatabases: %.0f MiB)", is, len(l.Items), was)
	return nil
}

// addDatabases adds PGDatabases that belong to no Tenant.
func (b *bench) addDatabases(ctx context.Context, more int) error {
	progressf("Adding %d PGDatabases.", more)
	if err := b.namespace(ctx, namespacePlain); err != nil {
		return err
	}
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespacePlain, Name: plainSecret}, StringData: map[string]string{plainKey: rand.Text()}}
	objects := make([]client.Object, more)
	for i := range objects {
		db := newDatabase(fmt.Sprintf("plain-%04d", i))
		if i%2 == 0 {
			db.Spec.ForProvider.Extensions = []postgresqlv1alpha1.Extension{{Name: "pgcrypto", Schema: "public"}}
		}
		s.StringData[db.Name] = db.Name
		objects[i] = db
	}
	if err := b.p.Client.Create(ctx, s); err != nil {
		return fmt.Errorf("cannot create Secret: %w", err)
	}
	_, took, err := b.apply(ctx, postgresqlv1alpha1.PGDatabaseGroupVersionKind, namespacePlain, objects)
	if err != nil {
		return err
	}
	if more > 0 {
		b.table.rowf(fmt.Sprintf("%d PGDatabases more at once, from apply until all are Ready", more), "%s", seconds(took))
	}
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
	db.Spec.ForProvider.LoginCheck = &postgresqlv1alpha1.LoginCheck{SecretRef: postgresqlv1alpha1.LoginSecret{
		LocalSecretReference: commonv1alpha1.LocalSecretReference{Name: plainSecret},
		CredentialKeys:       postgresqlv1alpha1.CredentialKeys{UsernameKey: name, PasswordKey: plainKey},
	}}
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
