package v1alpha1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// Conditions of a SecretCheck, and of a SecretContract. A check that the contract does not ask for is True with reason NotConfigured.
// Their reasons are those of the contract's findings; docs/secretcontract.md has them all.
const (
	// TypeSecretExists is true when the Secret is there.
	TypeSecretExists xpv2.ConditionType = "SecretExists"
	// TypeKeysValid is true when the Secret's keys are as the rules say.
	TypeKeysValid xpv2.ConditionType = "KeysValid"
	// TypeExternalSecretReady is true when the ExternalSecret delivers this Secret and is ready.
	TypeExternalSecretReady xpv2.ConditionType = "ExternalSecretReady"
	// TypeWorkloadsConfigured is true when the pod templates consume the Secret. It does not say that pods run.
	TypeWorkloadsConfigured xpv2.ConditionType = "WorkloadsConfigured"
	// TypeRotationPolicySatisfied is true when the Secret's content is not too old.
	TypeRotationPolicySatisfied xpv2.ConditionType = "RotationPolicySatisfied"
	// TypeSatisfied is the verdict on the contract as a whole: True, False or Unknown. Ready is True exactly when it is.
	TypeSatisfied xpv2.ConditionType = "Satisfied"
)
