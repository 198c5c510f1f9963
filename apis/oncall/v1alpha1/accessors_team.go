package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// These are the accessors that crossplane-runtime asks of managed resources.
var (
	_ resource.ModernManaged = &Team{}
	_ resource.ManagedList   = &TeamList{}
)

// GetCondition of this Team.
func (mg *Team) GetCondition(ct xpv2.ConditionType) xpv2.Condition {
	return mg.Status.GetCondition(ct)
}

// SetConditions of this Team.
func (mg *Team) SetConditions(c ...xpv2.Condition) { mg.Status.SetConditions(c...) }

// GetManagementPolicies of this Team.
func (mg *Team) GetManagementPolicies() xpv2.ManagementPolicies {
	return mg.Spec.ManagementPolicies
}

// SetManagementPolicies of this Team.
func (mg *Team) SetManagementPolicies(p xpv2.ManagementPolicies) { mg.Spec.ManagementPolicies = p }

// GetProviderConfigReference of this Team.
func (mg *Team) GetProviderConfigReference() *xpv2.ProviderConfigReference {
	return mg.Spec.ProviderConfigReference
}

// SetProviderConfigReference of this Team.
func (mg *Team) SetProviderConfigReference(r *xpv2.ProviderConfigReference) {
	mg.Spec.ProviderConfigReference = r
}

// GetWriteConnectionSecretToReference of this Team.
func (mg *Team) GetWriteConnectionSecretToReference() *xpv2.LocalSecretReference {
	return mg.Spec.WriteConnectionSecretToReference
}

// SetWriteConnectionSecretToReference of this Team.
func (mg *Team) SetWriteConnectionSecretToReference(r *xpv2.LocalSecretReference) {
	mg.Spec.WriteConnectionSecretToReference = r
}

// GetObservedGeneration of this Team.
func (mg *Team) GetObservedGeneration() int64 { return mg.Status.GetObservedGeneration() }

// SetObservedGeneration of this Team.
func (mg *Team) SetObservedGeneration(g int64) { mg.Status.SetObservedGeneration(g) }

// GetLastHandledReconcileAt of this Team.
func (mg *Team) GetLastHandledReconcileAt() string { return mg.Status.GetLastHandledReconcileAt() }

// SetLastHandledReconcileAt of this Team.
func (mg *Team) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}

// GetItems of this TeamList.
func (l *TeamList) GetItems() []resource.Managed {
	items := make([]resource.Managed, len(l.Items))
	for i := range l.Items {
		items[i] = &l.Items[i]
	}
	return items
}
