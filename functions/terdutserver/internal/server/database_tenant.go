package server

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// keyPassword of a Tenant's Secret.
const keyPassword = "password"

// A tenant is what is read of a Tenant.
type tenant composite.Object[tenantSpec, tenantStatus]

// tenantSpec is what is read of the spec of a Tenant.
type tenantSpec struct {
	// ResourceRef names the composite that the Tenant is the claim of. A Tenant that is a composite itself has none.
	ResourceRef *struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"resourceRef"`
}

// composite is the name of the composite that the Tenant is, or is the claim of.
func (t *tenant) composite() string {
	if r := t.Spec.ResourceRef; r != nil {
		return r.Name
	}
	return t.Metadata.Name
}

// composes tells whether an object is controlled by that composite. Of the composite behind a claim the uid is not known here.
func (t *tenant) composes(m composite.Meta) bool {
	if r := t.Spec.ResourceRef; r != nil {
		return slices.ContainsFunc(m.OwnerReferences, func(o composite.OwnerReference) bool { return o.Controller && o.Kind == r.Kind && o.Name == r.Name })
	}
	return m.ControlledBy(t.Metadata.UID)
}

// tenantStatus is what is read of the status of a Tenant.
type tenantStatus struct {
	xpv2.ConditionedStatus `json:",inline"`

	Database           string                               `json:"database"`
	Owner              string                               `json:"owner"`
	Host               string                               `json:"host"`
	Port               int32                                `json:"port"`
	SecretRef          *commonv1alpha1.LocalSecretReference `json:"secretRef"`
	ObservedGeneration int64                                `json:"observedGeneration"`
}

// resolveTenant takes the database of a Tenant of this namespace.
func (s *server) resolveTenant(name string) error {
	t, asked, err := required[tenant](s, requiredTenant)
	switch {
	case err != nil:
		return err
	case !asked:
		s.database = databaseWaits("It is not known yet whether Tenant %q is ready.", name)
		return nil
	case t == nil:
		s.database = databaseMissing(v1alpha1.ReasonNotFound, "There is no Tenant %q in this namespace.", name)
		return nil
	case !tenantReady(t):
		s.database = databaseWaits("Tenant %q is not Ready; its own conditions say why.", name)
		return nil
	}

	d, err := s.tenantDatabase(t)
	if err != nil {
		return err
	}
	if d == nil || d.Host == "" {
		s.database = databaseWaits("It is not known yet how Tenant %q is connected to.", name)
		s.database.tenant = t
		return nil
	}
	c := connection{
		dsn:      dsn(t.Status.Owner, t.Status.Host, t.Status.Port, t.Status.Database, string(d.SSLMode)),
		password: &commonv1alpha1.LocalSecretKeySelector{Name: t.Status.SecretRef.Name, Key: keyPassword},
	}
	if d.CABundle != "" {
		c.caSecret = t.Status.SecretRef.Name
	}
	s.database = databaseReady(c)
	s.database.tenant = t
	return nil
}

// tenantReady tells whether a Tenant is Ready with its current spec, and says what to connect to.
func tenantReady(t *tenant) bool {
	st := t.Status
	return t.Metadata.DeletionTimestamp == "" && st.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue &&
		st.ObservedGeneration == t.Metadata.Generation && st.Host != "" && st.Port > 0 && st.SecretRef != nil
}

// tenantDatabase is what the database of a Tenant says of how it is connected to, beyond what the Tenant says: whether it is verified, and
// with whose certificates.
func (s *server) tenantDatabase(t *tenant) (*postgresqlv1alpha1.ConsumerObservation, error) {
	type pgDatabase = composite.Object[struct{}, postgresqlv1alpha1.PGDatabaseStatus]
	var found *postgresqlv1alpha1.ConsumerObservation
	for _, i := range s.in.Required[requiredTenantDatabase] {
		d := &pgDatabase{}
		if err := composite.Decode(i, d); err != nil {
			return nil, err
		}
		// Anybody may set a label.
		if t.composes(d.Metadata) {
			found = &d.Status.AtProvider.Consumer
		}
	}
	return found, nil
}
