package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
)

// An SSLMode is how a connection is encrypted and the server verified, in the terms of libpq's sslmode.
// Modes that fall back to clear text (allow, prefer) do not exist here.
//
// +kubebuilder:validation:Enum=disable;require;verify-ca;verify-full
type SSLMode string

// The SSL modes.
const (
	SSLDisable    SSLMode = "disable"
	SSLRequire    SSLMode = "require"
	SSLVerifyCA   SSLMode = "verify-ca"
	SSLVerifyFull SSLMode = "verify-full"
)

// ConsumerEndpoint is what tenants are told to connect to. What is unset is as for the provider itself.
type ConsumerEndpoint struct {
	// Host is the DNS name that applications connect to.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Host *string `json:"host,omitempty"`
	// HostAddr is an IP address that applications may connect to while TLS verifies Host.
	// +optional
	// +kubebuilder:validation:MaxLength=45
	HostAddr *string `json:"hostaddr,omitempty"`
	// Port that applications connect to.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// CABundle is the PEM bundle of CA certificates that applications verify the server with. It is public.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	CABundle *string `json:"caBundle,omitempty"`
}

// An Adoption is an admin's permission for a PGDatabase to take over an existing database and its owner role.
type Adoption struct {
	// Database that may be taken over.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Database string `json:"database"`

	commonv1alpha1.AdoptionTarget `json:",inline"`
}

// ServerSpec are the fields that both kinds of provider config share.
type ServerSpec struct {
	// Host is the DNS name of the server. TLS verifies it, also when hostaddr is set.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host"`
	// HostAddr is an IP address to connect to instead of resolving host.
	// +optional
	// +kubebuilder:validation:MaxLength=45
	HostAddr *string `json:"hostaddr,omitempty"`
	// Port of the server.
	// +optional
	// +kubebuilder:default=5432
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
	// Database that the management connection uses.
	// +optional
	// +kubebuilder:default=postgres
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self != 'template0' && self != 'template1'",message="template databases must be free of connections, name another one"
	Database string `json:"database,omitempty"`
	// RegistryDatabase holds the ownership registry. It is created when missing.
	// +optional
	// +kubebuilder:default=terdut
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="registryDatabase is immutable"
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 63",message="registryDatabase must be at most 63 bytes"
	// +kubebuilder:validation:XValidation:rule="self != 'template0' && self != 'template1'",message="template databases must be free of connections, name another one"
	RegistryDatabase string `json:"registryDatabase,omitempty"`
	// SSLMode of every connection of the provider, and what tenants are told to use. There is never a fallback to clear text.
	// +optional
	// +kubebuilder:default=verify-full
	SSLMode SSLMode `json:"sslMode,omitempty"`
	// CABundle is a PEM bundle of CA certificates that the server is verified with. Default: the system's.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	CABundle *string `json:"caBundle,omitempty"`
	// Consumer is what tenants are told to connect to, where it differs from how the provider connects.
	// +optional
	Consumer *ConsumerEndpoint `json:"consumer,omitempty"`
	// MaxConnections bounds all connections that the provider holds to this server at any time, for management, in tenant databases and
	// for login checks together.
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=3
	// +kubebuilder:validation:Maximum=200
	MaxConnections int32 `json:"maxConnections,omitempty"`
	// VerifyInterval is how often logins and extensions of an unchanged database are verified again. Default: the provider's
	// --verify-interval.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10s')",message="verifyInterval must be at least 10s"
	VerifyInterval *metav1.Duration `json:"verifyInterval,omitempty"`
	// Adoptions are the admin's permissions to take over existing databases.
	// +optional
	// +listType=map
	// +listMapKey=database
	// +kubebuilder:validation:MaxItems=256
	Adoptions []Adoption `json:"adoptions,omitempty"`
	// ControlPlanes are the admin's permissions to take over what other control planes recorded.
	// +optional
	// +listType=map
	// +listMapKey=from
	// +kubebuilder:validation:MaxItems=16
	ControlPlanes []commonv1alpha1.ControlPlaneAdoption `json:"controlPlanes,omitempty"`
}

// CredentialKeys are the keys of a credential Secret.
type CredentialKeys struct {
	// UsernameKey is the Secret's key of the user name.
	// +optional
	// +kubebuilder:default=username
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	UsernameKey string `json:"usernameKey,omitempty"`
	// PasswordKey is the Secret's key of the password.
	// +optional
	// +kubebuilder:default=password
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	PasswordKey string `json:"passwordKey,omitempty"`
}

// LocalCredentials are the management role's credentials in the config's own namespace.
type LocalCredentials struct {
	// SecretRef names a Secret of this namespace.
	SecretRef commonv1alpha1.LocalSecretReference `json:"secretRef"`

	CredentialKeys `json:",inline"`
}

// Credentials are the management role's credentials in any namespace.
type Credentials struct {
	// SecretRef names a Secret.
	SecretRef commonv1alpha1.SecretReference `json:"secretRef"`

	CredentialKeys `json:",inline"`
}

// A ProviderConfigSpec is the desired state of a ProviderConfig.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.caBundle) && has(self.caBundleRef))",message="set at most one of caBundle and caBundleRef"
type ProviderConfigSpec struct {
	ServerSpec `json:",inline"`

	// CABundleRef is a Secret key of this namespace that holds the CA bundle.
	// +optional
	CABundleRef *commonv1alpha1.LocalSecretKeySelector `json:"caBundleRef,omitempty"`
	// ClientCertificateRef names a kubernetes.io/tls Secret of this namespace whose certificate is presented to the server.
	// +optional
	ClientCertificateRef *commonv1alpha1.LocalSecretReference `json:"clientCertificateRef,omitempty"`
	// Credentials of the management role. CREATEDB and CREATEROLE are enough.
	Credentials LocalCredentials `json:"credentials"`
}

// A ClusterProviderConfigSpec is the desired state of a ClusterProviderConfig.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.caBundle) && has(self.caBundleRef))",message="set at most one of caBundle and caBundleRef"
type ClusterProviderConfigSpec struct {
	ServerSpec `json:",inline"`

	// CABundleRef is a Secret key that holds the CA bundle.
	// +optional
	CABundleRef *commonv1alpha1.SecretKeySelector `json:"caBundleRef,omitempty"`
	// ClientCertificateRef names a kubernetes.io/tls Secret whose certificate is presented to the server.
	// +optional
	ClientCertificateRef *commonv1alpha1.SecretReference `json:"clientCertificateRef,omitempty"`
	// Credentials of the management role. CREATEDB and CREATEROLE are enough.
	Credentials Credentials `json:"credentials"`
}

// ServerObservation is what the probe of a provider config saw.
type ServerObservation struct {
	// ServerVersion as the server names it, for example 16.4.
	// +optional
	ServerVersion string `json:"serverVersion,omitempty"`
	// ServerIdentity is the server's system identifier, which initdb gives to a cluster of databases.
	// +optional
	ServerIdentity string `json:"serverIdentity,omitempty"`
	// TLS is the protocol version in use, empty for clear text.
	// +optional
	TLS string `json:"tls,omitempty"`
	// MissingPrivileges of the management role, sorted.
	// +optional
	// +listType=set
	MissingPrivileges []string `json:"missingPrivileges,omitempty"`
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

// A ProviderConfig says how to reach a PostgreSQL server, for the PGDatabases of its own namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="HEALTHY",type="string",JSONPath=".status.conditions[?(@.type=='Healthy')].status"
// +kubebuilder:printcolumn:name="HOST",type="string",JSONPath=".spec.host"
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".status.server.serverVersion"
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

// A ClusterProviderConfig says how to reach a PostgreSQL server, for the PGDatabases of all namespaces. Admins own it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="HEALTHY",type="string",JSONPath=".status.conditions[?(@.type=='Healthy')].status"
// +kubebuilder:printcolumn:name="HOST",type="string",JSONPath=".spec.host"
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".status.server.serverVersion"
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
