package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// A TerdutServerSpec is what an application team asks for.
type TerdutServerSpec struct {
	// Image of the server.
	Image ServerImage `json:"image"`
	// Replicas of the server.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Replicas *int32 `json:"replicas,omitempty"`
	// Resources that a replica asks for and is limited to.
	// +optional
	Resources *ServerResources `json:"resources,omitempty"`
	// Networking says where the server is reached.
	// +optional
	// +kubebuilder:default={servicePort: 8080}
	Networking ServerNetworking `json:"networking,omitempty"`
	// Admin is the first user of the server.
	Admin ServerAdmin `json:"admin"`
	// Database that the server keeps its state in. It must exist, none is made.
	Database ServerDatabase `json:"database"`
	// Sweeper cleans up alerts. What is not said is up to the server.
	// +optional
	Sweeper *ServerSweeper `json:"sweeper,omitempty"`
	// Deadman is the server's own dead man's switch. What is not said is up to the server.
	// +optional
	Deadman *ServerDeadman `json:"deadman,omitempty"`
	// Notify people over ntfy. What is not said is up to the server.
	// +optional
	Notify *ServerNotify `json:"notify,omitempty"`
	// OIDC lets people log in with single sign-on.
	// +optional
	OIDC *ServerOIDC `json:"oidc,omitempty"`
	// PasswordLogin lets people log in with a password.
	// +optional
	// +kubebuilder:default=true
	PasswordLogin *bool `json:"passwordLogin,omitempty"`
	// AllowedTeams is the consent to be used by Teams of other namespaces. Those of this namespace always may.
	// +optional
	// +kubebuilder:default={namespaces: {from: None}}
	AllowedTeams oncallv1alpha1.LocalAllowedTeams `json:"allowedTeams,omitempty"`
	// Env is given to the server last. A variable of the same name that would be set otherwise is replaced.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Env []ServerEnvVar `json:"env,omitempty"`
	// Teams of the server, with everything that is theirs. A team that is taken out is deleted on the server.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Teams []ServerTeam `json:"teams,omitempty"`
	// DeletionPolicy says what becomes of the provider's account on the server when this TerdutServer is deleted. Retain keeps it and its
	// credential, for a server that is made again on the same database; Delete removes both. The database is not touched either way.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy commonv1alpha1.DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// Condition types of a TerdutServer, beside Crossplane's own and TypeDatabaseReady.
const (
	// TypeDatabaseCredentialCurrent is true when all replicas were started since the Secret of the database changed last. Ready does not
	// depend on it.
	TypeDatabaseCredentialCurrent = "DatabaseCredentialCurrent"
	// TypeServerReady is true when all replicas answer, at a Service and route that are this TerdutServer's.
	TypeServerReady = "ServerReady"
	// TypeBootstrapped is true when the provider has an account and a key on the server.
	TypeBootstrapped = "Bootstrapped"
	// TypeTeamsReady is true when every team is on the server with everything that is its own.
	TypeTeamsReady = "TeamsReady"
)

// Reasons of a TerdutServer's conditions, beside those of a Tenant and those that are taken over from a composed resource.
const (
	// ReasonNotFound : what the spec refers to does not exist.
	ReasonNotFound = "NotFound"
	// ReasonCredentialChanged : the Secret of the database is not the one that replicas were started with.
	ReasonCredentialChanged = "CredentialChanged"
	// ReasonNoCredential : the database is used without a Secret.
	ReasonNoCredential = "NoCredential"
	// ReasonAmbiguous : what the spec refers to offers more than one choice, and the spec makes none.
	ReasonAmbiguous = "Ambiguous"
	// ReasonRouteRejected : the Gateway does not take the route.
	ReasonRouteRejected = "RouteRejected"
)

// A ServerTeamStatus is what came of a team.
type ServerTeamStatus struct {
	// Name of the team in the spec.
	Name string `json:"name"`
	// ID of the team on the server.
	// +optional
	ID int64 `json:"id,omitempty"`
	// Ready is true when the team and everything that is its own is on the server.
	Ready bool `json:"ready"`
}

// A TerdutServerStatus is what came of a TerdutServer.
type TerdutServerStatus struct {
	// ServiceName of the Service that leads to the server.
	// +optional
	ServiceName string `json:"serviceName,omitempty"`
	// Endpoint of the server inside the cluster.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// CredentialsSecretRef names the Secret in the provider's namespace that holds the key of its account.
	// +optional
	CredentialsSecretRef *commonv1alpha1.LocalSecretReference `json:"credentialsSecretRef,omitempty"`
	// Teams of the spec.
	// +optional
	// +listType=map
	// +listMapKey=name
	Teams []ServerTeamStatus `json:"teams,omitempty"`
	// ObservedGeneration is the generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// A TerdutServer is an on-call server with its teams, their escalation policies, dead man's switches and alert integrations. The name of
// the TerdutServer is that of its Service and of the oncall ProviderConfig that Teams of other namespaces refer to.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="ENDPOINT",type="string",JSONPath=".status.endpoint"
// +kubebuilder:printcolumn:name="TAG",type="string",JSONPath=".spec.image.tag"
// +kubebuilder:printcolumn:name="TEAMS",type="string",JSONPath=".status.conditions[?(@.type=='TeamsReady')].status"
// +kubebuilder:resource:scope=Namespaced,path=terdutservers,categories={terdut}
type TerdutServer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TerdutServerSpec   `json:"spec,omitempty"`
	Status TerdutServerStatus `json:"status,omitempty"`
}

// TerdutServerList contains a list of TerdutServer.
//
// +kubebuilder:object:root=true
type TerdutServerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []TerdutServer `json:"items"`
}

// TerdutServerGroupVersionKind identifies the kind.
var TerdutServerGroupVersionKind = SchemeGroupVersion.WithKind("TerdutServer")

// ServerResources are what a replica asks for and is limited to.
type ServerResources struct {
	// Requests of a replica.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
	// Limits of a replica.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`
}

func init() {
	SchemeBuilder.Register(&TerdutServer{}, &TerdutServerList{})
}
