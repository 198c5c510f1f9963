package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
)

// A NamespacesFrom says which namespaces' Teams may use a config, as the Gateway API's allowedListeners does for listeners.
type NamespacesFrom string

// Values of NamespacesFrom. A Team of the config's own namespace always may.
const (
	// NamespacesNone admits no other namespace.
	NamespacesNone NamespacesFrom = "None"
	// NamespacesSame admits no other namespace either.
	NamespacesSame NamespacesFrom = "Same"
	// NamespacesAll admits every namespace.
	NamespacesAll NamespacesFrom = "All"
	// NamespacesSelector admits namespaces whose labels the selector selects.
	NamespacesSelector NamespacesFrom = "Selector"
)

// LocalTeamNamespaces are the namespaces whose Teams may use a namespaced config.
//
// +kubebuilder:validation:XValidation:rule="has(self.selector) == (self.from == 'Selector')",message="set selector for from: Selector, and for that alone"
type LocalTeamNamespaces struct {
	// From says which other namespaces: None, Same (which is None by another name), All, or those that Selector selects.
	// +optional
	// +kubebuilder:default=None
	// +kubebuilder:validation:Enum=None;Same;All;Selector
	From NamespacesFrom `json:"from,omitempty"`
	// Selector of namespaces by their labels.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// LocalAllowedTeams is a namespaced config's consent to be used by Teams of other namespaces. Taking it back stops changes to their
// teams and deletes nothing.
type LocalAllowedTeams struct {
	// +optional
	// +kubebuilder:default={from: None}
	Namespaces LocalTeamNamespaces `json:"namespaces,omitempty"`
}

// TeamNamespaces are the namespaces whose Teams may use a cluster config.
//
// +kubebuilder:validation:XValidation:rule="has(self.selector) == (self.from == 'Selector')",message="set selector for from: Selector, and for that alone"
type TeamNamespaces struct {
	// From says which namespaces: All, or those that Selector selects.
	// +optional
	// +kubebuilder:default=All
	// +kubebuilder:validation:Enum=All;Selector
	From NamespacesFrom `json:"from,omitempty"`
	// Selector of namespaces by their labels.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// AllowedTeams is a cluster config's consent to be used by Teams.
type AllowedTeams struct {
	// +optional
	// +kubebuilder:default={from: All}
	Namespaces TeamNamespaces `json:"namespaces,omitempty"`
}

// A BootstrapReference names a Bootstrap of the same namespace.
type BootstrapReference struct {
	// Name of the Bootstrap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// A ProviderConfigSpec is the desired state of a ProviderConfig.
//
// +kubebuilder:validation:XValidation:rule="has(self.bootstrapRef) != has(self.endpoint)",message="set exactly one of bootstrapRef and endpoint"
// +kubebuilder:validation:XValidation:rule="has(self.endpoint) == has(self.secretRef)",message="set endpoint and secretRef together"
// +kubebuilder:validation:XValidation:rule="!has(self.bootstrapRef) || !has(self.caBundle)",message="set caBundle on the Bootstrap that bootstrapRef names"
type ProviderConfigSpec struct {
	// BootstrapRef names a Bootstrap of this namespace. Endpoint, CA bundle and credential are the Bootstrap's.
	// +optional
	BootstrapRef *BootstrapReference `json:"bootstrapRef,omitempty"`
	// Endpoint of the server, http or https, with or without a path.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/?#@]+(/[^?#]*)?$')",message="must be an http or https URL without credentials, query and fragment",reason=FieldValueForbidden
	Endpoint *string `json:"endpoint,omitempty"`
	// SecretRef selects an instance-scoped key of the server, in a Secret of this namespace.
	// +optional
	SecretRef *commonv1alpha1.LocalSecretKeySelector `json:"secretRef,omitempty"`
	// CABundle is a PEM bundle of CA certificates that the server is verified with. Default: the system's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	CABundle *string `json:"caBundle,omitempty"`
	// AllowedTeams is the consent to be used by Teams of other namespaces.
	// +optional
	// +kubebuilder:default={namespaces: {from: None}}
	AllowedTeams LocalAllowedTeams `json:"allowedTeams,omitempty"`
}

// A ClusterProviderConfigSpec is the desired state of a ClusterProviderConfig.
type ClusterProviderConfigSpec struct {
	// Endpoint of the server, http or https, with or without a path.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/?#@]+(/[^?#]*)?$')",message="must be an http or https URL without credentials, query and fragment",reason=FieldValueForbidden
	Endpoint string `json:"endpoint"`
	// SecretRef selects an instance-scoped key of the server.
	SecretRef commonv1alpha1.SecretKeySelector `json:"secretRef"`
	// CABundle is a PEM bundle of CA certificates that the server is verified with. Default: the system's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	CABundle *string `json:"caBundle,omitempty"`
	// AllowedTeams is the consent to be used by Teams.
	// +optional
	// +kubebuilder:default={namespaces: {from: All}}
	AllowedTeams AllowedTeams `json:"allowedTeams,omitempty"`
}

// ServerObservation is what the probe of a provider config saw.
type ServerObservation struct {
	// Endpoint that was asked.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// TLS is the protocol version in use, empty for clear text.
	// +optional
	TLS string `json:"tls,omitempty"`
}

// A ProviderConfigStatus is the observed state of a provider config.
type ProviderConfigStatus struct {
	xpv2.ProviderConfigStatus `json:",inline"`

	// ObservedGeneration is the generation that the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Server is what the last probe saw.
	// +optional
	Server ServerObservation `json:"server,omitempty"`
}

// A ProviderConfig says how to reach an on-call server, for the Teams of its own namespace and those that it allows.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="HEALTHY",type="string",JSONPath=".status.conditions[?(@.type=='Healthy')].status"
// +kubebuilder:printcolumn:name="ENDPOINT",type="string",JSONPath=".status.server.endpoint"
// +kubebuilder:printcolumn:name="USERS",type="integer",JSONPath=".status.users",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,providerconfig,terdut}
type ProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ProviderConfigSpec   `json:"spec"`
	Status ProviderConfigStatus `json:"status,omitempty"`
}

// ProviderConfigList contains a list of ProviderConfig.
//
// +kubebuilder:object:root=true
type ProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ProviderConfig `json:"items"`
}

// A ClusterProviderConfig says how to reach an on-call server, for the Teams of the namespaces that it allows. Admins own it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="HEALTHY",type="string",JSONPath=".status.conditions[?(@.type=='Healthy')].status"
// +kubebuilder:printcolumn:name="ENDPOINT",type="string",JSONPath=".status.server.endpoint"
// +kubebuilder:printcolumn:name="USERS",type="integer",JSONPath=".status.users",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Cluster,categories={crossplane,providerconfig,terdut}
type ClusterProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterProviderConfigSpec `json:"spec"`
	Status ProviderConfigStatus      `json:"status,omitempty"`
}

// ClusterProviderConfigList contains a list of ClusterProviderConfig.
//
// +kubebuilder:object:root=true
type ClusterProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterProviderConfig `json:"items"`
}

// A ProviderConfigUsage records that a managed resource uses a provider config of either kind. Tools read it; the product itself counts
// the managed resources.
//
// +kubebuilder:object:root=true
// +kubebuilder:printcolumn:name="CONFIG-KIND",type="string",JSONPath=".providerConfigRef.kind"
// +kubebuilder:printcolumn:name="CONFIG-NAME",type="string",JSONPath=".providerConfigRef.name"
// +kubebuilder:printcolumn:name="RESOURCE-KIND",type="string",JSONPath=".resourceRef.kind"
// +kubebuilder:printcolumn:name="RESOURCE-NAME",type="string",JSONPath=".resourceRef.name"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,provider,terdut}
type ProviderConfigUsage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	xpv2.TypedProviderConfigUsage `json:",inline"`
}

// ProviderConfigUsageList contains a list of ProviderConfigUsage.
//
// +kubebuilder:object:root=true
type ProviderConfigUsageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ProviderConfigUsage `json:"items"`
}

func init() {
	SchemeBuilder.Register(
		&ProviderConfig{}, &ProviderConfigList{},
		&ClusterProviderConfig{}, &ClusterProviderConfigList{},
		&ProviderConfigUsage{}, &ProviderConfigUsageList{},
	)
}
