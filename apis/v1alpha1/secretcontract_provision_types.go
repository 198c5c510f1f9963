package v1alpha1

import openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"

// A ProvisionedKey is a key of the Secret that is made for the contract.
//
// +kubebuilder:validation:XValidation:rule="has(self.value) != has(self.generate)",message="set exactly one of value and generate"
type ProvisionedKey struct {
	// Name of the key, one of requiredKeys.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._-]+$`
	Name string `json:"name"`
	// Value in clear text, for constants that are not secret: whoever may read this contract reads it. Never a password.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	Value *string `json:"value,omitempty"`
	// Generate a value. It is in OpenBao and in the Secret, and nowhere else.
	// +optional
	Generate *openbaov1alpha1.Generate `json:"generate,omitempty"`
}

// A ContractRotation asks for new values.
type ContractRotation struct {
	// Trigger is any string. Changing it generates every generated value anew, once.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._:-]*$`
	Trigger string `json:"trigger"`
}

// A Provision has the Secret made: a record of OpenBao, which outlives the contract, and an ExternalSecret that delivers it. The Secret goes
// with the contract.
//
// +kubebuilder:validation:XValidation:rule="has(self.path) == has(oldSelf.path)",message="path is immutable"
type Provision struct {
	// BaoRef names the OpenBao server: a ClusterProviderConfig of openbao.terdut.ryuvia.com.
	// +optional
	// +kubebuilder:default={name: "default"}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="baoRef is immutable"
	BaoRef ConfigReference `json:"baoRef,omitempty"`
	// SecretStoreRef names the store of External Secrets that reads from the same OpenBao server.
	// +optional
	// +kubebuilder:default={kind: "ClusterSecretStore", name: "openbao"}
	SecretStoreRef SecretStoreReference `json:"secretStoreRef,omitempty"`
	// Path of the record below contracts/<namespace>/ on the mount of the provider config, so that no namespace can take another one's. Default:
	// the contract's name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=400
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="path is immutable"
	// +kubebuilder:validation:XValidation:rule="self.split('/').all(s, s != '' && s != '.' && s != '..')",message="path must not have empty, . or .. segments, nor a leading or trailing slash"
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]+$`
	Path *string `json:"path,omitempty"`
	// Keys that are made, each one of requiredKeys. Other keys of the record are delivered too: that is how a value which nobody can generate
	// gets into the Secret without being in a manifest.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Keys []ProvisionedKey `json:"keys"`
	// Rotation of the generated values.
	// +optional
	Rotation *ContractRotation `json:"rotation,omitempty"`
}

// TypeProvisioned is true when the Secret that the contract asks to be made holds the current version of its record, and when none is asked
// for, with reason NotConfigured. Its other reasons are those of a Tenant's SecretProjected, and of a BaoSecret.
const TypeProvisioned = "Provisioned"

// ReasonNotConfigured : the contract does not ask for it.
const ReasonNotConfigured = "NotConfigured"
