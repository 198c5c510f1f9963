package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// A TargetKind says whom a level pages.
//
// +kubebuilder:validation:Enum=oncall;user
type TargetKind string

// Kinds of targets.
const (
	// TargetOnCall is whoever is on call by the team's schedule.
	TargetOnCall TargetKind = "oncall"
	// TargetUser is one user.
	TargetUser TargetKind = "user"
)

// An EscalationTarget is whom a level pages.
//
// +kubebuilder:validation:XValidation:rule="(self.kind == 'user') == has(self.username)",message="set username for kind user, and for that alone"
type EscalationTarget struct {
	// Kind of the target: oncall or user.
	Kind TargetKind `json:"kind"`
	// Username of a user of the server. It is looked up at each reconcile.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Username *string `json:"username,omitempty"`
}

// An EscalationLevel pages its targets, and hands over to the next level when nobody has acknowledged in time.
type EscalationLevel struct {
	// Timeout after which the next level is paged.
	Timeout Duration `json:"timeout"`
	// Targets that are paged. Their order means nothing.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Targets []EscalationTarget `json:"targets"`
}

// EscalationPolicyParameters are the desired state of a team's escalation policy.
type EscalationPolicyParameters struct {
	TeamParameters `json:",inline"`

	// RepeatCount is how many times the levels are gone through again when nobody has acknowledged.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	RepeatCount int32 `json:"repeatCount"`
	// FallbackTopic of ntfy that is told when nobody could be paged. Empty: none.
	// +optional
	// +kubebuilder:default=""
	// +kubebuilder:validation:MaxLength=253
	FallbackTopic string `json:"fallbackTopic"`
	// Levels in the order in which they are paged.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Levels []EscalationLevel `json:"levels"`
}

// EscalationPolicyObservation is the observed state of a team's escalation policy.
type EscalationPolicyObservation struct {
	// TeamID on the server.
	// +optional
	TeamID int64 `json:"teamID,omitempty"`
	// Levels that the policy has on the server.
	// +optional
	Levels int32 `json:"levels,omitempty"`
}

// A EscalationPolicySpec is the desired state of an EscalationPolicy.
type EscalationPolicySpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	ForProvider EscalationPolicyParameters `json:"forProvider"`
}

// A EscalationPolicyStatus is the observed state of an EscalationPolicy.
type EscalationPolicyStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	AtProvider EscalationPolicyObservation `json:"atProvider,omitempty"`
}

// An EscalationPolicy says whom the alerts of a team reach. A team has one: of two for the same team the older one keeps it. Deleting it
// leaves the team with an empty policy. Its external name is the id of the team.
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
type EscalationPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   EscalationPolicySpec   `json:"spec"`
	Status EscalationPolicyStatus `json:"status,omitempty"`
}

// EscalationPolicyList contains a list of EscalationPolicy.
//
// +kubebuilder:object:root=true
type EscalationPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []EscalationPolicy `json:"items"`
}

// EscalationPolicyKind is the kind's name.
const EscalationPolicyKind = "EscalationPolicy"

// EscalationPolicyGroupVersionKind identifies the kind.
var EscalationPolicyGroupVersionKind = SchemeGroupVersion.WithKind(EscalationPolicyKind)

func init() {
	SchemeBuilder.Register(&EscalationPolicy{}, &EscalationPolicyList{})
}
