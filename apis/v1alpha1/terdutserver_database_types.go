package v1alpha1

import (
	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
)

// A ServerDatabase is the PostgreSQL database that the server keeps its state in.
//
// +kubebuilder:validation:XValidation:rule="[has(self.dsn), has(self.postgresClusterRef), has(self.tenantRef)].exists_one(x, x)",message="set exactly one of dsn, postgresClusterRef and tenantRef"
// +kubebuilder:validation:XValidation:rule="!has(self.passwordSecretRef) || has(self.dsn)",message="passwordSecretRef belongs to dsn"
type ServerDatabase struct {
	// DSN of the database, as a URL or as keywords and values, without a password. What looks like one is refused: in a URL a colon that an @
	// follows, or an encoded name of a parameter. An @ that is meant otherwise can be written as %40.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="!self.matches('(?s)://.*:.*@')",message="dsn must not carry a password: use passwordSecretRef",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!self.matches('(^|[\\\\s?&;])(?i:(ssl)?password)\\\\s*=')",message="dsn must not carry a password: use passwordSecretRef",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!self.matches('[?&;][^=&;]*%')",message="dsn must spell the names of its parameters without %",reason=FieldValueForbidden
	DSN *string `json:"dsn,omitempty"`
	// PasswordSecretRef selects the password that goes with dsn, in a Secret of this namespace.
	// +optional
	PasswordSecretRef *commonv1alpha1.LocalSecretKeySelector `json:"passwordSecretRef,omitempty"`
	// PostgresClusterRef names a cluster of a PostgreSQL operator in this namespace.
	// +optional
	PostgresClusterRef *PostgresClusterReference `json:"postgresClusterRef,omitempty"`
	// TenantRef names a Tenant of this namespace.
	// +optional
	TenantRef *TenantReference `json:"tenantRef,omitempty"`
}

// Kinds of clusters of PostgreSQL operators.
const (
	// ClusterKindZalando is the kind of Zalando's postgres-operator, acid.zalan.do/v1.
	ClusterKindZalando = "postgresql"
	// ClusterKindCloudNativePG is the kind of CloudNativePG, postgresql.cnpg.io/v1.
	ClusterKindCloudNativePG = "Cluster"
)

// A PostgresClusterReference names a cluster of a PostgreSQL operator. What it does not say follows that operator's conventions.
type PostgresClusterReference struct {
	// Kind of the cluster: postgresql of Zalando's postgres-operator, or Cluster of CloudNativePG.
	// +optional
	// +kubebuilder:default=postgresql
	// +kubebuilder:validation:Enum=postgresql;Cluster
	Kind string `json:"kind,omitempty"`
	// Name of the cluster.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// Database in the cluster. Default: the only one that the cluster's own spec names.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Database *string `json:"database,omitempty"`
	// User to log in as. Default: the owner of the database in the cluster's own spec.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	User *string `json:"user,omitempty"`
	// Host of the primary. Default: NAME.NAMESPACE.svc of a postgresql, NAME-rw.NAMESPACE.svc of a Cluster.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Host *string `json:"host,omitempty"`
	// PasswordSecretRef selects the user's password. Default: key password of the Secret that the operator makes for the user.
	// +optional
	PasswordSecretRef *commonv1alpha1.LocalSecretKeySelector `json:"passwordSecretRef,omitempty"`
}

// A TenantReference names a Tenant.
type TenantReference struct {
	// Name of the Tenant.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
}
