package v1alpha1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// TypeRecordReady is true when the record exists, is ours and holds every key of the spec.
const TypeRecordReady xpv2.ConditionType = "RecordReady"

// Reasons of a BaoSecret's conditions. docs/operations.md says what to do about each.
const (
	// ReasonStored : the record holds every key of the spec.
	ReasonStored xpv2.ConditionReason = "Stored"
	// ReasonConflict : a record is there that is not ours.
	ReasonConflict xpv2.ConditionReason = "Conflict"
	// ReasonSourceNotReady : a Secret that valueFrom names, or its key, is missing, empty or no text.
	ReasonSourceNotReady xpv2.ConditionReason = "SourceNotReady"
	// ReasonTemplateFailed : a template cannot be executed. The message says no more, because it could hold a value.
	ReasonTemplateFailed xpv2.ConditionReason = "TemplateFailed"
	// ReasonMountNotFound : there is no KV version 2 engine at the mount.
	ReasonMountNotFound xpv2.ConditionReason = "MountNotFound"
	// ReasonPermissionDenied : the token lacks a capability, which the message names with its path.
	ReasonPermissionDenied xpv2.ConditionReason = "PermissionDenied"
	// ReasonSealed : the server is sealed or not initialised.
	ReasonSealed xpv2.ConditionReason = "Sealed"
	// ReasonUnreachable : the server does not answer, or not as OpenBao does.
	ReasonUnreachable xpv2.ConditionReason = "Unreachable"
	// ReasonCASMismatch : others keep writing the record.
	ReasonCASMismatch xpv2.ConditionReason = "CASMismatch"
	// ReasonDataLost : the current version is deleted or destroyed. It is not made anew without an admin's word.
	ReasonDataLost xpv2.ConditionReason = "DataLost"
	// ReasonInUse : a PGDatabase still uses the record.
	ReasonInUse xpv2.ConditionReason = "InUse"
	// ReasonDegraded : deletion is held up by a server that does not answer.
	ReasonDegraded xpv2.ConditionReason = "Degraded"
	// ReasonFailed : the server refused for another reason.
	ReasonFailed xpv2.ConditionReason = "Failed"
	// ReasonConfigNotReady : the provider config, or the Secret it names, is missing or incomplete.
	ReasonConfigNotReady xpv2.ConditionReason = "ConfigNotReady"
)

// Condition and reasons of a provider config.
const (
	// TypeHealthy is true when the server answered the last probe and accepted the credential.
	TypeHealthy xpv2.ConditionType = "Healthy"
	// ReasonProbed : the server answered and nothing is missing.
	ReasonProbed xpv2.ConditionReason = "Probed"
)
