package postgresql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// maxMessageBytes bounds what is repeated of a server's message.
const maxMessageBytes = 512

const untrustedCertificate = "the server's certificate is not trusted: "

// class of an error that has no SQLSTATE.
type class int

const (
	classServer class = iota // The server answered with a SQLSTATE.
	classUnreachable
	classUntrusted
	classBusy
	classInvalidName
	classInvalidPassword
	classUnsupported
)

// An Error of an operation. It is safe to show: no statement, parameter, credential or connection string is in it.
type Error struct {
	Op Op
	// Subject of the operation, usually a name.
	Subject string
	// Address that was talked to, host:port.
	Address string
	// Code is the SQLSTATE; empty when the server did not answer. See appendix A of the PostgreSQL documentation.
	Code string
	// Message of the server, or ours.
	Message string
	// Privilege that is missing, when Code is 42501.
	Privilege string

	class class
	cause error // Of the context package, or nil.
}

func (e *Error) Error() string {
	if e.Op == OpValidate {
		return e.Message
	}
	s := "cannot " + string(e.Op)
	if e.Subject != "" {
		s += fmt.Sprintf(" %q", e.Subject)
	}
	if e.Address != "" {
		s += " on " + e.Address
	}
	s += ": " + e.Message
	if e.Code != "" {
		s += " (SQLSTATE " + e.Code + ")"
	}
	if e.Privilege != "" {
		s += "; missing privilege: " + e.Privilege
	}
	return s
}

// Unwrap to a context's error, if that was the reason.
func (e *Error) Unwrap() error { return e.cause }

// A ConflictError says that an object is not ours to touch.
type ConflictError struct {
	Kind     Kind
	Name     string
	Decision Decision
}

func (e *ConflictError) Error() string {
	r := e.Decision.Recorded
	switch e.Decision.Verdict {
	case Foreign:
		return fmt.Sprintf("%s %q belongs to %s/%s (uid %s)", e.Kind, e.Name, r.Namespace, r.Name, r.UID)
	case RetainedByOther:
		return fmt.Sprintf("%s %q was retained by %s/%s (uid %s): an admin can hand it over with an adoption", e.Kind, e.Name, r.Namespace, r.Name, r.UID)
	case NotRegistered:
		return fmt.Sprintf("%s %q exists and was not made by this provider: an admin can hand over a database with an adoption", e.Kind, e.Name)
	default:
		return fmt.Sprintf("%s %q is not reserved", e.Kind, e.Name)
	}
}

// A DataLostError says that a database which the registry knows is gone.
type DataLostError struct{ Database string }

func (e *DataLostError) Error() string {
	return fmt.Sprintf("database %q is recorded but gone: restore it, or let an admin recreate it empty with an adoption", e.Database)
}

// An IdentityChangedError says that an object, or the whole server, is not the one that is recorded.
type IdentityChangedError struct {
	Kind Kind
	Name string
}

func (e *IdentityChangedError) Error() string {
	return fmt.Sprintf("%s %q is not the one that is recorded: an admin can accept it with an adoption", e.Kind, e.Name)
}

// An InUseError says how many sessions keep a database from being dropped. Message is the server's, when it was what noticed: something
// else may hold the database, for example a prepared transaction.
type InUseError struct {
	Database string
	Sessions int
	Message  string
}

func (e *InUseError) Error() string {
	s := fmt.Sprintf("database %q is in use", e.Database)
	if e.Sessions > 0 || e.Message == "" {
		s += fmt.Sprintf(" by %d sessions", e.Sessions)
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

func as[T error](err error) bool { var t T; return errors.As(err, &t) }

func hasClass(err error, c class) bool { var e *Error; return errors.As(err, &e) && e.class == c }

func hasCode(err error, codes ...string) bool {
	var e *Error
	if !errors.As(err, &e) || e.Code == "" {
		return false
	}
	for _, c := range codes {
		if strings.HasPrefix(e.Code, c) { // A shorter one stands for its class.
			return true
		}
	}
	return false
}

// IsConflict says that an object is not ours.
func IsConflict(err error) bool { return as[*ConflictError](err) }

// IsDataLost says that a recorded database is gone.
func IsDataLost(err error) bool { return as[*DataLostError](err) }

// IsIdentityChanged says that an object or the server is not the recorded one.
func IsIdentityChanged(err error) bool { return as[*IdentityChangedError](err) }

// IsInUse says that sessions, or what else holds a database or template (55006), are in the way, or somebody's lock that was waited for
// in vain (55P03).
func IsInUse(err error) bool { return as[*InUseError](err) || hasCode(err, "55006", "55P03") }

// IsNotFound says that a database (3D000), schema (3F000), role or other object (42704) does not exist.
func IsNotFound(err error) bool { return hasCode(err, "3D000", "3F000", "42704") }

// IsInsufficientPrivilege says that the server refused for lack of a privilege (42501), see MissingPrivilege.
func IsInsufficientPrivilege(err error) bool { return hasCode(err, "42501") }

// IsReadOnly says that the server takes no writes (25006), for example because it is a standby.
func IsReadOnly(err error) bool { return hasCode(err, "25006") }

// IsTooManyConnections says that the server, role or database (53300), or this Instance, has no connection left.
func IsTooManyConnections(err error) bool { return hasCode(err, "53300") || hasClass(err, classBusy) }

// IsLoginRejected says that the server refused a user name and password (28P01, 28000).
func IsLoginRejected(err error) bool { return hasCode(err, "28P01", "28000") }

// IsUntrusted says that the connection was given up because of the server's certificate, because it does not offer TLS, or because it
// asked for another authentication than SCRAM-SHA-256.
func IsUntrusted(err error) bool { return hasClass(err, classUntrusted) }

// IsUnreachable says that the server did not answer, is starting up or shutting down, or the connection broke.
func IsUnreachable(err error) bool {
	return hasClass(err, classUnreachable) || hasCode(err, "08", "57P")
}

// IsExtensionUnavailable says that the host does not have an extension or version (0A000, 58P01), or no way to update to it (22023).
func IsExtensionUnavailable(err error) bool { return hasCode(err, "0A000", "22023", "58P01") }

// IsInvalidName says that a name was refused before anything was sent.
func IsInvalidName(err error) bool { return hasClass(err, classInvalidName) }

// IsUnsupported says that a configuration, server version, registry version or wish is one that this release cannot work with.
func IsUnsupported(err error) bool { return hasClass(err, classUnsupported) }

// IsInvalidPassword says that a password was refused before anything was sent.
func IsInvalidPassword(err error) bool { return hasClass(err, classInvalidPassword) }

// IsRetryable says that concurrent work got in the way: the same again may succeed. The Instance retries these itself, a few times.
func IsRetryable(err error) bool {
	var e *Error
	return hasCode(err, "40P01", "40001", "23505", "42P04", "42710") ||
		errors.As(err, &e) && e.Code == "XX000" && strings.Contains(e.Message, "concurrently")
}

// MissingPrivilege names the privilege that is missing, empty when that is not what the error says.
func MissingPrivilege(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Privilege
}

// wrap rebuilds an error of the driver from what is safe to show. Errors that are ours already pass.
func (i *Instance) wrap(op Op, subject string, err error) error {
	if err == nil || as[*Error](err) || as[*ConflictError](err) || as[*DataLostError](err) || as[*IdentityChangedError](err) || as[*InUseError](err) {
		return err
	}
	e := &Error{Op: op, Subject: subject, Address: i.cfg.address()}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		e.Code, e.Message = pg.Code, firstLine(pg.Message)
		if pg.Code == "42501" {
			e.Privilege = op.privilege(subject)
		}
		return e
	}
	e.class, e.Message = classify(err)
	for _, c := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, c) {
			e.cause = c
		}
	}
	return e
}

// classify an error that did not come from the server as an error message. Only texts of the standard library that speak of
// certificates, addresses and sockets are repeated.
func classify(err error) (class, string) {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		alert    tls.AlertError
		record   tls.RecordHeaderError
		dns      *net.DNSError
		op       *net.OpError
	)
	text := err.Error()
	switch {
	case errors.As(err, &unknown):
		return classUntrusted, untrustedCertificate + firstLine(unknown.Error())
	case errors.As(err, &hostname):
		return classUntrusted, untrustedCertificate + firstLine(hostname.Error())
	case errors.As(err, &invalid):
		return classUntrusted, untrustedCertificate + firstLine(invalid.Error())
	case errors.As(err, &verify):
		return classUntrusted, untrustedCertificate + "it cannot be verified"
	case errors.As(err, &alert), errors.As(err, &record):
		return classUntrusted, "TLS failed"
	case strings.Contains(text, "refused TLS connection"):
		return classUntrusted, "the server does not offer TLS"
	case strings.Contains(text, "authentication method requirement"), strings.Contains(text, "SCRAM"):
		return classUntrusted, "the server did not authenticate with SCRAM-SHA-256"
	case errors.Is(err, context.Canceled):
		return classUnreachable, "the request was cancelled"
	case errors.As(err, &dns):
		return classUnreachable, "the host name cannot be resolved"
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return classUnreachable, "the server did not answer in time"
	case errors.As(err, &op):
		return classUnreachable, firstLine(op.Err.Error())
	default:
		return classUnreachable, "the connection failed"
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > maxMessageBytes {
		s = strings.ToValidUTF8(s[:maxMessageBytes], "") + "..."
	}
	return s
}
