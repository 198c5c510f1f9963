package v1alpha1

import commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"

// A Duration in whole seconds, more than none, as hours, minutes and seconds: 15m, 1h30m, 90s. Durations are compared by their length.
//
// +kubebuilder:validation:MaxLength=16
// +kubebuilder:validation:Pattern=`^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?$`
// +kubebuilder:validation:XValidation:rule="size(self) > 0 && duration(self) >= duration('1s')",message="must be at least 1s, for example 15m or 1h30m"
type Duration string

// A KeyRotation replaces a key that the provider holds.
type KeyRotation struct {
	// Trigger is any string. Changing it makes a new key, puts it into use, and then revokes all others of the same account, once.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._:-]*$`
	Trigger string `json:"trigger"`
}

// A TeamReference names a Team of the same namespace.
type TeamReference struct {
	// Name of the Team.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// A TeamSelector selects the one Team of the same namespace that has the labels. Two that have them are reported, none is chosen.
type TeamSelector struct {
	// MatchLabels are labels that the Team must have.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	MatchLabels map[string]string `json:"matchLabels"`
}

// TeamParameters say whose an object is. They are resolved at each reconcile, and nothing of the result is written into the spec.
//
// +kubebuilder:validation:XValidation:rule="has(self.teamRef) != has(self.teamSelector)",message="set exactly one of teamRef and teamSelector"
type TeamParameters struct {
	// TeamRef names the Team.
	// +optional
	TeamRef *TeamReference `json:"teamRef,omitempty"`
	// TeamSelector selects the Team by labels.
	// +optional
	TeamSelector *TeamSelector `json:"teamSelector,omitempty"`
}

// CredentialReference names a Secret of the provider's own namespace. It is shown for people; nothing follows it.
type CredentialReference = commonv1alpha1.LocalSecretReference
