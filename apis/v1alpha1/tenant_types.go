package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
)

// A ConfigReference names a ClusterProviderConfig that an admin made.
type ConfigReference struct {
	// Name of the ClusterProviderConfig.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// A SecretStoreReference names the store that External Secrets reads the credential from.
type SecretStoreReference struct {
	// Kind of the store.
	// +optional
	// +kubebuilder:default=ClusterSecretStore
	// +kubebuilder:validation:Enum=ClusterSecretStore;SecretStore
	Kind string `json:"kind,omitempty"`
	// Name of the store.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// KubernetesAccess reads the record as a ServiceAccount, with a role that may read nothing else.
type KubernetesAccess struct {
	// ServiceAccountName is a ServiceAccount of this namespace that External Secrets logs in as. Default: one that is made for this alone.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ServiceAccountName *string `json:"serviceAccountName,omitempty"`
}

// SharedAccess reads the record through a store that is there for many tenants.
type SharedAccess struct{}

// TenantAccess is who can read the record in OpenBao.
//
// +kubebuilder:validation:XValidation:rule="[has(self.kubernetes), has(self.shared)].filter(x, x).size() == 1",message="set exactly one of kubernetes and shared"
type TenantAccess struct {
	// Kubernetes gives this Tenant a policy, a role and a SecretStore of its own.
	// +optional
	Kubernetes *KubernetesAccess `json:"kubernetes,omitempty"`
	// Shared uses the store of secretStoreRef. Who may write an ExternalSecret for that store can read what the store can.
	// +optional
	Shared *SharedAccess `json:"shared,omitempty"`
}

// A TenantRotation asks for a new password.
type TenantRotation struct {
	// Trigger is any string. Changing it gives the owner a new password, once.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._:-]*$`
	Trigger string `json:"trigger"`
}

// A TenantExtension is to be installed in the database.
type TenantExtension = postgresqlv1alpha1.Extension

// A TenantSpec is what an application team asks for.
//
// +kubebuilder:validation:XValidation:rule="has(self.database) == has(oldSelf.database)",message="database is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.owner) == has(oldSelf.owner)",message="owner is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.secretName) == has(oldSelf.secretName)",message="secretName is immutable"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.extensions) || size(oldSelf.extensions) == 0 || has(self.extensions)",message="extensions cannot be removed: dropping one may drop data"
// +kubebuilder:validation:XValidation:rule="has(self.owner) || !has(self.database) || !(self.database.startsWith('pg_') || self.database in ['public', 'none'])",message="owner is required: PostgreSQL keeps role names like this database's for itself"
type TenantSpec struct {
	// InstanceRef names the PostgreSQL server: a ClusterProviderConfig of postgresql.terdut.ryuvia.com.
	// +optional
	// +kubebuilder:default={name: "default"}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="instanceRef is immutable"
	InstanceRef ConfigReference `json:"instanceRef,omitempty"`
	// BaoRef names the OpenBao server: a ClusterProviderConfig of openbao.terdut.ryuvia.com.
	// +optional
	// +kubebuilder:default={name: "default"}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="baoRef is immutable"
	BaoRef ConfigReference `json:"baoRef,omitempty"`
	// Access says who can read the record in OpenBao. Default: what the admin set in the ClusterProviderConfig that baoRef names.
	// +optional
	Access *TenantAccess `json:"access,omitempty"`
	// SecretStoreRef names the store of External Secrets that shared access reads through, from the same OpenBao server.
	// +optional
	// +kubebuilder:default={kind: "ClusterSecretStore", name: "openbao"}
	SecretStoreRef SecretStoreReference `json:"secretStoreRef,omitempty"`
	// Database is the database's name, at most 63 bytes. Default: made from namespace and name, one-to-one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="database is immutable"
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 63",message="database must be at most 63 bytes"
	// +kubebuilder:validation:XValidation:rule="!(self in ['postgres', 'template0', 'template1'])",message="database is a system database of PostgreSQL"
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="database must not contain NUL"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[\\\\x{7f}-\\\\x{9f}]')",message="database must not contain control characters that YAML cannot carry, U+007F to U+009F"
	Database *string `json:"database,omitempty"`
	// Owner is the name of the login role that owns the database, at most 63 bytes. Default: the database's name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="owner is immutable"
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 63",message="owner must be at most 63 bytes"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('pg_') && !(self in ['public', 'none', 'postgres'])",message="owner is reserved by PostgreSQL"
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="owner must not contain NUL"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[\\\\x{7f}-\\\\x{9f}]')",message="owner must not contain control characters that YAML cannot carry, U+007F to U+009F"
	Owner *string `json:"owner,omitempty"`
	// Extensions to install. The list is append-only.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="oldSelf.all(o, self.exists(n, n.name == o.name))",message="extensions cannot be removed: dropping one may drop data"
	Extensions []TenantExtension `json:"extensions,omitempty"`
	// ConnectionLimit is how many connections the owner may hold at a time; -1 is no limit.
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:Maximum=262143
	ConnectionLimit *int32 `json:"connectionLimit,omitempty"`
	// SecretName is the Secret of this namespace that the credentials are delivered in. Default: <name>-db.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="secretName is immutable"
	SecretName *string `json:"secretName,omitempty"`
	// DeletionPolicy says what becomes of the database, its owner and the credential's record when this Tenant is deleted.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy commonv1alpha1.DeletionPolicy `json:"deletionPolicy,omitempty"`
	// Rotation of the owner's password.
	// +optional
	Rotation *TenantRotation `json:"rotation,omitempty"`
}

// A TenantPhase is how far a Tenant has come. It is computed from what is observed and never goes back while a Tenant is created.
//
// +kubebuilder:validation:Enum=Planned;CredentialCreated;RoleCreated;DatabaseCreated;ExternalSecretCreated;CredentialProjected;Ready;Conflict;Failed
type TenantPhase string

// The phases, in the order of creation, and the two that stand beside it.
const (
	// PhasePlanned : nothing was written outside yet.
	PhasePlanned TenantPhase = "Planned"
	// PhaseCredentialCreated : the password is stored in OpenBao.
	PhaseCredentialCreated TenantPhase = "CredentialCreated"
	// PhaseRoleCreated : the owner role exists.
	PhaseRoleCreated TenantPhase = "RoleCreated"
	// PhaseDatabaseCreated : the database and its extensions exist.
	PhaseDatabaseCreated TenantPhase = "DatabaseCreated"
	// PhaseExternalSecretCreated : External Secrets was asked to deliver the credential.
	PhaseExternalSecretCreated TenantPhase = "ExternalSecretCreated"
	// PhaseCredentialProjected : the Secret was delivered.
	PhaseCredentialProjected TenantPhase = "CredentialProjected"
	// PhaseReady : the credentials in the Secret log in.
	PhaseReady TenantPhase = "Ready"
	// PhaseConflict : a name is taken by something of somebody else.
	PhaseConflict TenantPhase = "Conflict"
	// PhaseFailed : something needs a person; the conditions say what.
	PhaseFailed TenantPhase = "Failed"
)

// Condition types of a Tenant, beside Crossplane's own.
const (
	// TypeCredentialReady is true when the record in OpenBao holds the credential.
	TypeCredentialReady = "CredentialReady"
	// TypeDatabaseReady is true when role, database and extensions are as asked for.
	TypeDatabaseReady = "DatabaseReady"
	// TypeAccessReady is true when what the record is read with is set up as asked for. It speaks of the server only where access is not shared.
	TypeAccessReady = "AccessReady"
	// TypeSecretProjected is true when External Secrets delivered the Secret.
	TypeSecretProjected = "SecretProjected"
	// TypeLoginVerified is true when the credentials in the Secret logged in.
	TypeLoginVerified = "LoginVerified"
)

// Reasons of a Tenant's conditions that are not taken over from a composed resource.
const (
	// ReasonAvailable : the step is done.
	ReasonAvailable = "Available"
	// ReasonWaiting : an earlier step is not done yet.
	ReasonWaiting = "Waiting"
	// ReasonConflict : a name is taken by something of somebody else.
	ReasonConflict = "Conflict"
	// ReasonSyncFailed : External Secrets does not deliver the Secret now. It does not say why in a condition, and tries again: its store may
	// not be ready, its server not answer, or its role not be allowed to read the record.
	ReasonSyncFailed = "SyncFailed"
	// ReasonAccessNotConfigured : the ClusterProviderConfig does not say where roles of Tenants are made.
	ReasonAccessNotConfigured = "AccessNotConfigured"
	// ReasonPathNotExact : no policy can name the record without meaning others too.
	ReasonPathNotExact = "PathNotExact"
	// ReasonStoreNotReady : External Secrets says that the Tenant's own store cannot be used now.
	ReasonStoreNotReady = "StoreNotReady"
	// ReasonSecretImmutable : the Secret is marked immutable, so that nobody can deliver new values in it.
	ReasonSecretImmutable = "SecretImmutable"
)

// A TenantStatus is what came of a Tenant.
type TenantStatus struct {
	// Phase is how far the Tenant has come.
	// +optional
	Phase TenantPhase `json:"phase,omitempty"`
	// Database is the database's name.
	// +optional
	Database string `json:"database,omitempty"`
	// Owner is the login role's name.
	// +optional
	Owner string `json:"owner,omitempty"`
	// Host that applications connect to.
	// +optional
	Host string `json:"host,omitempty"`
	// HostAddr is the IP address that applications may connect to.
	// +optional
	HostAddr string `json:"hostaddr,omitempty"`
	// Port that applications connect to.
	// +optional
	Port int32 `json:"port,omitempty"`
	// SecretRef names the Secret with the credentials.
	// +optional
	SecretRef *commonv1alpha1.LocalSecretReference `json:"secretRef,omitempty"`
	// KVURL is the credential's record in OpenBao's API. It holds no credential.
	// +optional
	KVURL string `json:"kvURL,omitempty"`
	// DeletionPolicy in force.
	// +optional
	DeletionPolicy commonv1alpha1.DeletionPolicy `json:"deletionPolicy,omitempty"`
	// ObservedGeneration is the generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// A Tenant is a PostgreSQL database with its owner login, a password kept in OpenBao, and a Secret that is proven to log in.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="PHASE",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="DATABASE",type="string",JSONPath=".status.database"
// +kubebuilder:printcolumn:name="SECRET",type="string",JSONPath=".status.secretRef.name"
// +kubebuilder:resource:scope=Namespaced,path=tenants,categories={terdut}
type Tenant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TenantSpec   `json:"spec,omitempty"`
	Status TenantStatus `json:"status,omitempty"`
}

// TenantList contains a list of Tenant.
//
// +kubebuilder:object:root=true
type TenantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Tenant `json:"items"`
}

// TenantGroupVersionKind identifies the kind.
var TenantGroupVersionKind = SchemeGroupVersion.WithKind("Tenant")

func init() {
	SchemeBuilder.Register(&Tenant{}, &TenantList{})
}
