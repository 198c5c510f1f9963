package terdut

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

const (
	// maxDetail bounds what is repeated of a server's text, in bytes.
	maxDetail = 256
	// window is how many bytes in a row of the key a text may share with it. Fewer is chance.
	window = 8
	// maxHexRun is how many hexadecimal characters in a row a text may hold: keys are 64.
	maxHexRun = 31
)

// classify makes an error of an answer that is not a success of the API.
func (c *Client) classify(r request, a *answer) *Error {
	var body struct {
		Error *string `json:"error"`
	}
	isAnswer := json.Unmarshal(a.body, &body) == nil && body.Error != nil && !isPage(a.header)
	e := r.error(ReasonNotAPI, "the answer is not what the API would say")
	e.Status = a.status
	// The API refuses before it acts. What failed within it, or what somebody else answered, may have acted.
	e.Uncertain = r.isWrite()
	certain := func(reason Reason, detail string) {
		e.Reason, e.detail, e.Uncertain = reason, detail, false
	}

	switch {
	case a.status >= 300 && a.status <= 399:
		if e.Location = c.location(r, a); e.Location != "" {
			e.detail = "redirects are not followed, the endpoint has to be where the server points to:"
		} else {
			e.detail = "redirects are not followed"
		}
		return e
	case a.status == http.StatusTooManyRequests:
		certain(ReasonRateLimited, "the server asked to be left alone for a time")
		d, ok := retryAfter(a.header, c.limits.now())
		if !ok {
			d = defaultPause
		}
		e.RetryAfter = c.limits.pause(c.server(), d)
		return e
	case a.status >= 500 || a.status == http.StatusRequestTimeout:
		e.Reason, e.detail = ReasonUnavailable, "the server cannot answer now"
		if d, ok := retryAfter(a.header, c.limits.now()); ok && a.status == http.StatusServiceUnavailable {
			e.RetryAfter = c.limits.pause(c.server(), d)
		}
	case isPage(a.header):
		return e
	case a.status == http.StatusNotFound && isAnswer:
		certain(ReasonNotFound, "there is none")
	case a.status == http.StatusUnauthorized:
		certain(ReasonUnauthorized, "the server does not take the key")
	case a.status == http.StatusForbidden:
		certain(ReasonForbidden, "the key does not reach this")
	case a.status == http.StatusConflict:
		certain(ReasonConflict, "the server has something in the way")
	case a.status >= 400 && isAnswer:
		certain(ReasonRejected, "the server refuses this")
	default:
		return e
	}
	if isAnswer && !r.confidential {
		if t := c.printable(*body.Error); t != "" {
			e.detail += ": " + t
		}
	}
	return e
}

// location that a redirect points to, fit for errors: without user, query and fragment, which may carry secrets.
func (c *Client) location(r request, a *answer) string {
	u, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.header.Get("Location") == "" {
		return ""
	}
	u = c.base.JoinPath(r.path).ResolveReference(u)
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return c.printable(u.String())
}

// printable makes a server's text fit for conditions and logs: one bounded line. A text that could repeat a key is dropped.
func (c *Client) printable(s string) string {
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
	if c.mayRepeatKey(s) {
		return ""
	}
	if len(s) > maxDetail {
		s = strings.ToValidUTF8(s[:maxDetail], "") + "..."
	}
	return s
}

// mayRepeatKey is true when a text holds a part of the client's key, or what could be another one.
func (c *Client) mayRepeatKey(s string) bool {
	run := 0
	for _, b := range []byte(s) {
		if (b >= '0' && b <= '9') || (b|0x20 >= 'a' && b|0x20 <= 'f') {
			run++
		} else {
			run = 0
		}
		if run > maxHexRun {
			return true
		}
	}
	lower, token := strings.ToLower(s), strings.ToLower(c.token)
	for i := 0; i+window <= len(token); i++ {
		if strings.Contains(lower, token[i:i+window]) {
			return true
		}
	}
	return token != "" && len(token) < window && strings.Contains(lower, token)
}
