package v1alpha1

import (
	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// A ServerTeam is a team of the server, with everything that is its own.
type ServerTeam struct {
	// Name of the team in this list. A team under another name is another team.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// DisplayName of the team on the server, where it is unique. Default: its name in this list.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	DisplayName *string `json:"displayName,omitempty"`
	// OIDC groups of the team.
	// +optional
	OIDC *oncallv1alpha1.OIDCGroups `json:"oidc,omitempty"`
	// Escalation says whom the team's alerts reach. Without it the team's policy is left to people.
	// +optional
	Escalation *ServerEscalation `json:"escalation,omitempty"`
	// DeadmanSwitches of the team.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	DeadmanSwitches []ServerDeadmanSwitch `json:"deadmanSwitches,omitempty"`
	// Integrations that take alerts for the team.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Integrations []ServerIntegration `json:"integrations,omitempty"`
}

// A ServerEscalation says whom the alerts of a team reach.
type ServerEscalation struct {
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
	// +kubebuilder:validation:MaxItems=16
	Levels []oncallv1alpha1.EscalationLevel `json:"levels"`
}

// A ServerDeadmanSwitch raises an alert when the alert that it waits for stays away.
type ServerDeadmanSwitch struct {
	// Name of the switch on the server, and in this list.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Matcher of the alert that must keep coming, as label=value pairs separated by commas: alertname=Watchdog,cluster=prod.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^\s*[a-zA-Z_][a-zA-Z0-9_]*\s*=[^,=]*(,\s*[a-zA-Z_][a-zA-Z0-9_]*\s*=[^,=]*)*$`
	Matcher string `json:"matcher"`
	// Timeout after which the switch fires when the alert has stayed away.
	Timeout oncallv1alpha1.Duration `json:"timeout"`
	// Severity of the alert that the switch raises.
	// +optional
	// +kubebuilder:default=critical
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Severity string `json:"severity,omitempty"`
}

// A ServerIntegration takes alerts for a team.
type ServerIntegration struct {
	// Name of the integration on the server, and in this list.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Kind of the integration. A changed kind makes another integration, whose URL and key are new.
	// +optional
	// +kubebuilder:default=alertmanager
	// +kubebuilder:validation:Enum=alertmanager
	Kind string `json:"kind,omitempty"`
	// SecretName of the Secret of this namespace that the webhook is written to, at the keys url and key.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="secretName is immutable"
	SecretName string `json:"secretName"`
}
