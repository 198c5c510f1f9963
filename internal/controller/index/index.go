// Package index defines by what the cache finds objects other than by name.
package index

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// Indexes of PGDatabases by what they refer to in their own namespace.
const (
	// PGDatabaseByBaoSecret finds by the name of the BaoSecret that the password comes from.
	PGDatabaseByBaoSecret = "spec.forProvider.owner.passwordFrom.baoSecretRef.name"
	// PGDatabaseBySecret finds by the names of the Secrets that are read.
	PGDatabaseBySecret = "spec.forProvider.secrets"
)

// BaoSecretBySecret finds BaoSecrets by the names of the Secrets that values come from.
const BaoSecretBySecret = "spec.forProvider.data.valueFrom.secretKeyRef.name"

// Indexes of SecretChecks by what they are about, in their own namespace.
const (
	// SecretCheckBySecret finds by the name of the Secret.
	SecretCheckBySecret = "spec.forProvider.secretRef.name"
	// SecretCheckByExternalSecret finds by the name of the ExternalSecret.
	SecretCheckByExternalSecret = "spec.forProvider.externalSecretRef.name"
	// SecretCheckByWorkload finds by WorkloadKey.
	SecretCheckByWorkload = "spec.forProvider.workloadRefs"
)

// WorkloadKey of a workload. The kinds that have pod templates differ by name alone, so the group is not needed.
func WorkloadKey(kind, name string) string { return kind + "/" + name }

// PGDatabases adds the indexes of PGDatabases. It is called once, before the cache starts to hold any.
func PGDatabases(mgr ctrl.Manager) error {
	return add(mgr, &postgresqlv1alpha1.PGDatabase{}, map[string]client.IndexerFunc{
		connect.IndexConfig:   connect.ConfigKeyOf,
		PGDatabaseByBaoSecret: baoSecretOf,
		PGDatabaseBySecret:    secretsOf,
	})
}

// BaoSecrets adds the indexes of BaoSecrets. It is called once, before the cache starts to hold any.
func BaoSecrets(mgr ctrl.Manager) error {
	return add(mgr, &openbaov1alpha1.BaoSecret{}, map[string]client.IndexerFunc{
		connect.IndexConfig: connect.ConfigKeyOf,
		BaoSecretBySecret:   sourcesOf,
	})
}

// Access adds the indexes of what gives access to records. It is called once, before the cache starts to hold any.
func Access(mgr ctrl.Manager) error {
	for _, o := range []client.Object{&accessv1alpha1.Policy{}, &accessv1alpha1.KubernetesAuthRole{}, &accessv1alpha1.AppRole{}} {
		if err := add(mgr, o, map[string]client.IndexerFunc{connect.IndexConfig: connect.ConfigKeyOf}); err != nil {
			return err
		}
	}
	return nil
}

// SecretChecks adds the indexes of SecretChecks. It is called once, before the cache starts to hold any.
func SecretChecks(mgr ctrl.Manager) error {
	return add(mgr, &secretsv1alpha1.SecretCheck{}, map[string]client.IndexerFunc{
		SecretCheckBySecret: checked(func(p secretsv1alpha1.ContractParameters) []string { return []string{p.SecretRef.Name} }),
		SecretCheckByExternalSecret: checked(func(p secretsv1alpha1.ContractParameters) []string {
			if p.ExternalSecretRef == nil {
				return nil
			}
			return []string{p.ExternalSecretRef.Name}
		}),
		SecretCheckByWorkload: checked(func(p secretsv1alpha1.ContractParameters) []string {
			keys := make([]string, len(p.WorkloadRefs))
			for i, w := range p.WorkloadRefs {
				keys[i] = WorkloadKey(w.Kind, w.Name)
			}
			return keys
		}),
	})
}

// checked makes an index of SecretChecks by what they ask for.
func checked(f func(secretsv1alpha1.ContractParameters) []string) client.IndexerFunc {
	return func(o client.Object) []string {
		c, ok := o.(*secretsv1alpha1.SecretCheck)
		if !ok {
			return nil
		}
		return f(c.Spec.ForProvider.ContractParameters)
	}
}

func add(mgr ctrl.Manager, o client.Object, indexes map[string]client.IndexerFunc) error {
	for field, f := range indexes {
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), o, field, f); err != nil {
			return fmt.Errorf("cannot index %T by %s: %w", o, field, err)
		}
	}
	return nil
}

func baoSecretOf(o client.Object) []string {
	db, ok := o.(*postgresqlv1alpha1.PGDatabase)
	if !ok || db.Spec.ForProvider.Owner.PasswordFrom.BaoSecretRef == nil {
		return nil
	}
	return []string{db.Spec.ForProvider.Owner.PasswordFrom.BaoSecretRef.Name}
}

func secretsOf(o client.Object) []string {
	db, ok := o.(*postgresqlv1alpha1.PGDatabase)
	if !ok {
		return nil
	}
	var names []string
	if r := db.Spec.ForProvider.Owner.PasswordFrom.SecretKeyRef; r != nil {
		names = append(names, r.Name)
	}
	if c := db.Spec.ForProvider.LoginCheck; c != nil {
		names = append(names, c.SecretRef.Name)
	}
	return names
}

func sourcesOf(o client.Object) []string {
	s, ok := o.(*openbaov1alpha1.BaoSecret)
	if !ok {
		return nil
	}
	var names []string
	for _, d := range s.Spec.ForProvider.Data {
		if d.ValueFrom != nil {
			names = append(names, d.ValueFrom.SecretKeyRef.Name)
		}
	}
	return names
}
