package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// These are the accessors that crossplane-runtime asks of managed resources.
var (
	_ resource.ModernManaged = &Bootstrap{}
	_ resource.ManagedList   = &BootstrapList{}
)

// GetCondition of this Bootstrap.
func (mg *Bootstrap) GetCondition(ct xpv2.ConditionType) xpv2.Condition {
	return mg.Status.GetCondition(ct)
}

// SetConditions of this Bootstrap.
func (mg *Bootstrap) SetConditions(c ...xpv2.Condition) { mg.Status.SetConditions(c...) }

// GetManagementPolicies of this Bootstrap.
func (mg *Bootstrap) GetManagementPolicies() xpv2.ManagementPolicies {
	return mg.Spec.ManagementPolicies
}

// SetManagementPolicies of this Bootstrap.
func (mg *Bootstrap) SetManagementPolicies(p xpv2.ManagementPolicies) { mg.Spec.ManagementPolicies = p }

// GetProviderConfigReference of this Bootstrap.
func (mg *Bootstrap) GetProviderConfigReference() *xpv2.ProviderConfigReference {
	return mg.Spec.ProviderConfigReference
}

// SetProviderConfigReference of this Bootstrap.
func (mg *Bootstrap) SetProviderConfigReference(r *xpv2.ProviderConfigReference) {
	mg.Spec.ProviderConfigReference = r
}

// GetWriteConnectionSecretToReference of this Bootstrap.
func (mg *Bootstrap) GetWriteConnectionSecretToReference() *xpv2.LocalSecretReference {
	return mg.Spec.WriteConnectionSecretToReference
}

// SetWriteConnectionSecretToReference of this Bootstrap.
func (mg *Bootstrap) SetWriteConnectionSecretToReference(r *xpv2.LocalSecretReference) {
	mg.Spec.WriteConnectionSecretToReference = r
}

// GetObservedGeneration of this Bootstrap.
func (mg *Bootstrap) GetObservedGeneration() int64 { return mg.Status.GetObservedGeneration() }

// SetObservedGeneration of this Bootstrap.
func (mg *Bootstrap) SetObservedGeneration(g int64) { mg.Status.SetObservedGeneration(g) }

// GetLastHandledReconcileAt of this Bootstrap.
func (mg *Bootstrap) GetLastHandledReconcileAt() string { return mg.Status.GetLastHandledReconcileAt() }

// SetLastHandledReconcileAt of this Bootstrap.
func (mg *Bootstrap) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}

// GetItems of this BootstrapList.
func (l *BootstrapList) GetItems() []resource.Managed {
	items := make([]resource.Managed, len(l.Items))
	for i := range l.Items {
		items[i] = &l.Items[i]
	}
	return items
}
