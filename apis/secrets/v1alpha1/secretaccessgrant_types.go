package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A ContractReference identifies a contract. A contract that is made again under the same name is another one.
type ContractReference struct {
	// Name of the contract: the SecretContract, or the SecretCheck that none controls.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// UID of the contract.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`
}

// A GrantedWorkload is a workload that a contract may look at.
type GrantedWorkload struct {
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
	Name string `json:"name"`
}

// SecretAccessGrantSpec is what is granted.
type SecretAccessGrantSpec struct {
	// ContractRef identifies the contract of the same namespace.
	ContractRef ContractReference `json:"contractRef"`
	// SecretName is the Secret of the same namespace that the contract may be about.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName"`
	// RuleTypes that the contract may use. Each tells its author something about the value: existence (required) and emptiness (nonEmpty)
	// little, a pattern everything in the end.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Enum=required;nonEmpty;minLength;maxLength;pattern;format;plainText;tls
	RuleTypes []string `json:"ruleTypes"`
	// Workloads that the contract may look at.
	// +optional
	// +listType=map
	// +listMapKey=apiVersion
	// +listMapKey=kind
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Workloads []GrantedWorkload `json:"workloads,omitempty"`
}

// A SecretAccessGrant lets one contract be evaluated where the provider demands that (--secret-authorization=grants). Whoever may create
// one says that the contract's author may learn what its rules tell about the Secret.
//
// +kubebuilder:object:root=true
// +kubebuilder:printcolumn:name="CONTRACT",type="string",JSONPath=".spec.contractRef.name"
// +kubebuilder:printcolumn:name="SECRET",type="string",JSONPath=".spec.secretName"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Namespaced,categories={terdut}
type SecretAccessGrant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SecretAccessGrantSpec `json:"spec"`
}

// SecretAccessGrantList contains a list of SecretAccessGrant.
//
// +kubebuilder:object:root=true
type SecretAccessGrantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []SecretAccessGrant `json:"items"`
}

// SecretAccessGrantKind is the kind's name.
const SecretAccessGrantKind = "SecretAccessGrant"

// SecretAccessGrantGroupVersionKind identifies the kind.
var SecretAccessGrantGroupVersionKind = SchemeGroupVersion.WithKind(SecretAccessGrantKind)

func init() {
	SchemeBuilder.Register(&SecretAccessGrant{}, &SecretAccessGrantList{})
}
