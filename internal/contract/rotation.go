package contract

import "time"

// ClockSkew is how far in the future a time of rotation may be, because clocks differ.
const ClockSkew = 5 * time.Minute

// Rotation judges the age that an annotation of a Secret claims, whose value is an RFC 3339 time; exists is false when there is none.
// A Secret is too old from the moment at which maxAge has passed. The annotation is a claim of whoever may write it, and does not prove
// that anything was rotated.
//
// It returns ReasonNone when the age is in order, and the next moment at which the answer changes with no change of the Secret, zero
// when there is none.
func Rotation(annotation string, exists bool, maxAge time.Duration, now time.Time) (Reason, time.Time) {
	if !exists {
		return ReasonRotationTimestampMissing, time.Time{}
	}
	rotated, err := time.Parse(time.RFC3339, annotation)
	if err != nil {
		return ReasonRotationTimestampInvalid, time.Time{}
	}
	if from := rotated.Add(-ClockSkew); now.Before(from) {
		return ReasonRotationTimestampInFuture, from.UTC()
	}
	deadline := rotated.Add(maxAge)
	if !now.Before(deadline) {
		return ReasonSecretTooOld, time.Time{}
	}
	return ReasonNone, deadline.UTC()
}
