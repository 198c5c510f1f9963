package v1alpha1

import commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"

// A TLSRule says more about format TLS.
type TLSRule struct {
	// Use of the certificates: Server, the chain of a server with its leaf first and a private key; or CA, a bundle to verify others with.
	// +optional
	// +kubebuilder:default=Server
	// +kubebuilder:validation:Enum=Server;CA
	Use string `json:"use,omitempty"`
	// PrivateKey is the key of the Secret that holds the private key.
	// +optional
	// +kubebuilder:default=tls.key
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^\.?[A-Za-z0-9_-][A-Za-z0-9._-]*$`
	PrivateKey string `json:"privateKey,omitempty"`
	// HostNames that the leaf must be valid for: DNS names, which may begin with *., and IP addresses.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	HostNames []string `json:"hostNames,omitempty"`
	// WarningDays before its end at which a certificate is warned of. A warning does not make a contract fail.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3650
	WarningDays int32 `json:"warningDays,omitempty"`
}

// A KeyRule says what the value of one key must be like.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minLength) || !has(self.maxLength) || self.minLength <= self.maxLength",message="minLength must not be more than maxLength"
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || (has(self.format) && self.format == 'TLS')",message="set tls for format: TLS alone"
type KeyRule struct {
	// Name of the key in the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^\.?[A-Za-z0-9_-][A-Za-z0-9._-]*$`
	Name string `json:"name"`
	// EnvName is the environment variable that the key is mapped to explicitly. Default: the key's name.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	EnvName string `json:"envName,omitempty"`
	// Required says that the key must exist. All the other rules hold for an optional key that exists.
	// +optional
	// +kubebuilder:default=true
	Required *bool `json:"required,omitempty"`
	// NonEmpty says that the value must have at least one byte. Nothing is trimmed.
	// +optional
	// +kubebuilder:default=true
	NonEmpty *bool `json:"nonEmpty,omitempty"`
	// MinLength of the decoded value in bytes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinLength *int32 `json:"minLength,omitempty"`
	// MaxLength of the decoded value in bytes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxLength *int32 `json:"maxLength,omitempty"`
	// Pattern is a regular expression of Go's syntax that must match somewhere in the value; \A and \z mean all of it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Pattern string `json:"pattern,omitempty"`
	// Format of the value: JSON, a JSON text of any type; URI, absolute with a scheme; PEM, one or more blocks and nothing else; TLS,
	// certificates in PEM that can be used.
	// +optional
	// +kubebuilder:default=None
	// +kubebuilder:validation:Enum=None;JSON;URI;PEM;TLS
	Format string `json:"format,omitempty"`
	// PlainText reports what an editor does not show of a text: a newline at its end, a byte order mark, NUL bytes, quotes or space around it.
	// +optional
	PlainText bool `json:"plainText,omitempty"`
	// TLS says more about format TLS.
	// +optional
	TLS *TLSRule `json:"tls,omitempty"`
}

// An ExternalSecretReference names the ExternalSecret of the same namespace that must deliver the Secret.
type ExternalSecretReference struct {
	// Name of the ExternalSecret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// APIVersion of the ExternalSecret, one of those that the provider was told to support.
	// +optional
	// +kubebuilder:default="external-secrets.io/v1"
	// +kubebuilder:validation:MaxLength=128
	APIVersion string `json:"apiVersion,omitempty"`
}

// A WorkloadReference names an object of the same namespace whose pods must consume the Secret.
//
// +kubebuilder:validation:XValidation:rule="self.apiVersion == 'batch/v1' ? self.kind in ['Job', 'CronJob'] : self.kind in ['Deployment', 'StatefulSet', 'DaemonSet']",message="apps/v1 has Deployment, StatefulSet and DaemonSet; batch/v1 has Job and CronJob"
type WorkloadReference struct {
	// APIVersion of the workload.
	// +optional
	// +kubebuilder:default="apps/v1"
	// +kubebuilder:validation:Enum=apps/v1;batch/v1
	APIVersion string `json:"apiVersion"`
	// Kind of the workload.
	// +kubebuilder:validation:Enum=Deployment;StatefulSet;DaemonSet;Job;CronJob
	Kind string `json:"kind"`
	// Name of the workload.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// Containers that must all consume the Secret. Default: all regular ones.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Containers []string `json:"containers,omitempty"`
	// IncludeInitContainers looks at init containers too.
	// +optional
	IncludeInitContainers bool `json:"includeInitContainers,omitempty"`
	// Consumption is how: EnvFrom, the whole Secret; EnvVars, each key by itself; Any, either for each key.
	// +optional
	// +kubebuilder:default=Any
	// +kubebuilder:validation:Enum=Any;EnvFrom;EnvVars
	Consumption string `json:"consumption,omitempty"`
}

// Injection of the Secret into workloads. It is not built: anything but Disabled is answered with FeatureNotEnabled.
type Injection struct {
	// Mode of injection.
	// +optional
	// +kubebuilder:default=Disabled
	// +kubebuilder:validation:Enum=Disabled;EnvFrom;EnvVars
	Mode string `json:"mode,omitempty"`
}

// RotationPolicy says how old the Secret's content may be by what its annotation tells.
type RotationPolicy struct {
	// RestartOnChange of workloads. It is not built: true is answered with FeatureNotEnabled.
	// +optional
	RestartOnChange bool `json:"restartOnChange,omitempty"`
	// MaxAge since the time that the annotation tells, in hours, minutes and seconds: 720h.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?$`
	// +kubebuilder:validation:XValidation:rule="self != '' && duration(self) > duration('0s')",message="must be more than none, for example 720h"
	MaxAge *string `json:"maxAge,omitempty"`
	// RotatedAtAnnotation of the Secret tells when its content was made, as a time of RFC 3339.
	// +optional
	// +kubebuilder:default="terdut.ryuvia.com/rotated-at"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	RotatedAtAnnotation string `json:"rotatedAtAnnotation,omitempty"`
}

// Policy says which findings the contract as a whole depends on, beside the Secret and its keys.
type Policy struct {
	// RequireExternalSecretReady needs externalSecretRef.
	// +optional
	RequireExternalSecretReady bool `json:"requireExternalSecretReady,omitempty"`
	// RequireWorkloadReference needs workloadRefs.
	// +optional
	RequireWorkloadReference bool `json:"requireWorkloadReference,omitempty"`
	// RequireRotationPolicy needs rotation.maxAge.
	// +optional
	RequireRotationPolicy bool `json:"requireRotationPolicy,omitempty"`
}

// ContractParameters are what a contract asks for. All references are to the contract's own namespace.
//
// +kubebuilder:validation:XValidation:rule="!has(self.policy) || !has(self.policy.requireExternalSecretReady) || !self.policy.requireExternalSecretReady || has(self.externalSecretRef)",message="policy.requireExternalSecretReady needs externalSecretRef"
// +kubebuilder:validation:XValidation:rule="!has(self.policy) || !has(self.policy.requireWorkloadReference) || !self.policy.requireWorkloadReference || (has(self.workloadRefs) && self.workloadRefs.size() > 0)",message="policy.requireWorkloadReference needs workloadRefs"
// +kubebuilder:validation:XValidation:rule="!has(self.policy) || !has(self.policy.requireRotationPolicy) || !self.policy.requireRotationPolicy || (has(self.rotation) && has(self.rotation.maxAge))",message="policy.requireRotationPolicy needs rotation.maxAge"
type ContractParameters struct {
	// SecretRef names the Secret.
	// +kubebuilder:validation:XValidation:rule="self.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="name must be one that a Secret can have: small letters, digits, - and ."
	SecretRef commonv1alpha1.LocalSecretReference `json:"secretRef"`
	// RequiredKeys are the rules of the Secret's keys.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	RequiredKeys []KeyRule `json:"requiredKeys"`
	// ExternalSecretRef names the ExternalSecret that must deliver the Secret.
	// +optional
	ExternalSecretRef *ExternalSecretReference `json:"externalSecretRef,omitempty"`
	// WorkloadRefs name the workloads that must consume the Secret.
	// +optional
	// +listType=map
	// +listMapKey=apiVersion
	// +listMapKey=kind
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	WorkloadRefs []WorkloadReference `json:"workloadRefs,omitempty"`
	// Injection of the Secret into workloads.
	// +optional
	Injection *Injection `json:"injection,omitempty"`
	// Rotation policy.
	// +optional
	Rotation *RotationPolicy `json:"rotation,omitempty"`
	// Policy says which findings count.
	// +optional
	Policy *Policy `json:"policy,omitempty"`
}
