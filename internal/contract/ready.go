package contract

// A Status is that of a condition.
type Status string

// The states of a condition, as Kubernetes has them. The empty one counts as StatusUnknown.
const (
	StatusTrue    Status = "True"
	StatusFalse   Status = "False"
	StatusUnknown Status = "Unknown"
)

// A Condition is one thing that was looked at.
type Condition struct {
	Status Status
	Reason Reason

	// ObservedGeneration of the contract that it is about.
	ObservedGeneration int64
}

// Conditions are all that the state of a contract depends on.
type Conditions struct {
	Authorized, SpecValid, SecretExists, KeysValid                    Condition
	ExternalSecretReady, WorkloadsConfigured, RotationPolicySatisfied Condition
}

// Satisfied says whether the contract of the given generation is satisfied as a whole:
//
//	Authorized and SpecValid and SecretExists and KeysValid
//	and (ExternalSecretReady, if the policy requires it)
//	and (WorkloadsConfigured, if the policy requires it)
//	and (RotationPolicySatisfied, if the policy requires it)
//
// It is False as soon as one of them is, with the reason of the first that is; otherwise Unknown if one of them is, or is about another
// generation, with that one's reason. What the policy does not require changes nothing.
func (c Conditions) Satisfied(generation int64, p Policy) Condition {
	required := []Condition{c.Authorized, c.SpecValid, c.SecretExists, c.KeysValid}
	if p.RequireExternalSecretReady {
		required = append(required, c.ExternalSecretReady)
	}
	if p.RequireWorkloadReference {
		required = append(required, c.WorkloadsConfigured)
	}
	if p.RequireRotationPolicy {
		required = append(required, c.RotationPolicySatisfied)
	}

	satisfied := Condition{Status: StatusTrue, Reason: ReasonRulesSatisfied, ObservedGeneration: generation}
	for _, r := range required {
		current := r.ObservedGeneration == generation
		switch {
		case current && r.Status == StatusFalse:
			return Condition{Status: StatusFalse, Reason: r.Reason, ObservedGeneration: generation}
		case current && r.Status == StatusTrue || satisfied.Status == StatusUnknown:
		default:
			satisfied.Status, satisfied.Reason = StatusUnknown, r.Reason
		}
	}
	return satisfied
}
