package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// These are the accessors that crossplane-runtime asks of managed resources.
var (
	_ resource.ModernManaged = &EscalationPolicy{}
	_ resource.ManagedList   = &EscalationPolicyList{}
)

// GetCondition of this EscalationPolicy.
func (mg *EscalationPolicy) GetCondition(ct xpv2.ConditionType) xpv2.Condition {
	return mg.Status.GetCondition(ct)
}

// SetConditions of this EscalationPolicy.
func (mg *EscalationPolicy) SetConditions(c ...xpv2.Condition) { mg.Status.SetConditions(c...) }

// GetManagementPolicies of this EscalationPolicy.
func (mg *EscalationPolicy) GetManagementPolicies() xpv2.ManagementPolicies {
	return mg.Spec.ManagementPolicies
}

// SetManagementPolicies of this EscalationPolicy.
func (mg *EscalationPolicy) SetManagementPolicies(p xpv2.ManagementPolicies) {
	mg.Spec.ManagementPolicies = p
}

// GetProviderConfigReference of this EscalationPolicy.
func (mg *EscalationPolicy) GetProviderConfigReference() *xpv2.ProviderConfigReference {
	return mg.Spec.ProviderConfigReference
}

// SetProviderConfigReference of this EscalationPolicy.
func (mg *EscalationPolicy) SetProviderConfigReference(r *xpv2.ProviderConfigReference) {
	mg.Spec.ProviderConfigReference = r
}

// GetWriteConnectionSecretToReference of this EscalationPolicy.
func (mg *EscalationPolicy) GetWriteConnectionSecretToReference() *xpv2.LocalSecretReference {
	return mg.Spec.WriteConnectionSecretToReference
}

// SetWriteConnectionSecretToReference of this EscalationPolicy.
func (mg *EscalationPolicy) SetWriteConnectionSecretToReference(r *xpv2.LocalSecretReference) {
	mg.Spec.WriteConnectionSecretToReference = r
}

// GetObservedGeneration of this EscalationPolicy.
func (mg *EscalationPolicy) GetObservedGeneration() int64 { return mg.Status.GetObservedGeneration() }

// SetObservedGeneration of this EscalationPolicy.
func (mg *EscalationPolicy) SetObservedGeneration(g int64) { mg.Status.SetObservedGeneration(g) }

// GetLastHandledReconcileAt of this EscalationPolicy.
func (mg *EscalationPolicy) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt of this EscalationPolicy.
func (mg *EscalationPolicy) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}

// GetItems of this EscalationPolicyList.
func (l *EscalationPolicyList) GetItems() []resource.Managed {
	items := make([]resource.Managed, len(l.Items))
	for i := range l.Items {
		items[i] = &l.Items[i]
	}
	return items
}
