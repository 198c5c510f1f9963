package terdut

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
)

// A request to the server, and what is needed to say what failed.
type request struct {
	operation string
	method    string
	// path below the endpoint. It holds nothing that would have to be escaped.
	path  string
	query url.Values
	// body is encoded as JSON, unless it is nil.
	body any

	// anonymous requests carry no key.
	anonymous bool
	// confidential requests are answered with keys: what is said about them may repeat one.
	confidential bool
}

func (r request) isWrite() bool { return r.method != http.MethodGet }

// An answer of the server.
type answer struct {
	status int
	header http.Header
	body   []byte
	// tls is nil for clear text.
	tls *tls.ConnectionState
}

// do sends a request and decodes the answer into out, unless that is nil.
func (c *Client) do(ctx context.Context, r request, out any) error {
	a, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	return r.decode(a, out)
}

// send a request once, and return its answer when that is a success of the API.
func (c *Client) send(ctx context.Context, r request) (*answer, error) {
	a, err := c.exchange(ctx, r)
	if err != nil {
		return nil, err
	}
	if a.status >= 200 && a.status <= 299 && !isPage(a.header) {
		return a, nil
	}
	e := c.classify(r, a)
	if e.Reason == ReasonNotFound && !r.anonymous {
		// What was put in the server's place, or answers for another, is not to be believed: whether it takes the key tells.
		if no := c.authenticated(ctx); no != nil {
			no.Operation, no.Uncertain = r.operation, r.isWrite()
			no.detail = "that there is none is not believed, because the check of the key failed: " + no.detail
			return nil, no
		}
	}
	return nil, e
}

// authenticated asks for something that any key reaches.
func (c *Client) authenticated(ctx context.Context) *Error {
	r := request{operation: "verify key", method: http.MethodGet, path: "/api/users"}
	a, err := c.exchange(ctx, r)
	if err != nil {
		return err
	}
	if a.status < 200 || a.status > 299 || isPage(a.header) {
		e := c.classify(r, a)
		if e.Reason == ReasonNotFound {
			e.Reason = ReasonNotAPI
		}
		return e
	}
	if r.decode(a, &[]json.RawMessage{}) != nil {
		return r.foreign(a, "the answer is not what the API would say")
	}
	return nil
}

// exchange a request for an answer, when it is the client's turn.
func (c *Client) exchange(ctx context.Context, r request) (*answer, *Error) {
	var body io.Reader
	if r.body != nil {
		b, err := json.Marshal(r.body)
		if err != nil {
			return nil, r.error(ReasonRejected, "it cannot be encoded") // What the encoder says may quote a value.
		}
		body = bytes.NewReader(b)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()

	leave, pause, err := c.limits.enter(ctx, c.server())
	switch {
	case err != nil:
		return nil, r.unreachable(err)
	case pause > 0:
		e := r.error(ReasonRateLimited, "the server asked to be left alone for a time")
		e.RetryAfter = pause
		return nil, e
	}
	defer leave()

	// Without a connection nothing was sent, and a write did not take place.
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	u := c.base.JoinPath(r.path)
	u.RawQuery = r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), body)
	if err != nil {
		return nil, r.error(ReasonRejected, "it cannot be sent")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", userAgent)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if !r.anonymous {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}

	a := &answer{}
	resp, err := c.http.Do(req)
	if err == nil {
		defer resp.Body.Close() // Only read from.
		a.status, a.header, a.tls = resp.StatusCode, resp.Header, resp.TLS
		a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	}
	if len(a.body) > maxResponse {
		err = errTooLarge
	}
	switch {
	case err != nil && a.status >= 400 && !errors.Is(err, context.Canceled):
		// The status is enough to tell what failed. A body that is cut off says nothing.
		a.body = nil
	case err != nil:
		e := r.unreachable(err)
		e.Status = a.status
		e.Uncertain = r.isWrite() && connected.Load()
		return nil, e
	}
	return a, nil
}

// server is what the limit is shared by.
func (c *Client) server() string { return c.base.Scheme + "://" + c.base.Host }

// decode an answer. What the decoder says is dropped, because it may quote the answer.
func (r request) decode(a *answer, out any) error {
	switch {
	case out == nil && (len(a.body) == 0 || json.Valid(a.body)):
		return nil
	case out == nil:
		return r.foreign(a, "the answer is not what the API would say")
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		return r.foreign(a, "the answer is not what the API would say")
	}
	return nil
}

// foreign makes an error of an answer that is not the API's.
func (r request) foreign(a *answer, detail string) *Error {
	e := r.error(ReasonNotAPI, detail)
	e.Status = a.status
	e.Uncertain = r.isWrite()
	return e
}

// isPage is true for what is meant for a browser. Proxies and login pages answer so, and the API never does.
func isPage(h http.Header) bool {
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (t == "text/html" || t == "application/xhtml+xml")
}
