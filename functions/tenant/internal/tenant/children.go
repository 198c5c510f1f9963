package tenant

import (
	"cmp"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
	"github.com/ryuvia/provider-terdut/functions/internal/delivery"
	"github.com/ryuvia/provider-terdut/functions/internal/names"
)

// Composition resource names. Crossplane finds existing composed resources by them, so they never change.
const (
	ResourceDatabase       = "database"
	ResourceCredential     = "credential"
	ResourceExternalSecret = "external-secret"
	ResourcePolicy         = "policy"
	ResourceAuthRole       = "auth-role"
	ResourceAccount        = "service-account"
	ResourceStore          = "secret-store"
)

// Keys of the record, and so of the Secret.
const (
	keyHost     = "host"
	keyHostAddr = "hostaddr"
	keyPort     = "port"
	keyDatabase = "dbname"
	keyUsername = "username"
	keyPassword = "password"
	keySSLMode  = "sslmode"
	keyURI      = "uri"
	keyCA       = "ca.crt"
)

// The composed resources, as observed.
type (
	database       = composite.Object[postgresqlv1alpha1.PGDatabaseSpec, postgresqlv1alpha1.PGDatabaseStatus]
	credential     = composite.Object[openbaov1alpha1.BaoSecretSpec, openbaov1alpha1.BaoSecretStatus]
	externalSecret = delivery.ExternalSecret
)

// A tenant is a composite with what is observed of its composed resources.
type tenant struct {
	subject composite.Subject
	spec    v1alpha1.TenantSpec

	// What is observed; nil when absent.
	database       *database
	credential     *credential
	externalSecret *externalSecret
	access         accessObjects

	names tenantNames
	// store that the ExternalSecret reads through.
	store v1alpha1.SecretStoreReference
}

// Names of a tenant, outside and of its composed resources.
type tenantNames struct {
	database, owner, path, secret                          string
	databaseObject, credentialObject, externalSecretObject string
	// access is the name of the policy and the role in OpenBao.
	access                                               string
	policyObject, roleObject, accountObject, storeObject string
}

// newTenant reads a composite and its composed resources.
func newTenant(xr *structpb.Struct, observed map[string]*structpb.Struct, required map[string][]*structpb.Struct) (*tenant, error) {
	t := &tenant{}
	var err error
	if t.subject, err = composite.SubjectOf(xr, required); err != nil {
		return nil, fmt.Errorf("composite: %w", err)
	}
	if t.spec, err = specOf(xr); err != nil {
		return nil, fmt.Errorf("composite: %w", err)
	}
	t.database, err = composite.Observe[postgresqlv1alpha1.PGDatabaseSpec, postgresqlv1alpha1.PGDatabaseStatus](t.subject, observed, ResourceDatabase, postgresqlv1alpha1.PGDatabaseKind)
	if err != nil {
		return nil, err
	}
	t.credential, err = composite.Observe[openbaov1alpha1.BaoSecretSpec, openbaov1alpha1.BaoSecretStatus](t.subject, observed, ResourceCredential, openbaov1alpha1.BaoSecretKind)
	if err != nil {
		return nil, err
	}
	t.externalSecret, err = composite.Observe[delivery.Spec, delivery.Status](t.subject, observed, ResourceExternalSecret, delivery.Kind)
	if err != nil {
		return nil, err
	}
	if t.access, err = observeAccess(t.subject, observed); err != nil {
		return nil, err
	}
	t.names = t.resolveNames()
	return t, nil
}

// resolveNames of this tenant. What the spec does not say follows the default rules, unless a composed resource already has a name by
// an older rule: then that name stays. Any of the composed resources may be the one that is left to remember it.
func (t *tenant) resolveNames() tenantNames {
	n := tenantNames{}
	if t.spec.Database != nil {
		n.database = *t.spec.Database
	}
	if t.spec.Owner != nil {
		n.owner = *t.spec.Owner
	}
	if t.spec.SecretName != nil {
		n.secret = *t.spec.SecretName
	}

	if d := t.database; d != nil {
		p := d.Spec.ForProvider
		if p.Database != nil {
			n.database = cmp.Or(n.database, *p.Database)
		}
		n.owner = cmp.Or(n.owner, p.Owner.Name)
		if p.LoginCheck != nil {
			n.secret = cmp.Or(n.secret, p.LoginCheck.SecretRef.Name)
		}
		n.databaseObject = d.Metadata.Name
		if b := p.Owner.PasswordFrom.BaoSecretRef; b != nil {
			n.credentialObject = b.Name
		}
	}
	if c := t.credential; c != nil {
		n.database = cmp.Or(n.database, t.recordValue(keyDatabase))
		n.owner = cmp.Or(n.owner, t.recordValue(keyUsername))
		n.path = c.Spec.ForProvider.Path
		n.credentialObject = c.Metadata.Name
	}
	if e := t.externalSecret; e != nil {
		n.secret = cmp.Or(n.secret, e.Spec.Target.Name)
		n.path = cmp.Or(n.path, e.Spec.Path())
		n.externalSecretObject = e.Metadata.Name
	}

	composed := func(resource string) string { return names.Composed(t.subject.Name, string(t.subject.UID), resource) }
	return tenantNames{
		database:             cmp.Or(n.database, names.Database(t.subject.Namespace, t.subject.Name)),
		owner:                cmp.Or(n.owner, n.database, names.Database(t.subject.Namespace, t.subject.Name)),
		path:                 cmp.Or(n.path, names.Path(t.subject.Namespace, t.subject.Name)),
		secret:               cmp.Or(n.secret, names.Secret(t.subject.Name)),
		databaseObject:       cmp.Or(n.databaseObject, composed(ResourceDatabase)),
		credentialObject:     cmp.Or(n.credentialObject, composed(ResourceCredential)),
		externalSecretObject: cmp.Or(n.externalSecretObject, composed(ResourceExternalSecret)),
		access:               names.Access(t.subject.Namespace, t.subject.Name),
		policyObject:         cmp.Or(nameOf(t.access.policy), composed(ResourcePolicy)),
		roleObject:           cmp.Or(nameOf(t.access.role), composed(ResourceAuthRole)),
		accountObject:        cmp.Or(nameOf(t.access.account), composed(ResourceAccount)),
		storeObject:          cmp.Or(nameOf(t.access.store), composed(ResourceStore)),
	}
}

func nameOf[Spec, Status any](o *composite.Object[Spec, Status]) string {
	if o == nil {
		return ""
	}
	return o.Metadata.Name
}
