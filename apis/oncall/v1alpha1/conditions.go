package v1alpha1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// Conditions of the kinds, beside Ready and Synced.
const (
	// TypeBootstrapped of a Bootstrap is true when the provider has an account and a key that works.
	TypeBootstrapped xpv2.ConditionType = "Bootstrapped"
	// TypeTeamReady of a Team is true when the team is on the server as the spec says, and its own key works.
	TypeTeamReady xpv2.ConditionType = "TeamReady"
	// TypePolicyReady of an EscalationPolicy is true when the team's policy is as the spec says.
	TypePolicyReady xpv2.ConditionType = "PolicyReady"
	// TypeSwitchReady of a DeadmanSwitch is true when the switch is on the server as the spec says.
	TypeSwitchReady xpv2.ConditionType = "SwitchReady"
	// TypeIntegrationReady of an Integration is true when the integration is on the server as the spec says, and its Secret holds the webhook.
	TypeIntegrationReady xpv2.ConditionType = "IntegrationReady"
)

// Reasons of the conditions. docs/operations.md says what to do about each.
const (
	// ReasonBootstrapped : the provider has an account and a key that works.
	ReasonBootstrapped xpv2.ConditionReason = "Bootstrapped"
	// ReasonInSync : what is on the server is what the spec says.
	ReasonInSync xpv2.ConditionReason = "InSync"
	// ReasonServerNotReady : the server does not answer yet.
	ReasonServerNotReady xpv2.ConditionReason = "ServerNotReady"
	// ReasonBootstrapStateLost : the server has users, and the provider has no key. The message names the way in.
	ReasonBootstrapStateLost xpv2.ConditionReason = "BootstrapStateLost"
	// ReasonRefNotPermitted : the config that serverRef names does not allow Teams of this namespace.
	ReasonRefNotPermitted xpv2.ConditionReason = "RefNotPermitted"
	// ReasonServerChanged : the config leads to another server than the one that the team is on.
	ReasonServerChanged xpv2.ConditionReason = "ServerChanged"
	// ReasonServerNotFound : the config that serverRef or providerConfigRef names does not exist.
	ReasonServerNotFound xpv2.ConditionReason = "ServerNotFound"
	// ReasonConflict : something of that name is there that is not ours, or another object manages it.
	ReasonConflict xpv2.ConditionReason = "Conflict"
	// ReasonWaitingForTeam : the Team is missing or not ready.
	ReasonWaitingForTeam xpv2.ConditionReason = "WaitingForTeam"
	// ReasonUnknownUser : the server has no user of a name that a target names.
	ReasonUnknownUser xpv2.ConditionReason = "UnknownUser"
	// ReasonWebhookSecretLost : the Secret of an integration is gone, and with it the only copy of its key.
	ReasonWebhookSecretLost xpv2.ConditionReason = "WebhookSecretLost"
	// ReasonInUse : others still need what is to be deleted, or the server refuses because something refers to it.
	ReasonInUse xpv2.ConditionReason = "InUse"
	// ReasonDegraded : deletion is held up by a server that does not answer.
	ReasonDegraded xpv2.ConditionReason = "Degraded"
	// ReasonUnreachable : the server does not answer, or somebody answers who is not it.
	ReasonUnreachable xpv2.ConditionReason = "Unreachable"
	// ReasonRateLimited : the server asks to be left alone for a time.
	ReasonRateLimited xpv2.ConditionReason = "RateLimited"
	// ReasonUnauthorized : the server does not know the key.
	ReasonUnauthorized xpv2.ConditionReason = "Unauthorized"
	// ReasonPermissionDenied : the key does not reach this.
	ReasonPermissionDenied xpv2.ConditionReason = "PermissionDenied"
	// ReasonExternalNameInvalid : the external-name annotation is not an id of the server.
	ReasonExternalNameInvalid xpv2.ConditionReason = "ExternalNameInvalid"
	// ReasonFailed : the server refused for another reason.
	ReasonFailed xpv2.ConditionReason = "Failed"
	// ReasonConfigNotReady : the provider config, or the Secret or Bootstrap it names, is missing or incomplete.
	ReasonConfigNotReady xpv2.ConditionReason = "ConfigNotReady"
)

// Condition and reasons of a provider config.
const (
	// TypeHealthy is true when the server answered the last probe and accepted the credential.
	TypeHealthy xpv2.ConditionType = "Healthy"
	// ReasonProbed : the server answered and nothing is missing.
	ReasonProbed xpv2.ConditionReason = "Probed"
)
