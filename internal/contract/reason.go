package contract

import (
	"fmt"
	"slices"
)

// A Reason says why something is as it is. It is a number and not a string, so that no code path, however wrong, can put a piece of a
// Secret's value into one. Its text, which is part of the API, is what String returns and what it is encoded as.
type Reason uint8

// The reasons. Their numbers may change, their texts may not: alerts and dashboards depend on them.
const (
	// ReasonNone is no reason: there is nothing to say.
	ReasonNone Reason = iota

	// Positive findings.
	ReasonRulesSatisfied
	ReasonNotConfigured

	// Of the specification: whoever wrote the contract mends it.
	ReasonInvalidSpec
	ReasonInvalidPattern
	ReasonFeatureNotEnabled

	// Of reading the Secret.
	ReasonAccessNotApproved
	ReasonSecretNotFound
	ReasonSecretAccessDenied

	// Of the data: whoever wrote the Secret mends it.
	ReasonMissingRequiredKey
	ReasonEmptyValue
	ReasonTooShort
	ReasonTooLong
	ReasonPatternMismatch
	ReasonInvalidJSON
	ReasonInvalidURI
	ReasonInvalidPEM

	// Of the budget. ReasonValueTooLarge is about one value, ReasonEvaluationBudgetExceeded about all of them together or about the
	// work for patterns. Nothing is ever cut to fit.
	ReasonValueTooLarge
	ReasonEvaluationBudgetExceeded

	// Of invisible faults in text. ReasonDoubleBase64 is only ever a warning.
	ReasonTrailingNewline
	ReasonTrailingCarriageReturn
	ReasonLeadingByteOrderMark
	ReasonNULByte
	ReasonNotUTF8
	ReasonSurroundingQuotes
	ReasonSurroundingSpace
	ReasonDoubleBase64

	// Of TLS material. ReasonTLSExpiresSoon is only ever a warning, ReasonTLSExpired and ReasonTLSNotYetValid are warnings in a bundle
	// of CA certificates that has another valid one.
	ReasonTLSUnexpectedBlock
	ReasonTLSCertificateInvalid
	ReasonTLSLeafNotFirst
	ReasonTLSChainOutOfOrder
	ReasonTLSNotCA
	ReasonTLSNotYetValid
	ReasonTLSExpired
	ReasonTLSExpiresSoon
	ReasonTLSHostNameMismatch
	ReasonTLSPrivateKeyMissing
	ReasonTLSPrivateKeyInvalid
	ReasonTLSPrivateKeyMismatch

	// Of the ExternalSecret.
	ReasonExternalSecretNotReady
	ReasonExternalSecretNotFound
	ReasonExternalSecretAPINotAvailable
	ReasonExternalSecretTargetMismatch
	ReasonUnsupportedExternalSecretSchema
	ReasonExternalSecretAccessDenied
	ReasonExternalSecretReadFailed
	ReasonExternalSecretNotOwner
	ReasonExternalSecretTargetContested

	// Of the workload.
	ReasonWorkloadNotFound
	ReasonWorkloadAccessDenied
	ReasonWorkloadReadFailed
	ReasonContainerNotFound
	ReasonRequiredReferenceMissing
	ReasonOptionalReferenceNotAllowed
	ReasonEnvConflict
	ReasonAmbiguousEnvPrecedence
	ReasonUnsupportedConsumptionMode
	ReasonKeyNotProjected
	ReasonKeyNotPortable
	ReasonKeyNotFound

	// Of the rotation policy.
	ReasonRotationTimestampMissing
	ReasonRotationTimestampInvalid
	ReasonRotationTimestampInFuture
	ReasonSecretTooOld
)

var reasonTexts = [...]string{
	ReasonNone:                            "",
	ReasonRulesSatisfied:                  "RulesSatisfied",
	ReasonNotConfigured:                   "NotConfigured",
	ReasonInvalidSpec:                     "InvalidSpec",
	ReasonInvalidPattern:                  "InvalidPattern",
	ReasonFeatureNotEnabled:               "FeatureNotEnabled",
	ReasonAccessNotApproved:               "AccessNotApproved",
	ReasonSecretNotFound:                  "SecretNotFound",
	ReasonSecretAccessDenied:              "SecretAccessDenied",
	ReasonMissingRequiredKey:              "MissingRequiredKey",
	ReasonEmptyValue:                      "EmptyValue",
	ReasonTooShort:                        "TooShort",
	ReasonTooLong:                         "TooLong",
	ReasonPatternMismatch:                 "PatternMismatch",
	ReasonInvalidJSON:                     "InvalidJSON",
	ReasonInvalidURI:                      "InvalidURI",
	ReasonInvalidPEM:                      "InvalidPEM",
	ReasonValueTooLarge:                   "ValueTooLarge",
	ReasonEvaluationBudgetExceeded:        "EvaluationBudgetExceeded",
	ReasonTrailingNewline:                 "TrailingNewline",
	ReasonTrailingCarriageReturn:          "TrailingCarriageReturn",
	ReasonLeadingByteOrderMark:            "LeadingByteOrderMark",
	ReasonNULByte:                         "NULByte",
	ReasonNotUTF8:                         "NotUTF8",
	ReasonSurroundingQuotes:               "SurroundingQuotes",
	ReasonSurroundingSpace:                "SurroundingSpace",
	ReasonDoubleBase64:                    "DoubleBase64",
	ReasonTLSUnexpectedBlock:              "TLSUnexpectedBlock",
	ReasonTLSCertificateInvalid:           "TLSCertificateInvalid",
	ReasonTLSLeafNotFirst:                 "TLSLeafNotFirst",
	ReasonTLSChainOutOfOrder:              "TLSChainOutOfOrder",
	ReasonTLSNotCA:                        "TLSNotCA",
	ReasonTLSNotYetValid:                  "TLSNotYetValid",
	ReasonTLSExpired:                      "TLSExpired",
	ReasonTLSExpiresSoon:                  "TLSExpiresSoon",
	ReasonTLSHostNameMismatch:             "TLSHostNameMismatch",
	ReasonTLSPrivateKeyMissing:            "TLSPrivateKeyMissing",
	ReasonTLSPrivateKeyInvalid:            "TLSPrivateKeyInvalid",
	ReasonTLSPrivateKeyMismatch:           "TLSPrivateKeyMismatch",
	ReasonExternalSecretNotReady:          "ExternalSecretNotReady",
	ReasonExternalSecretNotFound:          "ExternalSecretNotFound",
	ReasonExternalSecretAPINotAvailable:   "ExternalSecretAPINotAvailable",
	ReasonExternalSecretTargetMismatch:    "ExternalSecretTargetMismatch",
	ReasonUnsupportedExternalSecretSchema: "UnsupportedExternalSecretSchema",
	ReasonExternalSecretAccessDenied:      "ExternalSecretAccessDenied",
	ReasonExternalSecretReadFailed:        "ExternalSecretReadFailed",
	ReasonExternalSecretNotOwner:          "ExternalSecretNotOwner",
	ReasonExternalSecretTargetContested:   "ExternalSecretTargetContested",
	ReasonWorkloadNotFound:                "WorkloadNotFound",
	ReasonWorkloadAccessDenied:            "WorkloadAccessDenied",
	ReasonWorkloadReadFailed:              "WorkloadReadFailed",
	ReasonContainerNotFound:               "ContainerNotFound",
	ReasonRequiredReferenceMissing:        "RequiredReferenceMissing",
	ReasonOptionalReferenceNotAllowed:     "OptionalReferenceNotAllowed",
	ReasonEnvConflict:                     "EnvConflict",
	ReasonAmbiguousEnvPrecedence:          "AmbiguousEnvPrecedence",
	ReasonUnsupportedConsumptionMode:      "UnsupportedConsumptionMode",
	ReasonKeyNotProjected:                 "KeyNotProjected",
	ReasonKeyNotPortable:                  "KeyNotPortable",
	ReasonKeyNotFound:                     "KeyNotFound",
	ReasonRotationTimestampMissing:        "RotationTimestampMissing",
	ReasonRotationTimestampInvalid:        "RotationTimestampInvalid",
	ReasonRotationTimestampInFuture:       "RotationTimestampInFuture",
	ReasonSecretTooOld:                    "SecretTooOld",
}

// String returns the reason as the API shows it.
func (r Reason) String() string { return textOf(reasonTexts[:], r) }

// MarshalText returns the reason as the API shows it.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText accepts the texts of known reasons alone.
func (r *Reason) UnmarshalText(text []byte) error {
	return parseText(reasonTexts[:], text, r, "reason")
}

// A RuleType is what kind of rule a finding is about: the name of the field of the contract that states it. Like a Reason it is a
// number, so that it cannot hold anything else.
type RuleType uint8

// The types of rules.
const (
	RuleNone RuleType = iota

	// Fields of one key's rule.
	RuleName
	RuleEnvName
	RuleRequired
	RuleNonEmpty
	RuleMinLength
	RuleMaxLength
	RulePattern
	RuleFormat
	RulePlainText
	RuleTLS

	// RuleSize is the budget of values, which every contract has.
	RuleSize

	// Fields of the contract.
	RuleRequiredKeys
	RuleSecretRef
	RuleExternalSecretRef
	RuleWorkloadRefs
	RuleInjection
	RuleRestartOnChange
	RuleMaxAge
	RuleRotatedAtAnnotation
	RulePolicy
)

var ruleTexts = [...]string{
	RuleNone:                "",
	RuleName:                "name",
	RuleEnvName:             "envName",
	RuleRequired:            "required",
	RuleNonEmpty:            "nonEmpty",
	RuleMinLength:           "minLength",
	RuleMaxLength:           "maxLength",
	RulePattern:             "pattern",
	RuleFormat:              "format",
	RulePlainText:           "plainText",
	RuleTLS:                 "tls",
	RuleSize:                "size",
	RuleRequiredKeys:        "requiredKeys",
	RuleSecretRef:           "secretRef",
	RuleExternalSecretRef:   "externalSecretRef",
	RuleWorkloadRefs:        "workloadRefs",
	RuleInjection:           "injection",
	RuleRestartOnChange:     "rotation.restartOnChange",
	RuleMaxAge:              "rotation.maxAge",
	RuleRotatedAtAnnotation: "rotation.rotatedAtAnnotation",
	RulePolicy:              "policy",
}

// String returns the name of the contract's field.
func (r RuleType) String() string { return textOf(ruleTexts[:], r) }

// MarshalText returns the name of the contract's field.
func (r RuleType) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText accepts the names of known fields alone.
func (r *RuleType) UnmarshalText(text []byte) error { return parseText(ruleTexts[:], text, r, "rule") }

func textOf[T ~uint8](texts []string, v T) string {
	if int(v) >= len(texts) {
		return ""
	}
	return texts[v]
}

func parseText[T ~uint8](texts []string, text []byte, v *T, what string) error {
	i := slices.Index(texts, string(text))
	if i < 0 {
		return fmt.Errorf("cannot parse %s: it is not known", what)
	}
	*v = T(i)
	return nil
}
