package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// These are the accessors that crossplane-runtime asks of managed resources.
var (
	_ resource.ModernManaged = &DeadmanSwitch{}
	_ resource.ManagedList   = &DeadmanSwitchList{}
)

// GetCondition of this DeadmanSwitch.
func (mg *DeadmanSwitch) GetCondition(ct xpv2.ConditionType) xpv2.Condition {
	return mg.Status.GetCondition(ct)
}

// SetConditions of this DeadmanSwitch.
func (mg *DeadmanSwitch) SetConditions(c ...xpv2.Condition) { mg.Status.SetConditions(c...) }

// GetManagementPolicies of this DeadmanSwitch.
func (mg *DeadmanSwitch) GetManagementPolicies() xpv2.ManagementPolicies {
	return mg.Spec.ManagementPolicies
}

// SetManagementPolicies of this DeadmanSwitch.
func (mg *DeadmanSwitch) SetManagementPolicies(p xpv2.ManagementPolicies) {
	mg.Spec.ManagementPolicies = p
}

// GetProviderConfigReference of this DeadmanSwitch.
func (mg *DeadmanSwitch) GetProviderConfigReference() *xpv2.ProviderConfigReference {
	return mg.Spec.ProviderConfigReference
}

// SetProviderConfigReference of this DeadmanSwitch.
func (mg *DeadmanSwitch) SetProviderConfigReference(r *xpv2.ProviderConfigReference) {
	mg.Spec.ProviderConfigReference = r
}

// GetWriteConnectionSecretToReference of this DeadmanSwitch.
func (mg *DeadmanSwitch) GetWriteConnectionSecretToReference() *xpv2.LocalSecretReference {
	return mg.Spec.WriteConnectionSecretToReference
}

// SetWriteConnectionSecretToReference of this DeadmanSwitch.
func (mg *DeadmanSwitch) SetWriteConnectionSecretToReference(r *xpv2.LocalSecretReference) {
	mg.Spec.WriteConnectionSecretToReference = r
}

// GetObservedGeneration of this DeadmanSwitch.
func (mg *DeadmanSwitch) GetObservedGeneration() int64 { return mg.Status.GetObservedGeneration() }

// SetObservedGeneration of this DeadmanSwitch.
func (mg *DeadmanSwitch) SetObservedGeneration(g int64) { mg.Status.SetObservedGeneration(g) }

// GetLastHandledReconcileAt of this DeadmanSwitch.
func (mg *DeadmanSwitch) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt of this DeadmanSwitch.
func (mg *DeadmanSwitch) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}

// GetItems of this DeadmanSwitchList.
func (l *DeadmanSwitchList) GetItems() []resource.Managed {
	items := make([]resource.Managed, len(l.Items))
	for i := range l.Items {
		items[i] = &l.Items[i]
	}
	return items
}
