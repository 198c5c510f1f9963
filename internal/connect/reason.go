// Package connect turns a provider config into a client: it finds the config that a managed resource refers to, reads the Secrets that
// the config names, and shares one client among all the managed resources of a config for as long as neither changes.
package connect

import (
	"errors"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// A ReasonError is an error with the condition reason that it is reported under.
type ReasonError struct {
	reason xpv2.ConditionReason
	err    error
}

// WithReason gives an error a condition reason. It returns nil for a nil error.
func WithReason(err error, r xpv2.ConditionReason) error {
	if err == nil {
		return nil
	}
	return &ReasonError{reason: r, err: err}
}

// Error implements error.
func (e *ReasonError) Error() string { return e.err.Error() }

// Unwrap returns the error that was given a reason.
func (e *ReasonError) Unwrap() error { return e.err }

// ReasonOf returns the reason of an error, or the default when it carries none.
func ReasonOf(err error, def xpv2.ConditionReason) xpv2.ConditionReason {
	if e := (*ReasonError)(nil); errors.As(err, &e) {
		return e.reason
	}
	return def
}
