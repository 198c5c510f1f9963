package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
)

// BootstrapParameters are the desired state of the provider's account on an on-call server.
type BootstrapParameters struct {
	// Endpoint of the server, http or https, with or without a path. Credentials go nowhere else, so it cannot be changed.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/?#@]+(/[^?#]*)?$')",message="must be an http or https URL without credentials, query and fragment",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="endpoint is immutable: the account is of one server"
	Endpoint string `json:"endpoint"`
	// CABundle is a PEM bundle of CA certificates that the server is verified with. Default: the system's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	CABundle *string `json:"caBundle,omitempty"`
	// AdminUsername of the first user, who is made when the server has none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	AdminUsername string `json:"adminUsername"`
	// AdminEmail of the first user.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=320
	// +kubebuilder:validation:Pattern=`^[^@\s]+@[^@\s]+$`
	AdminEmail string `json:"adminEmail"`
	// ServiceAccountName of the provider's account on the server.
	// +optional
	// +kubebuilder:default=provider-terdut
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="serviceAccountName is immutable"
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// AdminKeySecretRef is the way in for a server that has users already, for example on a kept database: a Secret key of this namespace
	// with an administrator's API key. It is used while the provider has no key of its own, and never stored elsewhere.
	// +optional
	AdminKeySecretRef *commonv1alpha1.LocalSecretKeySelector `json:"adminKeySecretRef,omitempty"`
	// KeyRotation of the account's key.
	// +optional
	KeyRotation *KeyRotation `json:"keyRotation,omitempty"`
	// DeletionPolicy says what becomes of the account when this object is deleted. Retain keeps it and its credential, for a server that is
	// made again on the same database; Delete removes both.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy commonv1alpha1.DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// BootstrapObservation is the observed state of the provider's account.
type BootstrapObservation struct {
	// ServiceAccountID on the server.
	// +optional
	ServiceAccountID int64 `json:"serviceAccountID,omitempty"`
	// KeyID of the key in use.
	// +optional
	KeyID int64 `json:"keyID,omitempty"`
	// KeyRotationTrigger that the key in use belongs to.
	// +optional
	KeyRotationTrigger string `json:"keyRotationTrigger,omitempty"`
	// CredentialsSecretRef names the Secret in the provider's namespace that holds the key.
	// +optional
	CredentialsSecretRef *CredentialReference `json:"credentialsSecretRef,omitempty"`
	// DeletionPolicy in force.
	// +optional
	DeletionPolicy commonv1alpha1.DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// A BootstrapSpec is the desired state of a Bootstrap.
type BootstrapSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	ForProvider BootstrapParameters `json:"forProvider"`
}

// A BootstrapStatus is the observed state of a Bootstrap.
type BootstrapStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	AtProvider BootstrapObservation `json:"atProvider,omitempty"`
}

// A Bootstrap is the provider's own account on an on-call server: it makes the server's first user when there is none, and with that an
// instance-wide service account. It needs no provider config. Its external name is the account's id.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type="string",JSONPath=".metadata.annotations.crossplane\\.io/external-name"
// +kubebuilder:printcolumn:name="ENDPOINT",type="string",JSONPath=".spec.forProvider.endpoint"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Namespaced,path=bootstraps,categories={crossplane,managed,terdut}
type Bootstrap struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BootstrapSpec   `json:"spec"`
	Status BootstrapStatus `json:"status,omitempty"`
}

// BootstrapList contains a list of Bootstrap.
//
// +kubebuilder:object:root=true
type BootstrapList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Bootstrap `json:"items"`
}

// BootstrapKind is the kind's name.
const BootstrapKind = "Bootstrap"

// BootstrapGroupVersionKind identifies the kind.
var BootstrapGroupVersionKind = SchemeGroupVersion.WithKind(BootstrapKind)

func init() {
	SchemeBuilder.Register(&Bootstrap{}, &BootstrapList{})
}
