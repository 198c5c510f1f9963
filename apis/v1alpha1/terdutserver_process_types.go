package v1alpha1

import (
	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// A ServerImage is the image that the server runs.
//
// +kubebuilder:validation:XValidation:rule="has(self.tag) || has(self.digest)",message="set tag, digest or both"
type ServerImage struct {
	// Repository of the image, without tag and digest.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([-a-zA-Z0-9._:/]*[a-zA-Z0-9])?$`
	Repository string `json:"repository"`
	// Tag of the image.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_][-a-zA-Z0-9._]*$`
	Tag *string `json:"tag,omitempty"`
	// Digest of the image. It decides where both are set.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest *string `json:"digest,omitempty"`
	// PullSecrets of this namespace that the image is pulled with.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	PullSecrets []commonv1alpha1.LocalSecretReference `json:"pullSecrets,omitempty"`
}

// ServerNetworking says where the server is reached.
//
// +kubebuilder:validation:XValidation:rule="has(self.servicePort) == has(oldSelf.servicePort)",message="servicePort is immutable: the provider's credential is bound to the endpoint"
// +kubebuilder:validation:XValidation:rule="!has(self.gatewayListener) || has(self.hostname)",message="set hostname with gatewayListener"
type ServerNetworking struct {
	// Hostname that people and alert senders reach the server at, over https.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Hostname *string `json:"hostname,omitempty"`
	// ServicePort of the Service, and the port that the server listens on.
	// +optional
	// +kubebuilder:default=8080
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="servicePort is immutable: the provider's credential is bound to the endpoint"
	ServicePort *int32 `json:"servicePort,omitempty"`
	// GatewayListener is the Gateway that leads hostname to the server, as namespace/gateway or namespace/gateway/section. An HTTPRoute of
	// the Gateway API is made for it.
	// +optional
	// +kubebuilder:validation:MaxLength=570
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-a-z0-9.]*[a-z0-9])?(/[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	GatewayListener *string `json:"gatewayListener,omitempty"`
}

// A ServerAdmin is the first user of the server.
type ServerAdmin struct {
	// Username of the first user, who is made when the server has none.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Username string `json:"username"`
	// Email of the first user.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=320
	// +kubebuilder:validation:Pattern=`^[^@\s]+@[^@\s]+$`
	Email string `json:"email"`
	// KeySecretRef is the way in for a server that has users already, on a kept database whose credential was lost: a Secret key of this
	// namespace with an administrator's API key.
	// +optional
	KeySecretRef *commonv1alpha1.LocalSecretKeySelector `json:"keySecretRef,omitempty"`
}

// A ServerSweeper cleans up alerts.
type ServerSweeper struct {
	// StaleAfter is when an alert that is not repeated is taken for resolved.
	// +optional
	StaleAfter *oncallv1alpha1.Duration `json:"staleAfter,omitempty"`
	// ArchiveAfter is when a resolved alert is archived.
	// +optional
	ArchiveAfter *oncallv1alpha1.Duration `json:"archiveAfter,omitempty"`
}

// A ServerDeadman is the server's own dead man's switch.
type ServerDeadman struct {
	// Matchers of the alert that must keep coming.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Matchers *string `json:"matchers,omitempty"`
	// Timeout after which the switch fires when the alert has stayed away.
	// +optional
	Timeout *oncallv1alpha1.Duration `json:"timeout,omitempty"`
	// Severity of the alert that the switch raises.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Severity *string `json:"severity,omitempty"`
}

// ServerNotify says how people are notified over ntfy.
type ServerNotify struct {
	// NtfyURL of the ntfy server.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/?#@]+(/[^?#]*)?$')",message="must be an http or https URL without credentials, query and fragment",reason=FieldValueForbidden
	NtfyURL *string `json:"ntfyURL,omitempty"`
	// FallbackTopic that is told when nobody could be paged.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	FallbackTopic *string `json:"fallbackTopic,omitempty"`
	// RepeatEvery is how often a notification is repeated until somebody acknowledges.
	// +optional
	RepeatEvery *oncallv1alpha1.Duration `json:"repeatEvery,omitempty"`
	// TokenSecretRef selects the token for ntfy.
	// +optional
	TokenSecretRef *commonv1alpha1.LocalSecretKeySelector `json:"tokenSecretRef,omitempty"`
}

// ServerOIDC lets people log in with single sign-on.
//
// +kubebuilder:validation:XValidation:rule="!self.enabled || (has(self.issuer) && has(self.clientID))",message="set issuer and clientID when enabled"
type ServerOIDC struct {
	// Enabled turns it on. While it is off the other fields mean nothing.
	// +optional
	// +kubebuilder:default=false
	Enabled bool `json:"enabled"`
	// Issuer is the provider's URL.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^?#@]+$')",message="must be an http or https URL without credentials, query and fragment",reason=FieldValueForbidden
	Issuer *string `json:"issuer,omitempty"`
	// ClientID of the server at the provider.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ClientID *string `json:"clientID,omitempty"`
	// ClientSecretRef selects the client's secret.
	// +optional
	ClientSecretRef *commonv1alpha1.LocalSecretKeySelector `json:"clientSecretRef,omitempty"`
	// Name of the provider on the login page.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Name *string `json:"name,omitempty"`
	// Scopes to ask for, separated by spaces.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Scopes *string `json:"scopes,omitempty"`
	// AllowedGroups whose people may log in. Empty: everybody may.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	AllowedGroups []OIDCGroup `json:"allowedGroups,omitempty"`
	// AdminGroup whose people are administrators.
	// +optional
	AdminGroup *OIDCGroup `json:"adminGroup,omitempty"`
	// SessionMaxAge is how long a login lasts.
	// +optional
	SessionMaxAge *oncallv1alpha1.Duration `json:"sessionMaxAge,omitempty"`
}

// An OIDCGroup is the name of a group. It holds no comma.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=256
// +kubebuilder:validation:Pattern=`^[^,]+$`
type OIDCGroup string

// A ServerEnvVar is an environment variable of the server.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.value) && has(self.valueFrom))",message="set at most one of value and valueFrom"
type ServerEnvVar struct {
	// Name of the variable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	Name string `json:"name"`
	// Value of the variable. Secrets belong into valueFrom.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Value *string `json:"value,omitempty"`
	// ValueFrom says where the value is read when a replica starts.
	// +optional
	ValueFrom *ServerEnvSource `json:"valueFrom,omitempty"`
}

// A ServerEnvSource says where the value of a variable is read.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretKeyRef) != has(self.configMapKeyRef)",message="set exactly one of secretKeyRef and configMapKeyRef"
type ServerEnvSource struct {
	// SecretKeyRef selects a key of a Secret of this namespace.
	// +optional
	SecretKeyRef *commonv1alpha1.LocalSecretKeySelector `json:"secretKeyRef,omitempty"`
	// ConfigMapKeyRef selects a key of a ConfigMap of this namespace.
	// +optional
	ConfigMapKeyRef *ConfigMapKeySelector `json:"configMapKeyRef,omitempty"`
}

// A ConfigMapKeySelector selects one key of a ConfigMap of the namespace.
type ConfigMapKeySelector struct {
	// Name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Key in the ConfigMap's data.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}
