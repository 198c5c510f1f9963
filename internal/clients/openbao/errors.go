package openbao

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// A Reason says how a call failed.
type Reason string

// Reasons.
const (
	// ReasonNotFound : the server says that there is no such record, or no such version of it, or no such policy or role.
	ReasonNotFound Reason = "NotFound"
	// ReasonDeleted : the version is there, but was deleted or destroyed.
	ReasonDeleted Reason = "Deleted"
	// ReasonMountNotFound : there is no version 2 key-value engine, or no such authentication method, at the mount. A token that may
	// use nothing below a mount is not told whether it exists: that is ReasonPermissionDenied.
	ReasonMountNotFound Reason = "MountNotFound"
	// ReasonPermissionDenied : the server does not let the token do this, or refused the login.
	ReasonPermissionDenied Reason = "PermissionDenied"
	// ReasonSealed : the server is sealed or not initialised.
	ReasonSealed Reason = "Sealed"
	// ReasonStandby : the node is not the active one and did not forward the request.
	ReasonStandby Reason = "Standby"
	// ReasonCASMismatch : the record has another version than the one that was to be replaced.
	ReasonCASMismatch Reason = "CASMismatch"
	// ReasonUnreachable : the server did not answer, not as OpenBao does, or only said that it cannot answer now.
	ReasonUnreachable Reason = "Unreachable"
	// ReasonRejected : the server refused the request, or it was not sent because it never could succeed.
	ReasonRejected Reason = "Rejected"
)

// An Error of a call. It holds no secret.
type Error struct {
	Reason Reason
	// Operation that failed, for example "read data".
	Operation string
	// Mount and Path of the record, when the call was about one.
	Mount, Path string
	// Capability that the token needs on APIPath, for ReasonPermissionDenied.
	Capability, APIPath string
	// Status of the answer, 0 when there was none.
	Status int
	// Version that was deleted or destroyed, for ReasonDeleted.
	Version int

	// object that the call was about, when that is no record.
	object string
	detail string
	cause  error
}

// Error implements error.
func (e *Error) Error() string {
	s := "cannot " + e.Operation
	switch {
	case e.Path != "":
		s += fmt.Sprintf(" of %q", e.Mount+"/"+e.Path)
	case e.object != "":
		s += fmt.Sprintf(" %q", e.object)
	}
	if e.Reason == ReasonPermissionDenied && e.Capability != "" {
		s += fmt.Sprintf(": permission denied: needs %s on %q", e.Capability, e.APIPath)
	}
	if e.detail != "" {
		s += ": " + e.detail
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

// IsNotFound is true when the server said for certain that the record, or the version asked for, or the policy or role, does not exist.
func IsNotFound(err error) bool { return ReasonOf(err) == ReasonNotFound }

// IsDeleted is true when the version was deleted or destroyed. Its record, metadata and numbering are still there.
func IsDeleted(err error) bool { return ReasonOf(err) == ReasonDeleted }

// IsInvalid is true when a name or a value was refused before the server was asked. Nothing of such a name can be there.
func IsInvalid(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Reason == ReasonRejected && e.Status == 0
}

// IsMountNotFound is true when there is no version 2 key-value engine, or no authentication method of the wanted type, at the mount.
func IsMountNotFound(err error) bool { return ReasonOf(err) == ReasonMountNotFound }

// IsPermissionDenied is true when the server refused the login, or does not let the token do this. It is also the answer for a mount
// that does not exist when the token may not know.
func IsPermissionDenied(err error) bool { return ReasonOf(err) == ReasonPermissionDenied }

// IsSealed is true when the server is sealed or not initialised.
func IsSealed(err error) bool { return ReasonOf(err) == ReasonSealed }

// IsStandby is true when the node is not the active one and did not forward the request.
func IsStandby(err error) bool { return ReasonOf(err) == ReasonStandby }

// IsCASMismatch is true when somebody else wrote the record first.
func IsCASMismatch(err error) bool { return ReasonOf(err) == ReasonCASMismatch }

// IsUnreachable is true when the server did not answer, or only said that it cannot answer now. Whether a write took place is unknown.
func IsUnreachable(err error) bool { return ReasonOf(err) == ReasonUnreachable }

func (r request) error(reason Reason, detail string) *Error {
	return &Error{
		Reason:     reason,
		Operation:  r.operation,
		Mount:      r.mount,
		Path:       r.record,
		object:     r.object,
		Capability: r.capability,
		APIPath:    r.path,
		detail:     detail,
	}
}

// unreachable makes an error of what the transport returned. Of that only known kinds are repeated: others may quote bytes that
// the other side sent.
func (r request) unreachable(err error) *Error {
	e := r.error(ReasonUnreachable, "the server cannot be reached")
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
		e.cause = dns
	case errors.As(err, &cert):
		e.cause = cert
	case errors.As(err, &op):
		e.cause = op
	}
	return e
}

func tlsVersion(v uint16) string { return tls.VersionName(v) }
