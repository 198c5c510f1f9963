package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
)

// IntegrationKindAlertmanager takes what Alertmanager's webhook sends.
const IntegrationKindAlertmanager = "alertmanager"

// IntegrationParameters are the desired state of an integration.
type IntegrationParameters struct {
	TeamParameters `json:",inline"`

	// Kind of the integration. A changed kind deletes the integration and makes another one, whose URL and key are new: whatever sends to
	// the old ones fails until it has read the Secret again.
	// +kubebuilder:validation:Enum=alertmanager
	Kind string `json:"kind"`
	// Name of the integration on the server. Default: the object's name. It is changed in place.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name *string `json:"name,omitempty"`
	// SecretName of the Secret of this namespace that the webhook is written to, at the keys url and key. The server shows them once: a
	// Secret that is lost is reported, and not written again.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="secretName is immutable"
	SecretName string `json:"secretName"`
}

// IntegrationObservation is the observed state of an integration.
type IntegrationObservation struct {
	// IntegrationID on the server.
	// +optional
	IntegrationID int64 `json:"integrationID,omitempty"`
	// TeamID on the server.
	// +optional
	TeamID int64 `json:"teamID,omitempty"`
	// Kind on the server.
	// +optional
	Kind string `json:"kind,omitempty"`
	// Name on the server.
	// +optional
	Name string `json:"name,omitempty"`
	// SecretRef names the Secret that holds the webhook.
	// +optional
	SecretRef *commonv1alpha1.LocalSecretReference `json:"secretRef,omitempty"`
}

// A IntegrationSpec is the desired state of an Integration.
type IntegrationSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	ForProvider IntegrationParameters `json:"forProvider"`
}

// A IntegrationStatus is the observed state of an Integration.
type IntegrationStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	AtProvider IntegrationObservation `json:"atProvider,omitempty"`
}

// An Integration takes alerts for a team, at a webhook URL that its Secret holds. Its external name is the integration's id on the server.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type="string",JSONPath=".metadata.annotations.crossplane\\.io/external-name"
// +kubebuilder:printcolumn:name="TEAM",type="string",JSONPath=".spec.forProvider.teamRef.name"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,terdut}
type Integration struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   IntegrationSpec   `json:"spec"`
	Status IntegrationStatus `json:"status,omitempty"`
}

// IntegrationList contains a list of Integration.
//
// +kubebuilder:object:root=true
type IntegrationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Integration `json:"items"`
}

// IntegrationKind is the kind's name.
const IntegrationKind = "Integration"

// IntegrationGroupVersionKind identifies the kind.
var IntegrationGroupVersionKind = SchemeGroupVersion.WithKind(IntegrationKind)

func init() {
	SchemeBuilder.Register(&Integration{}, &IntegrationList{})
}
