package tenant

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/api/equality"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// annotationExternalName is Crossplane's, for the name of what a managed resource stands for.
const annotationExternalName = "crossplane.io/external-name"

// renderDatabase renders the PGDatabase.
func (t *tenant) renderDatabase() (*structpb.Struct, error) {
	forProvider := map[string]any{
		"database": t.names.database,
		"owner": map[string]any{
			"name":            t.names.owner,
			"connectionLimit": *t.spec.ConnectionLimit,
			"passwordFrom": map[string]any{
				"baoSecretRef": map[string]any{"name": t.names.credentialObject, "key": keyPassword},
			},
		},
		"deletionPolicy":       string(t.spec.DeletionPolicy),
		"terminateConnections": true,
		"loginCheck": map[string]any{
			"secretRef": map[string]any{"name": t.names.secret, "usernameKey": keyUsername, "passwordKey": keyPassword},
		},
	}
	if len(t.spec.Extensions) > 0 {
		extensions := make([]any, 0, len(t.spec.Extensions))
		for _, e := range t.spec.Extensions {
			ext := map[string]any{"name": e.Name, "schema": e.Schema}
			if e.Version != nil {
				ext["version"] = *e.Version
			}
			extensions = append(extensions, ext)
		}
		forProvider["extensions"] = extensions
	}
	// The provider would set it, and each of its writes counts against Crossplane's circuit breaker of the Tenant.
	annotations := map[string]any{annotationExternalName: t.names.database}
	return composite.Manifest(t.subject, postgresqlv1alpha1.SchemeGroupVersion.String(), postgresqlv1alpha1.PGDatabaseKind, t.names.databaseObject, annotations, map[string]any{
		"providerConfigRef": map[string]any{"kind": composite.ClusterProviderConfig, "name": t.spec.InstanceRef.Name},
		"forProvider":       forProvider,
	})
}

// sameDatabase compares what we own of two PGDatabases. Extensions that somebody else added to the observed one are theirs.
func sameDatabase(desired, observed *database) bool {
	owned := func(d *database) postgresqlv1alpha1.PGDatabaseSpec {
		p := d.Spec.ForProvider
		out := postgresqlv1alpha1.PGDatabaseSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{ProviderConfigReference: d.Spec.ProviderConfigReference},
			ForProvider: postgresqlv1alpha1.PGDatabaseParameters{
				Database:             p.Database,
				Owner:                p.Owner,
				DeletionPolicy:       p.DeletionPolicy,
				TerminateConnections: p.TerminateConnections,
				LoginCheck:           p.LoginCheck,
			},
		}
		for _, e := range p.Extensions {
			ours := func(o postgresqlv1alpha1.Extension) bool { return o.Name == e.Name }
			if slices.ContainsFunc(desired.Spec.ForProvider.Extensions, ours) {
				out.ForProvider.Extensions = append(out.ForProvider.Extensions, e)
			}
		}
		slices.SortFunc(out.ForProvider.Extensions, func(a, b postgresqlv1alpha1.Extension) int { return cmp.Compare(a.Name, b.Name) })
		return out
	}
	return equality.Semantic.DeepEqual(owned(desired), owned(observed))
}

// databaseAnswers of the PGDatabase; there are none when it is absent.
func (t *tenant) databaseAnswers() composite.Answers {
	if t.database == nil {
		return composite.Answers{}
	}
	return composite.Answers{Generation: t.database.Metadata.Generation, Status: t.database.Status.ManagedResourceStatus}
}

// databaseFacts is what is known of the database outside.
func (t *tenant) databaseFacts() postgresqlv1alpha1.PGDatabaseObservation {
	if t.database == nil {
		return postgresqlv1alpha1.PGDatabaseObservation{}
	}
	return t.database.Status.AtProvider
}
