package terdut

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// A Reason says how a call failed.
type Reason string

// Reasons.
const (
	// ReasonNotFound : the API itself says that there is no such thing, and takes the key.
	ReasonNotFound Reason = "NotFound"
	// ReasonConflict : the name is taken, or others still refer to what was to be deleted.
	ReasonConflict Reason = "Conflict"
	// ReasonForbidden : the key does not reach this. For Bootstrap: the server has users already.
	ReasonForbidden Reason = "Forbidden"
	// ReasonUnauthorized : the server does not know the key, or none was sent.
	ReasonUnauthorized Reason = "Unauthorized"
	// ReasonUnavailable : the server did not answer, not wholly, or only said that it cannot answer now.
	ReasonUnavailable Reason = "Unavailable"
	// ReasonRateLimited : the server asks to be left alone for a time, or did so a moment ago and nothing was sent.
	ReasonRateLimited Reason = "RateLimited"
	// ReasonNotAPI : somebody answers who is not the API: a proxy, a login page, a server that has moved, or another server.
	ReasonNotAPI Reason = "NotAPI"
	// ReasonAmbiguous : two things have the name that was looked for.
	ReasonAmbiguous Reason = "Ambiguous"
	// ReasonRejected : the server refused the request as wrong, or it was not sent because it never could succeed.
	ReasonRejected Reason = "Rejected"
)

// An Error of a call. It holds no key. Its text is the same each time for the same failure.
type Error struct {
	Reason Reason
	// Operation that failed, for example "create team".
	Operation string
	// Status of the answer, 0 when there was none.
	Status int
	// Location is where the server points to, without user and query, for ReasonNotAPI of a redirect.
	Location string
	// RetryAfter is how long to wait before the next call to this server, for ReasonRateLimited, and for ReasonUnavailable when the server
	// said so. It carries a jitter.
	RetryAfter time.Duration
	// Uncertain is true when the call was a write that may have taken place.
	Uncertain bool

	detail string
	cause  error
}

// Error implements error.
func (e *Error) Error() string {
	s := "cannot " + e.Operation
	if e.detail != "" {
		s += ": " + e.detail
	}
	if e.Location != "" {
		s += fmt.Sprintf(" %q", e.Location)
	}
	if e.cause != nil {
		s += ": " + e.cause.Error()
	}
	if e.Status != 0 {
		s += fmt.Sprintf(" (status %d)", e.Status)
	}
	return s
}

// Unwrap returns what kept the request from being answered, when that is known and harmless.
func (e *Error) Unwrap() error { return e.cause }

// ReasonOf returns the reason of a failed call, and nothing for other errors.
func ReasonOf(err error) Reason {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// IsNotFound is true when the API said for certain that what was asked for does not exist.
func IsNotFound(err error) bool { return ReasonOf(err) == ReasonNotFound }

// IsConflict is true when the name is taken, or others still refer to what was to be deleted.
func IsConflict(err error) bool { return ReasonOf(err) == ReasonConflict }

// IsForbidden is true when the key does not reach this, or, for Bootstrap, when the server has users already.
func IsForbidden(err error) bool { return ReasonOf(err) == ReasonForbidden }

// IsUnauthorized is true when the server does not know the key.
func IsUnauthorized(err error) bool { return ReasonOf(err) == ReasonUnauthorized }

// IsUnavailable is true when the server did not answer, or only said that it cannot answer now.
func IsUnavailable(err error) bool { return ReasonOf(err) == ReasonUnavailable }

// IsNotAPI is true when somebody answers who is not the API.
func IsNotAPI(err error) bool { return ReasonOf(err) == ReasonNotAPI }

// IsAmbiguous is true when two things have the name that was looked for.
func IsAmbiguous(err error) bool { return ReasonOf(err) == ReasonAmbiguous }

// IsUncertain is true when a write failed that may have taken place all the same.
func IsUncertain(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Uncertain
}

// errTooLarge is what reading an answer beyond maxResponse ends with.
var errTooLarge = errors.New("the answer is too large")

func (r request) error(reason Reason, detail string) *Error {
	return &Error{Reason: reason, Operation: r.operation, detail: detail}
}

// unreachable makes an error of what the transport returned. Of that only known kinds are repeated: others may quote bytes that
// the other side sent.
func (r request) unreachable(err error) *Error {
	e := r.error(ReasonUnavailable, "the server cannot be reached")
	var op *net.OpError
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.Canceled):
		e.cause = context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		e.cause = context.DeadlineExceeded
	case errors.Is(err, errTooLarge):
		e.cause = errTooLarge
	case errors.Is(err, http.ErrSchemeMismatch):
		e.cause = http.ErrSchemeMismatch
	case errors.As(err, &dns):
		// Without the resolver's address, which differs from one attempt to the next.
		e.detail += fmt.Sprintf(": no address of %q", dns.Name)
	case errors.As(err, &cert):
		e.cause = cert
	case errors.As(err, &op):
		// Without this side's address, whose port differs from one attempt to the next.
		e.detail += ": " + op.Op + ": " + op.Err.Error()
	}
	return e
}
