package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// These are the accessors that crossplane-runtime asks of managed resources.
var (
	_ resource.ModernManaged = &Integration{}
	_ resource.ManagedList   = &IntegrationList{}
)

// GetCondition of this Integration.
func (mg *Integration) GetCondition(ct xpv2.ConditionType) xpv2.Condition {
	return mg.Status.GetCondition(ct)
}

// SetConditions of this Integration.
func (mg *Integration) SetConditions(c ...xpv2.Condition) { mg.Status.SetConditions(c...) }

// GetManagementPolicies of this Integration.
func (mg *Integration) GetManagementPolicies() xpv2.ManagementPolicies {
	return mg.Spec.ManagementPolicies
}

// SetManagementPolicies of this Integration.
func (mg *Integration) SetManagementPolicies(p xpv2.ManagementPolicies) {
	mg.Spec.ManagementPolicies = p
}

// GetProviderConfigReference of this Integration.
func (mg *Integration) GetProviderConfigReference() *xpv2.ProviderConfigReference {
	return mg.Spec.ProviderConfigReference
}

// SetProviderConfigReference of this Integration.
func (mg *Integration) SetProviderConfigReference(r *xpv2.ProviderConfigReference) {
	mg.Spec.ProviderConfigReference = r
}

// GetWriteConnectionSecretToReference of this Integration.
func (mg *Integration) GetWriteConnectionSecretToReference() *xpv2.LocalSecretReference {
	return mg.Spec.WriteConnectionSecretToReference
}

// SetWriteConnectionSecretToReference of this Integration.
func (mg *Integration) SetWriteConnectionSecretToReference(r *xpv2.LocalSecretReference) {
	mg.Spec.WriteConnectionSecretToReference = r
}

// GetObservedGeneration of this Integration.
func (mg *Integration) GetObservedGeneration() int64 { return mg.Status.GetObservedGeneration() }

// SetObservedGeneration of this Integration.
func (mg *Integration) SetObservedGeneration(g int64) { mg.Status.SetObservedGeneration(g) }

// GetLastHandledReconcileAt of this Integration.
func (mg *Integration) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt of this Integration.
func (mg *Integration) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}

// GetItems of this IntegrationList.
func (l *IntegrationList) GetItems() []resource.Managed {
	items := make([]resource.Managed, len(l.Items))
	for i := range l.Items {
		items[i] = &l.Items[i]
	}
	return items
}
