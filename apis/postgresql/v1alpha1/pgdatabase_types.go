package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
)

// A PasswordSource is where the owner role's password comes from.
//
// +kubebuilder:validation:XValidation:rule="has(self.baoSecretRef) != has(self.secretKeyRef)",message="set exactly one of baoSecretRef and secretKeyRef"
type PasswordSource struct {
	// BaoSecretRef names a BaoSecret of this namespace. The password is read from OpenBao and never stored in Kubernetes by this kind.
	// +optional
	BaoSecretRef *commonv1alpha1.LocalSecretKeySelector `json:"baoSecretRef,omitempty"`
	// SecretKeyRef names a key of a Secret of this namespace.
	// +optional
	SecretKeyRef *commonv1alpha1.LocalSecretKeySelector `json:"secretKeyRef,omitempty"`
}

// An Owner is the login role that owns the database.
type Owner struct {
	// Name of the role. At most 63 bytes; every character but NUL is allowed and kept as it is.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="owner.name is immutable"
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 63",message="owner.name must be at most 63 bytes"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('pg_') && !(self in ['public', 'none', 'postgres'])",message="owner.name is reserved by PostgreSQL"
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="owner.name must not contain NUL"
	Name string `json:"name"`
	// ConnectionLimit is how many connections the role may hold at a time; -1 is no limit.
	// +optional
	// +kubebuilder:default=-1
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:Maximum=262143
	ConnectionLimit *int32 `json:"connectionLimit,omitempty"`
	// PasswordFrom is where the role's password comes from. The server is only ever sent a SCRAM-SHA-256 verifier of it.
	PasswordFrom PasswordSource `json:"passwordFrom"`
}

// An Extension is to be installed in the database.
type Extension struct {
	// Name of the extension.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Schema that the extension's objects are in. A relocatable extension that is elsewhere is moved.
	// +optional
	// +kubebuilder:default=public
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Schema string `json:"schema,omitempty"`
	// Version to install and to update to. Unset installs the default version and leaves an installed one alone.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Version *string `json:"version,omitempty"`
}

// A LoginCheck proves that the credentials in a Secret log in to the database.
type LoginCheck struct {
	// SecretRef names the Secret of this namespace that applications use.
	SecretRef LoginSecret `json:"secretRef"`
}

// A LoginSecret is a Secret of this namespace that holds a user name and a password.
type LoginSecret struct {
	commonv1alpha1.LocalSecretReference `json:",inline"`

	CredentialKeys `json:",inline"`
}

// PGDatabaseParameters are the desired state of a database and its owner.
//
// +kubebuilder:validation:XValidation:rule="has(self.database) == has(oldSelf.database)",message="database is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.locale) == has(oldSelf.locale)",message="locale is immutable"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.extensions) || size(oldSelf.extensions) == 0 || has(self.extensions)",message="extensions cannot be removed: dropping one may drop data"
type PGDatabaseParameters struct {
	// Database is the database's name: at most 63 bytes; every character but NUL is allowed and kept as it is.
	// Default: the external name, which is the object's own name unless an admin set another.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="database is immutable"
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 63",message="database must be at most 63 bytes"
	// +kubebuilder:validation:XValidation:rule="!(self in ['postgres', 'template0', 'template1'])",message="database is a system database of PostgreSQL"
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="database must not contain NUL"
	Database *string `json:"database,omitempty"`
	// Owner is the login role that owns the database.
	Owner Owner `json:"owner"`
	// Extensions to install. The list is append-only.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="oldSelf.all(o, self.exists(n, n.name == o.name))",message="extensions cannot be removed: dropping one may drop data"
	Extensions []Extension `json:"extensions,omitempty"`
	// Encoding of the database.
	// +optional
	// +kubebuilder:default=UTF8
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="encoding is immutable"
	Encoding string `json:"encoding,omitempty"`
	// Locale (LC_COLLATE and LC_CTYPE) of the database. Default: the template's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="locale is immutable"
	Locale *string `json:"locale,omitempty"`
	// Template that the database is created from. It must be marked as a template (IS_TEMPLATE). Any but template0 can be busy, which
	// delays creation.
	// +optional
	// +kubebuilder:default=template0
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="template is immutable"
	Template string `json:"template,omitempty"`
	// ConnectionLimit is how many connections the database accepts at a time; -1 is no limit.
	// +optional
	// +kubebuilder:default=-1
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:Maximum=262143
	ConnectionLimit *int32 `json:"connectionLimit,omitempty"`
	// DeletionPolicy says what becomes of the database and its owner role when this object is deleted.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy commonv1alpha1.DeletionPolicy `json:"deletionPolicy,omitempty"`
	// TerminateConnections allows to end the sessions of others when the database is dropped. Without it a database in use stays, and its
	// deletion waits.
	// +optional
	TerminateConnections bool `json:"terminateConnections,omitempty"`
	// LoginCheck names the Secret whose credentials must log in before this object is Ready.
	// +optional
	LoginCheck *LoginCheck `json:"loginCheck,omitempty"`
}

// An ExtensionObservation is an installed extension.
type ExtensionObservation struct {
	// Name of the extension.
	Name string `json:"name"`
	// Version that is installed.
	// +optional
	Version string `json:"version,omitempty"`
	// Schema that it is installed in.
	// +optional
	Schema string `json:"schema,omitempty"`
}

// A RegistryObservation is what the ownership registry says of the database.
type RegistryObservation struct {
	// RecordedOwner as namespace/name (uid).
	// +optional
	RecordedOwner string `json:"recordedOwner,omitempty"`
	// Retained is true when the recorded owner was deleted and left the database behind.
	// +optional
	Retained bool `json:"retained,omitempty"`
}

// A ConsumerObservation is what applications connect to.
type ConsumerObservation struct {
	// Host name that they connect to, and that TLS verifies.
	// +optional
	Host string `json:"host,omitempty"`
	// HostAddr is an IP address that they may connect to instead.
	// +optional
	HostAddr string `json:"hostaddr,omitempty"`
	// Port that they connect to.
	// +optional
	Port int32 `json:"port,omitempty"`
	// +optional
	SSLMode SSLMode `json:"sslMode,omitempty"`
	// CABundle is the PEM bundle of CA certificates that they verify the server with. It is public.
	// +optional
	CABundle string `json:"caBundle,omitempty"`
}

// PGDatabaseObservation is the observed state of a database and its owner.
type PGDatabaseObservation struct {
	// DatabaseOID is the database's object id.
	// +optional
	DatabaseOID int64 `json:"databaseOID,omitempty"`
	// Owner is the name of the role that owns the database.
	// +optional
	Owner string `json:"owner,omitempty"`
	// Encoding that the database has.
	// +optional
	Encoding string `json:"encoding,omitempty"`
	// Locale that the database has.
	// +optional
	Locale string `json:"locale,omitempty"`
	// Extensions that the spec names and that are installed.
	// +optional
	// +listType=map
	// +listMapKey=name
	Extensions []ExtensionObservation `json:"extensions,omitempty"`
	// CredentialVersion is the version of the password source whose password was last seen to log in.
	// +optional
	CredentialVersion string `json:"credentialVersion,omitempty"`
	// LoginVerifiedTime is when the credentials of loginCheck first logged in since they last changed.
	// +optional
	LoginVerifiedTime *metav1.Time `json:"loginVerifiedTime,omitempty"`
	// +optional
	Registry RegistryObservation `json:"registry,omitempty"`
	// ServerVersion is the version of PostgreSQL.
	// +optional
	ServerVersion string `json:"serverVersion,omitempty"`
	// ServerIdentity is the server's system identifier.
	// +optional
	ServerIdentity string `json:"serverIdentity,omitempty"`
	// DeletionPolicy in force.
	// +optional
	DeletionPolicy commonv1alpha1.DeletionPolicy `json:"deletionPolicy,omitempty"`
	// +optional
	Consumer ConsumerObservation `json:"consumer,omitempty"`
}

// A PGDatabaseSpec is the desired state of a PGDatabase.
type PGDatabaseSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	ForProvider PGDatabaseParameters `json:"forProvider"`
}

// A PGDatabaseStatus is the observed state of a PGDatabase.
type PGDatabaseStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	AtProvider PGDatabaseObservation `json:"atProvider,omitempty"`
}

// A PGDatabase is a PostgreSQL database, the login role that owns it, and its extensions. Its external name is the database's name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type="string",JSONPath=".metadata.annotations.crossplane\\.io/external-name"
// +kubebuilder:printcolumn:name="OWNER",type="string",JSONPath=".spec.forProvider.owner.name"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Namespaced,shortName=pgdb,categories={crossplane,managed,terdut}
type PGDatabase struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PGDatabaseSpec   `json:"spec"`
	Status PGDatabaseStatus `json:"status,omitempty"`
}

// PGDatabaseList contains a list of PGDatabase.
//
// +kubebuilder:object:root=true
type PGDatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PGDatabase `json:"items"`
}

// PGDatabaseKind is the kind's name.
const PGDatabaseKind = "PGDatabase"

// PGDatabaseGroupVersionKind identifies the kind.
var PGDatabaseGroupVersionKind = SchemeGroupVersion.WithKind(PGDatabaseKind)

func init() {
	SchemeBuilder.Register(&PGDatabase{}, &PGDatabaseList{})
}
