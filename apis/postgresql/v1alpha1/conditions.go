package v1alpha1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// Conditions of a PGDatabase, in the order in which they become true. Ready needs all that its spec asks for.
const (
	// TypePreflightPassed is true when nothing stands in the way: names are free or ours, extensions are available.
	TypePreflightPassed xpv2.ConditionType = "PreflightPassed"
	// TypeRoleReady is true when the owner role exists as asked for and its password is the one of passwordFrom.
	TypeRoleReady xpv2.ConditionType = "RoleReady"
	// TypeDatabaseReady is true when the database exists as asked for and strangers may not connect to it.
	TypeDatabaseReady xpv2.ConditionType = "DatabaseReady"
	// TypeExtensionsReady is true when every extension is installed in its schema and version.
	TypeExtensionsReady xpv2.ConditionType = "ExtensionsReady"
	// TypeLoginVerified is true when the credentials in the Secret of loginCheck logged in.
	TypeLoginVerified xpv2.ConditionType = "LoginVerified"
)

// Reasons of a PGDatabase's conditions. docs/operations.md says what to do about each.
const (
	// ReasonPassed : all is as asked for.
	ReasonPassed xpv2.ConditionReason = "Passed"
	// ReasonPending : an earlier step is not done yet.
	ReasonPending xpv2.ConditionReason = "Pending"
	// ReasonConflict : the name is taken by something that the registry does not give to this object.
	ReasonConflict xpv2.ConditionReason = "Conflict"
	// ReasonCredentialNotReady : the password source is missing, empty or not Ready yet.
	ReasonCredentialNotReady xpv2.ConditionReason = "CredentialNotReady"
	// ReasonExtensionUnavailable : the server does not offer the extension, or not in this version.
	ReasonExtensionUnavailable xpv2.ConditionReason = "ExtensionUnavailable"
	// ReasonExtensionFailed : the server refused to install, move or update an extension.
	ReasonExtensionFailed xpv2.ConditionReason = "ExtensionFailed"
	// ReasonLoginRejected : the server refused the credentials.
	ReasonLoginRejected xpv2.ConditionReason = "LoginRejected"
	// ReasonSecretNotReady : the Secret of loginCheck, or a key of it, is missing or empty.
	ReasonSecretNotReady xpv2.ConditionReason = "SecretNotReady"
	// ReasonInsufficientPrivilege : the management role lacks a privilege, which the message names.
	ReasonInsufficientPrivilege xpv2.ConditionReason = "InsufficientPrivilege"
	// ReasonInstanceUnreachable : the server does not answer, or not as the config expects it to.
	ReasonInstanceUnreachable xpv2.ConditionReason = "InstanceUnreachable"
	// ReasonReadOnly : the server accepts no writes.
	ReasonReadOnly xpv2.ConditionReason = "ReadOnly"
	// ReasonTooManyConnections : the server has no connection slot left.
	ReasonTooManyConnections xpv2.ConditionReason = "TooManyConnections"
	// ReasonDataLost : a database that was created here has vanished. It is not made anew without an admin's word.
	ReasonDataLost xpv2.ConditionReason = "DataLost"
	// ReasonIdentityChanged : the server, or the database under this name, is not the one that was recorded.
	ReasonIdentityChanged xpv2.ConditionReason = "IdentityChanged"
	// ReasonInUse : others are connected, so the database is not dropped.
	ReasonInUse xpv2.ConditionReason = "InUse"
	// ReasonDegraded : deletion is held up by a server that does not answer.
	ReasonDegraded xpv2.ConditionReason = "Degraded"
	// ReasonFailed : the server refused for another reason, which the message gives.
	ReasonFailed xpv2.ConditionReason = "Failed"
	// ReasonExternalNameChanged : the external name was changed after a database was recorded for this object.
	ReasonExternalNameChanged xpv2.ConditionReason = "ExternalNameChanged"
	// ReasonConfigNotReady : the provider config, or the Secret it names, is missing or incomplete.
	ReasonConfigNotReady xpv2.ConditionReason = "ConfigNotReady"
)

// Condition and reasons of a provider config.
const (
	// TypeHealthy is true when the server answered the last probe and the management role has what it needs.
	TypeHealthy xpv2.ConditionType = "Healthy"
	// ReasonProbed : the server answered and nothing is missing.
	ReasonProbed xpv2.ConditionReason = "Probed"
)
