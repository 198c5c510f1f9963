package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
)

// An Adoption is an admin's permission for a BaoSecret to take over an existing record, or for a policy or role to be taken over.
type Adoption struct {
	// Path of the record as <mount>/<path>, which is a BaoSecret's external name; of a policy sys/policies/acl/<name>, of a role auth/<mount>/role/<name>.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=640
	Path string `json:"path"`

	commonv1alpha1.AdoptionTarget `json:",inline"`
}

// ServerSpec are the fields that both kinds of provider config share.
type ServerSpec struct {
	// Address that the provider connects to, for example https://openbao.openbao.svc:8200.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/?#@]+(/[^?#]*)?$')",message="must be an http or https URL without credentials, query and fragment",reason=FieldValueForbidden
	Address string `json:"address"`
	// ExternalAddress is what consumers are told. Default: address.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/?#@]+(/[^?#]*)?$')",message="must be an http or https URL without credentials, query and fragment",reason=FieldValueForbidden
	ExternalAddress *string `json:"externalAddress,omitempty"`
	// Namespace of OpenBao that logins and all calls go to.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Namespace *string `json:"namespace,omitempty"`
	// Mount is the path of the KV version 2 engine that BaoSecrets use unless they name another.
	// +optional
	// +kubebuilder:default=kv
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="mount is immutable: records would not be found at another one"
	// +kubebuilder:validation:XValidation:rule="self.split('/').all(s, s != '' && s != '.' && s != '..')",message="mount must not have empty, . or .. segments, nor a leading or trailing slash"
	Mount string `json:"mount,omitempty"`
	// CABundle is a PEM bundle of CA certificates that the server is verified with. Default: the system's.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	CABundle *string `json:"caBundle,omitempty"`
	// Adoptions are the admin's permissions to take over existing records.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=256
	Adoptions []Adoption `json:"adoptions,omitempty"`
	// ControlPlanes are the admin's permissions to take over what other control planes recorded.
	// +optional
	// +listType=map
	// +listMapKey=from
	// +kubebuilder:validation:MaxItems=16
	ControlPlanes []commonv1alpha1.ControlPlaneAdoption `json:"controlPlanes,omitempty"`
	// Access says how the records of Tenants are read. Unset, all are read through one shared store.
	// +optional
	Access *Access `json:"access,omitempty"`
}

// An AccessMethod is how External Secrets gets at a record.
//
// +kubebuilder:validation:Enum=Shared;Kubernetes
type AccessMethod string

const (
	// AccessShared is a store that reads the records of all tenants.
	AccessShared AccessMethod = "Shared"
	// AccessKubernetes is a store for each tenant that logs in as a ServiceAccount of the tenant's namespace, with a role that may read that
	// tenant's record alone.
	AccessKubernetes AccessMethod = "Kubernetes"
)

// Access says how the records of Tenants are read.
type Access struct {
	// Default is the method for Tenants that name none.
	// +optional
	// +kubebuilder:default=Kubernetes
	Default AccessMethod `json:"default,omitempty"`
	// Kubernetes says where the roles of Tenants are made.
	// +optional
	// +kubebuilder:default={}
	Kubernetes KubernetesRoles `json:"kubernetes,omitempty"`
}

// KubernetesRoles says where the roles of Tenants are made: in a Kubernetes auth method that an admin has set up.
type KubernetesRoles struct {
	// AuthPath is where the Kubernetes auth method is mounted.
	// +optional
	// +kubebuilder:default=kubernetes
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.split('/').all(s, s != '' && s != '.' && s != '..')",message="authPath must not have empty, . or .. segments, nor a leading or trailing slash"
	AuthPath string `json:"authPath,omitempty"`
	// Audience of the ServiceAccount tokens that log in, and that the roles are bound to.
	// +optional
	// +kubebuilder:default=openbao
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Audience string `json:"audience,omitempty"`
	// TokenTTLSeconds is how long what logs in may read, in seconds.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	TokenTTLSeconds int64 `json:"tokenTTLSeconds,omitempty"`
}

// LocalTokenAuth authenticates with a token from a Secret of the config's namespace.
type LocalTokenAuth struct {
	// SecretRef selects the token.
	SecretRef commonv1alpha1.LocalSecretKeySelector `json:"secretRef"`
}

// TokenAuth authenticates with a token from a Secret of any namespace.
type TokenAuth struct {
	// SecretRef selects the token.
	SecretRef commonv1alpha1.SecretKeySelector `json:"secretRef"`
}

// AppRole are the fields that both kinds of AppRole authentication share.
type AppRole struct {
	// AuthPath is where the AppRole auth method is mounted.
	// +optional
	// +kubebuilder:default=approle
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	AuthPath string `json:"authPath,omitempty"`
	// RoleID of the role.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	RoleID string `json:"roleId"`
}

// LocalAppRoleAuth authenticates with AppRole and a secret id from a Secret of the config's namespace.
type LocalAppRoleAuth struct {
	AppRole `json:",inline"`

	// SecretRef selects the secret id.
	SecretRef commonv1alpha1.LocalSecretKeySelector `json:"secretRef"`
}

// AppRoleAuth authenticates with AppRole and a secret id from a Secret of any namespace.
type AppRoleAuth struct {
	AppRole `json:",inline"`

	// SecretRef selects the secret id.
	SecretRef commonv1alpha1.SecretKeySelector `json:"secretRef"`
}

// Kubernetes are the fields that both kinds of Kubernetes authentication share.
type Kubernetes struct {
	// AuthPath is where the Kubernetes auth method is mounted.
	// +optional
	// +kubebuilder:default=kubernetes
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	AuthPath string `json:"authPath,omitempty"`
	// Role to log in as.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Role string `json:"role"`
	// Audiences of the token that is requested for the ServiceAccount.
	// +optional
	// +listType=set
	// +kubebuilder:default={"openbao"}
	// +kubebuilder:validation:MaxItems=8
	Audiences []string `json:"audiences,omitempty"`
}

// LocalKubernetesAuth authenticates as a ServiceAccount of the config's namespace.
type LocalKubernetesAuth struct {
	Kubernetes `json:",inline"`

	// ServiceAccountRef names the ServiceAccount that a token is requested for.
	ServiceAccountRef commonv1alpha1.LocalSecretReference `json:"serviceAccountRef"`
}

// KubernetesAuth authenticates as a ServiceAccount of any namespace.
type KubernetesAuth struct {
	Kubernetes `json:",inline"`

	// ServiceAccountRef names the ServiceAccount that a token is requested for.
	ServiceAccountRef commonv1alpha1.SecretReference `json:"serviceAccountRef"`
}

// LocalAuth is how a namespaced config authenticates.
//
// +kubebuilder:validation:XValidation:rule="[has(self.token), has(self.appRole), has(self.kubernetes)].filter(x, x).size() == 1",message="set exactly one of token, appRole and kubernetes"
type LocalAuth struct {
	// +optional
	Token *LocalTokenAuth `json:"token,omitempty"`
	// +optional
	AppRole *LocalAppRoleAuth `json:"appRole,omitempty"`
	// +optional
	Kubernetes *LocalKubernetesAuth `json:"kubernetes,omitempty"`
}

// Auth is how a cluster config authenticates.
//
// +kubebuilder:validation:XValidation:rule="[has(self.token), has(self.appRole), has(self.kubernetes)].filter(x, x).size() == 1",message="set exactly one of token, appRole and kubernetes"
type Auth struct {
	// +optional
	Token *TokenAuth `json:"token,omitempty"`
	// +optional
	AppRole *AppRoleAuth `json:"appRole,omitempty"`
	// +optional
	Kubernetes *KubernetesAuth `json:"kubernetes,omitempty"`
}

// A ProviderConfigSpec is the desired state of a ProviderConfig.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.caBundle) && has(self.caBundleRef))",message="set at most one of caBundle and caBundleRef"
type ProviderConfigSpec struct {
	ServerSpec `json:",inline"`

	// CABundleRef is a Secret key of this namespace that holds the CA bundle.
	// +optional
	CABundleRef *commonv1alpha1.LocalSecretKeySelector `json:"caBundleRef,omitempty"`
	// Auth is how the provider authenticates.
	Auth LocalAuth `json:"auth"`
}

// A ClusterProviderConfigSpec is the desired state of a ClusterProviderConfig.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.caBundle) && has(self.caBundleRef))",message="set at most one of caBundle and caBundleRef"
type ClusterProviderConfigSpec struct {
	ServerSpec `json:",inline"`

	// CABundleRef is a Secret key that holds the CA bundle.
	// +optional
	CABundleRef *commonv1alpha1.SecretKeySelector `json:"caBundleRef,omitempty"`
	// Auth is how the provider authenticates.
	Auth Auth `json:"auth"`
}

// ServerObservation is what the probe of a provider config saw.
type ServerObservation struct {
	// ServerVersion as the server names it.
	// +optional
	ServerVersion string `json:"serverVersion,omitempty"`
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

// A ProviderConfig says how to reach an OpenBao server, for the BaoSecrets of its own namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="HEALTHY",type="string",JSONPath=".status.conditions[?(@.type=='Healthy')].status"
// +kubebuilder:printcolumn:name="ADDRESS",type="string",JSONPath=".spec.address"
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

// A ClusterProviderConfig says how to reach an OpenBao server, for the BaoSecrets of all namespaces. Admins own it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="HEALTHY",type="string",JSONPath=".status.conditions[?(@.type=='Healthy')].status"
// +kubebuilder:printcolumn:name="ADDRESS",type="string",JSONPath=".spec.address"
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
