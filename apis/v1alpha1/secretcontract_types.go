package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
)

// A SecretContractSpec is what an application needs of a Secret that it consumes.
//
// +kubebuilder:validation:XValidation:rule="!has(self.provision) || !has(self.externalSecretRef)",message="provision makes the ExternalSecret: set one of provision and externalSecretRef"
// +kubebuilder:validation:XValidation:rule="!has(self.provision) || self.provision.keys.all(k, self.requiredKeys.exists(r, r.name == k.name))",message="provision.keys may only name keys of requiredKeys"
// +kubebuilder:validation:XValidation:rule="!has(self.provision) || self.provision.keys.all(k, !has(k.generate) || self.requiredKeys.all(r, r.name != k.name || (!has(r.minLength) || r.minLength <= k.generate.length) && (!has(r.maxLength) || r.maxLength >= k.generate.length)))",message="provision.keys must generate values as long as requiredKeys ask for"
// +kubebuilder:validation:XValidation:rule="!has(self.provision) || !has(oldSelf.provision) || self.secretRef.name == oldSelf.secretRef.name",message="secretRef is immutable while the Secret is provisioned"
type SecretContractSpec struct {
	secretsv1alpha1.ContractParameters `json:",inline"`

	// CheckRequest is any string. Changing it asks for another look; the status echoes it once that was taken.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	CheckRequest string `json:"checkRequest,omitempty"`

	// Provision has the Secret made from one record of OpenBao, instead of by somebody else.
	// +optional
	Provision *Provision `json:"provision,omitempty"`
}

// Reason of a SecretContract's conditions that is not taken over from its SecretCheck.
const (
	// ReasonNotChecked : the provider has not answered for this generation yet.
	ReasonNotChecked = "NotChecked"
)

// A SecretContractStatus is what the last look found. It holds no value of the Secret.
type SecretContractStatus struct {
	secretsv1alpha1.ContractObservation `json:",inline"`

	// KVURL is the record in OpenBao's API that the Secret is made from. It holds no value.
	// +optional
	KVURL string `json:"kvURL,omitempty"`
	// ObservedGeneration is the generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// A SecretContract says what an application needs of a Secret, and its status whether it gets that. It changes neither the Secret nor the
// application.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="SATISFIED",type="string",JSONPath=".status.conditions[?(@.type=='Satisfied')].status"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Satisfied')].reason"
// +kubebuilder:printcolumn:name="SECRET",type="string",JSONPath=".spec.secretRef.name"
// +kubebuilder:printcolumn:name="MISSING",type="integer",JSONPath=".status.missingKeyCount"
// +kubebuilder:printcolumn:name="VIOLATIONS",type="integer",JSONPath=".status.violationCount"
// +kubebuilder:resource:scope=Namespaced,path=secretcontracts,shortName=scn,categories={terdut}
type SecretContract struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SecretContractSpec   `json:"spec"`
	Status SecretContractStatus `json:"status,omitempty"`
}

// SecretContractList contains a list of SecretContract.
//
// +kubebuilder:object:root=true
type SecretContractList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []SecretContract `json:"items"`
}

// SecretContractGroupVersionKind identifies the kind.
var SecretContractGroupVersionKind = SchemeGroupVersion.WithKind("SecretContract")

func init() {
	SchemeBuilder.Register(&SecretContract{}, &SecretContractList{})
}
