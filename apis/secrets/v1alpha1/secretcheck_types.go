package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// SecretCheckParameters are what is checked.
type SecretCheckParameters struct {
	ContractParameters `json:",inline"`

	// ContractGeneration is the generation of the contract that this is the check of. It is echoed in the status.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ContractGeneration int64 `json:"contractGeneration,omitempty"`
	// CheckRequest is any string. It is echoed in the status once the Secret has been evaluated again.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	CheckRequest string `json:"checkRequest,omitempty"`
}

// SecretCheckObservation is what was found.
type SecretCheckObservation struct {
	ContractObservation `json:",inline"`

	// ContractGeneration that was evaluated.
	// +optional
	ContractGeneration int64 `json:"contractGeneration,omitempty"`
}

// A SecretCheckSpec is the desired state of a SecretCheck. It has no connection details: to publish them, even none, would be to read and
// write a Secret that nobody has asked to check.
//
// +kubebuilder:validation:XValidation:rule="!has(self.writeConnectionSecretToRef)",message="a SecretCheck has no connection details: remove writeConnectionSecretToRef"
type SecretCheckSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	ForProvider SecretCheckParameters `json:"forProvider"`
}

// A SecretCheckStatus is the observed state of a SecretCheck.
type SecretCheckStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	AtProvider SecretCheckObservation `json:"atProvider,omitempty"`
}

// A SecretCheck says whether a Secret holds what a contract asks for, and whether it is delivered and consumed. It changes nothing
// anywhere and needs no provider config.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="SECRET",type="string",JSONPath=".spec.forProvider.secretRef.name"
// +kubebuilder:printcolumn:name="MISSING",type="integer",JSONPath=".status.atProvider.missingKeyCount"
// +kubebuilder:printcolumn:name="VIOLATIONS",type="integer",JSONPath=".status.atProvider.violationCount"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,terdut}
type SecretCheck struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SecretCheckSpec   `json:"spec"`
	Status SecretCheckStatus `json:"status,omitempty"`
}

// SecretCheckList contains a list of SecretCheck.
//
// +kubebuilder:object:root=true
type SecretCheckList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []SecretCheck `json:"items"`
}

// SecretCheckKind is the kind's name.
const SecretCheckKind = "SecretCheck"

// SecretCheckGroupVersionKind identifies the kind.
var SecretCheckGroupVersionKind = SchemeGroupVersion.WithKind(SecretCheckKind)

func init() {
	SchemeBuilder.Register(&SecretCheck{}, &SecretCheckList{})
}
