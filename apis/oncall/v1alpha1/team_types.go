package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// A ServerReference names an oncall ProviderConfig. One of another namespace must allow the Team's namespace in its allowedTeams.
type ServerReference struct {
	// Name of the ProviderConfig.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Namespace of the ProviderConfig. Default: the Team's own.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace *string `json:"namespace,omitempty"`
}

// OIDCGroups that a team takes people from when they log in. An unset one is left as it is; an empty one is cleared.
type OIDCGroups struct {
	// MemberGroup whose people become members.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	MemberGroup *string `json:"memberGroup,omitempty"`
	// OwnerGroup whose people become owners.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	OwnerGroup *string `json:"ownerGroup,omitempty"`
}

// ServerTeamParameters are the desired state of a team.
//
// +kubebuilder:validation:XValidation:rule="has(self.serverRef) == has(oldSelf.serverRef)",message="serverRef is immutable: a team is on one server"
type ServerTeamParameters struct {
	// DisplayName of the team on the server, where it is unique. Default: the object's name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	DisplayName *string `json:"displayName,omitempty"`
	// OIDC groups of the team.
	// +optional
	OIDC *OIDCGroups `json:"oidc,omitempty"`
	// ServerRef names the server that the team is on. When it is unset, providerConfigRef does.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="serverRef is immutable: a team is on one server"
	ServerRef *ServerReference `json:"serverRef,omitempty"`
	// KeyRotation of the team's own key.
	// +optional
	KeyRotation *KeyRotation `json:"keyRotation,omitempty"`
}

// TeamObservation is the observed state of a team.
type TeamObservation struct {
	// TeamID on the server.
	// +optional
	TeamID int64 `json:"teamID,omitempty"`
	// ServerEndpoint that the team is on.
	// +optional
	ServerEndpoint string `json:"serverEndpoint,omitempty"`
	// ServiceAccountID of the team's own account.
	// +optional
	ServiceAccountID int64 `json:"serviceAccountID,omitempty"`
	// KeyID of the team's own key in use.
	// +optional
	KeyID int64 `json:"keyID,omitempty"`
	// KeyRotationTrigger that the key in use belongs to.
	// +optional
	KeyRotationTrigger string `json:"keyRotationTrigger,omitempty"`
	// CredentialsSecretRef names the Secret in the provider's namespace that holds the key.
	// +optional
	CredentialsSecretRef *CredentialReference `json:"credentialsSecretRef,omitempty"`
}

// A TeamSpec is the desired state of a Team.
type TeamSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// +optional
	// +kubebuilder:default={}
	ForProvider ServerTeamParameters `json:"forProvider,omitempty"`
}

// A TeamStatus is the observed state of a Team.
type TeamStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	AtProvider TeamObservation `json:"atProvider,omitempty"`
}

// A Team of an on-call server. Its external name is the team's id there. Its escalation policy, switches and integrations work with a
// key that reaches this team alone.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type="string",JSONPath=".metadata.annotations.crossplane\\.io/external-name"
// +kubebuilder:printcolumn:name="SERVER",type="string",JSONPath=".status.atProvider.serverEndpoint"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason",priority=1
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,terdut}
type Team struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TeamSpec   `json:"spec"`
	Status TeamStatus `json:"status,omitempty"`
}

// TeamList contains a list of Team.
//
// +kubebuilder:object:root=true
type TeamList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Team `json:"items"`
}

// TeamKind is the kind's name.
const TeamKind = "Team"

// TeamGroupVersionKind identifies the kind.
var TeamGroupVersionKind = SchemeGroupVersion.WithKind(TeamKind)

func init() {
	SchemeBuilder.Register(&Team{}, &TeamList{})
}
