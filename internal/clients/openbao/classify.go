package openbao

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode"
)

// maxDetail bounds what is repeated of a server's text, in bytes.
const maxDetail = 256

// Texts by which the server tells apart what it answers with the same status. Versions agree on them but for upper and lower case.
const (
	textNoRoute    = "no handler for route"
	textNoPath     = "unsupported path"
	textCAS        = "check-and-set parameter did not match"
	textSealed     = "sealed"
	textNoInit     = "not initialized"
	textNoInitYet  = "not yet initialized"
	textNotActive  = "not active"
	textNoActive   = "no active"
	textUpgrading  = "upgrading from non-versioned"
	textSecretID   = "invalid secret id"
	textRole       = "invalid role"
	textRoleID     = "role_id already in use"
	textConstraint = "at least one constraint"
	textCIDR       = "failed to validate cidr"
	statusDR       = 472
	statusReplica  = 473
	statusRedirect = http.StatusTemporaryRedirect
)

// classify makes an error of an answer that is not a success.
func (r request) classify(a *answer) *Error {
	var body struct {
		Errors *[]string       `json:"errors"`
		Data   json.RawMessage `json:"data"`
	}
	isAnswer := json.Unmarshal(a.body, &body) == nil && (body.Errors != nil || body.Data != nil)
	var texts []string
	if body.Errors != nil {
		texts = *body.Errors
	}
	e := r.error(ReasonUnreachable, "")
	e.Status = a.status
	says := func(wanted ...string) bool {
		for _, w := range wanted {
			if strings.Contains(strings.ToLower(strings.Join(texts, "\n")), w) {
				return true
			}
		}
		return false
	}

	switch {
	case a.status == statusRedirect || a.status == statusDR || a.status == statusReplica:
		e.Reason, e.detail = ReasonStandby, "the node is not the active one"
		return e
	case !isAnswer:
		e.detail = "the answer is not what OpenBao would say"
		return e
	case a.status == http.StatusServiceUnavailable && says(textSealed), a.status != http.StatusForbidden && says(textNoInit, textNoInitYet):
		e.Reason, e.detail = ReasonSealed, "the server is sealed or not initialised"
		return e
	case a.status >= 500 && says(textNotActive, textNoActive):
		e.Reason, e.detail = ReasonStandby, "the node is not the active one"
		return e
	case a.status == http.StatusNotFound && says(textNoRoute, textNoPath):
		e.Reason = ReasonMountNotFound
	case a.status == http.StatusNotFound:
		e.Reason = ReasonNotFound
		if len(body.Data) > 0 {
			e.deleted(body.Data)
		}
	case a.status == http.StatusForbidden, a.status == http.StatusUnauthorized:
		e.Reason = ReasonPermissionDenied
	case a.status == http.StatusBadRequest && says(textCAS):
		e.Reason, e.detail = ReasonCASMismatch, "the record has another version by now"
		return e
	case a.status == http.StatusBadRequest && says(textUpgrading):
		e.detail = "the engine is being upgraded"
		return e
	case r.operation == opLogin && (a.status == http.StatusBadRequest || says(textSecretID, textRole)):
		// This is how a wrong role or secret id is answered, the latter by some versions as a failure of their own.
		e.Reason, e.detail = ReasonPermissionDenied, "the login was refused"
		return e
	case r.operation == opWriteAppRole && says(textRoleID, textConstraint, textCIDR):
		// The server answers what it does not like about these settings as failures of its own.
		e.Reason = ReasonRejected
	case a.status == http.StatusTooManyRequests, a.status == http.StatusPreconditionFailed, a.status >= 500:
		e.detail = "the server cannot answer now"
	case a.status >= 400:
		e.Reason = ReasonRejected
	}
	if !r.confidential {
		if t := printable(strings.Join(texts, "; ")); t != "" {
			e.detail = strings.TrimPrefix(e.detail+": "+t, ": ")
		}
	}
	return e
}

// deleted looks into the answer about a version that is not there: for one that was deleted or destroyed it has the metadata.
func (e *Error) deleted(data json.RawMessage) {
	var d struct {
		Metadata struct {
			Version   int  `json:"version"`
			Destroyed bool `json:"destroyed"`
		} `json:"metadata"`
	}
	if json.Unmarshal(data, &d) != nil || d.Metadata.Version == 0 {
		return
	}
	e.Reason, e.Version = ReasonDeleted, d.Metadata.Version
	what := "deleted"
	if d.Metadata.Destroyed {
		what = "destroyed"
	}
	e.detail = fmt.Sprintf("version %d is %s", e.Version, what)
}

// printable makes a server's text fit for conditions and logs: one bounded line.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxDetail {
		s = strings.ToValidUTF8(s[:maxDetail], "") + "..."
	}
	return s
}
