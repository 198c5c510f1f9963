package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// These are the accessors that crossplane-runtime asks of managed resources and provider configs.
var (
	_ resource.ModernManaged            = &PGDatabase{}
	_ resource.ManagedList              = &PGDatabaseList{}
	_ resource.ProviderConfig           = &ProviderConfig{}
	_ resource.ProviderConfig           = &ClusterProviderConfig{}
	_ resource.TypedProviderConfigUsage = &ProviderConfigUsage{}
	_ resource.ProviderConfigUsageList  = &ProviderConfigUsageList{}
)

// GetCondition of this PGDatabase.
func (mg *PGDatabase) GetCondition(ct xpv2.ConditionType) xpv2.Condition {
	return mg.Status.GetCondition(ct)
}

// SetConditions of this PGDatabase.
func (mg *PGDatabase) SetConditions(c ...xpv2.Condition) { mg.Status.SetConditions(c...) }

// GetManagementPolicies of this PGDatabase.
func (mg *PGDatabase) GetManagementPolicies() xpv2.ManagementPolicies {
	return mg.Spec.ManagementPolicies
}

// SetManagementPolicies of this PGDatabase.
func (mg *PGDatabase) SetManagementPolicies(p xpv2.ManagementPolicies) {
	mg.Spec.ManagementPolicies = p
}

// GetProviderConfigReference of this PGDatabase.
func (mg *PGDatabase) GetProviderConfigReference() *xpv2.ProviderConfigReference {
	return mg.Spec.ProviderConfigReference
}

// SetProviderConfigReference of this PGDatabase.
func (mg *PGDatabase) SetProviderConfigReference(r *xpv2.ProviderConfigReference) {
	mg.Spec.ProviderConfigReference = r
}

// GetWriteConnectionSecretToReference of this PGDatabase.
func (mg *PGDatabase) GetWriteConnectionSecretToReference() *xpv2.LocalSecretReference {
	return mg.Spec.WriteConnectionSecretToReference
}

// SetWriteConnectionSecretToReference of this PGDatabase.
func (mg *PGDatabase) SetWriteConnectionSecretToReference(r *xpv2.LocalSecretReference) {
	mg.Spec.WriteConnectionSecretToReference = r
}

// GetObservedGeneration of this PGDatabase.
func (mg *PGDatabase) GetObservedGeneration() int64 { return mg.Status.GetObservedGeneration() }

// SetObservedGeneration of this PGDatabase.
func (mg *PGDatabase) SetObservedGeneration(g int64) { mg.Status.SetObservedGeneration(g) }

// GetLastHandledReconcileAt of this PGDatabase.
func (mg *PGDatabase) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt of this PGDatabase.
func (mg *PGDatabase) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}

// GetItems of this PGDatabaseList.
func (l *PGDatabaseList) GetItems() []resource.Managed {
	items := make([]resource.Managed, len(l.Items))
	for i := range l.Items {
		items[i] = &l.Items[i]
	}
	return items
}

// GetCondition of this ProviderConfig.
func (p *ProviderConfig) GetCondition(ct xpv2.ConditionType) xpv2.Condition {
	return p.Status.GetCondition(ct)
}

// SetConditions of this ProviderConfig.
func (p *ProviderConfig) SetConditions(c ...xpv2.Condition) { p.Status.SetConditions(c...) }

// GetUsers of this ProviderConfig.
func (p *ProviderConfig) GetUsers() int64 { return p.Status.Users }

// SetUsers of this ProviderConfig.
func (p *ProviderConfig) SetUsers(i int64) { p.Status.Users = i }

// GetCondition of this ClusterProviderConfig.
func (p *ClusterProviderConfig) GetCondition(ct xpv2.ConditionType) xpv2.Condition {
	return p.Status.GetCondition(ct)
}

// SetConditions of this ClusterProviderConfig.
func (p *ClusterProviderConfig) SetConditions(c ...xpv2.Condition) { p.Status.SetConditions(c...) }

// GetUsers of this ClusterProviderConfig.
func (p *ClusterProviderConfig) GetUsers() int64 { return p.Status.Users }

// SetUsers of this ClusterProviderConfig.
func (p *ClusterProviderConfig) SetUsers(i int64) { p.Status.Users = i }

// GetProviderConfigReference of this ProviderConfigUsage.
func (u *ProviderConfigUsage) GetProviderConfigReference() xpv2.ProviderConfigReference {
	return u.ProviderConfigReference
}

// SetProviderConfigReference of this ProviderConfigUsage.
func (u *ProviderConfigUsage) SetProviderConfigReference(r xpv2.ProviderConfigReference) {
	u.ProviderConfigReference = r
}

// GetResourceReference of this ProviderConfigUsage.
func (u *ProviderConfigUsage) GetResourceReference() xpv2.TypedReference { return u.ResourceReference }

// SetResourceReference of this ProviderConfigUsage.
func (u *ProviderConfigUsage) SetResourceReference(r xpv2.TypedReference) { u.ResourceReference = r }

// GetItems of this ProviderConfigUsageList.
func (l *ProviderConfigUsageList) GetItems() []resource.ProviderConfigUsage {
	items := make([]resource.ProviderConfigUsage, len(l.Items))
	for i := range l.Items {
		items[i] = &l.Items[i]
	}
	return items
}
