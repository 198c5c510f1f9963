package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// DeadmanSwitchParameters are the desired state of a dead man's switch.
type DeadmanSwitchParameters struct {
	TeamParameters `json:",inline"`

	// Name of the switch on the server. Default: the server derives it from the matcher.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name *string `json:"name,omitempty"`
	// Matcher of the alert that must keep coming, as label=value pairs separated by commas: alertname=Watchdog,cluster=prod.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^\s*[a-zA-Z_][a-zA-Z0-9_]*\s*=[^,=]*(,\s*[a-zA-Z_][a-zA-Z0-9_]*\s*=[^,=]*)*$`
	Matcher string `json:"matcher"`
	// Timeout after which the switch fires when the alert has stayed away.
	Timeout Duration `json:"timeout"`
	// Severity of the alert that the switch raises.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Severity string `json:"severity"`
}

// DeadmanSwitchObservation is the observed state of a dead man's switch.
type DeadmanSwitchObservation struct {
	// SwitchID on the server.
	// +optional
	SwitchID int64 `json:"switchID,omitempty"`
	// TeamID on the server.
	// +optional
	TeamID int64 `json:"teamID,omitempty"`
	// Name on the server.
	// +optional
	Name string `json:"name,omitempty"`
}

// A DeadmanSwitchSpec is the desired state of a DeadmanSwitch.
type DeadmanSwitchSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	ForProvider DeadmanSwitchParameters `json:"forProvider"`
}

// A DeadmanSwitchStatus is the observed state of a DeadmanSwitch.
type DeadmanSwitchStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	AtProvider DeadmanSwitchObservation `json:"atProvider,omitempty"`
}

// A DeadmanSwitch raises an alert when the alert that it waits for stays away. Its external name is the switch's id on the server.
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
type DeadmanSwitch struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DeadmanSwitchSpec   `json:"spec"`
	Status DeadmanSwitchStatus `json:"status,omitempty"`
}

// DeadmanSwitchList contains a list of DeadmanSwitch.
//
// +kubebuilder:object:root=true
type DeadmanSwitchList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []DeadmanSwitch `json:"items"`
}

// DeadmanSwitchKind is the kind's name.
const DeadmanSwitchKind = "DeadmanSwitch"

// DeadmanSwitchGroupVersionKind identifies the kind.
var DeadmanSwitchGroupVersionKind = SchemeGroupVersion.WithKind(DeadmanSwitchKind)

func init() {
	SchemeBuilder.Register(&DeadmanSwitch{}, &DeadmanSwitchList{})
}
