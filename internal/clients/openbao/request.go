package openbao

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/openbao/openbao/api/v2"
)

// Operations, as they are counted and as they appear in errors after "cannot".
const (
	opLogin          = "log in"
	opRenew          = "renew token"
	opRevoke         = "revoke token"
	opLookup         = "look up token"
	opHealth         = "read health"
	opMount          = "look up mount"
	opReadData       = "read data"
	opWriteData      = "write data"
	opReadMetadata   = "read metadata"
	opWriteMetadata  = "write metadata"
	opDeleteMetadata = "delete metadata"

	opReadPolicy           = "read policy"
	opWritePolicy          = "write policy"
	opDeletePolicy         = "delete policy"
	opReadKubernetesRole   = "read Kubernetes auth role"
	opWriteKubernetesRole  = "write Kubernetes auth role"
	opDeleteKubernetesRole = "delete Kubernetes auth role"
	opReadAppRole          = "read AppRole role"
	opWriteAppRole         = "write AppRole role"
	opDeleteAppRole        = "delete AppRole role"
)

// errTooLarge is what reading an answer beyond maxResponse ends with.
var errTooLarge = errors.New("the answer is too large")

// A request to the server, and what is needed to say what failed.
type request struct {
	operation string
	method    string
	// path below /v1/, not escaped.
	path   string
	params url.Values
	body   []byte

	// mount and record that the request is about, when it is about one.
	mount, record string
	// object that the request is about, when that is something else, in the words of its API.
	object string
	// capability that the token needs on path.
	capability string
	// confidential requests carry secrets: what the server says about them may repeat some.
	confidential bool
	// anonymous requests carry neither a token nor a namespace.
	anonymous bool
}

// An answer of the server.
type answer struct {
	status int
	body   []byte
	tls    string
}

// do sends a request with the client's token and decodes the answer into out, unless that is nil. A request that is denied because the
// token has ended is sent once more with another.
func (c *Client) do(ctx context.Context, r request, out any) error {
	t, err := c.token(ctx)
	if err != nil {
		return err
	}
	err = c.sendAs(ctx, r, t.value, out)
	if !IsPermissionDenied(err) {
		return err
	}
	if fresh, ok := c.replace(ctx, t); ok {
		return c.sendAs(ctx, r, fresh.value, out)
	}
	return err
}

// sendAs sends a request with a token and decodes the answer.
func (c *Client) sendAs(ctx context.Context, r request, token string, out any) error {
	a, err := c.send(ctx, r, token)
	if err != nil {
		return err
	}
	if a.status < 200 || a.status > 299 {
		return r.classify(a)
	}
	return r.decode(a.body, out)
}

// decode an answer. What the decoder says is dropped, because it may quote the answer.
func (r request) decode(body []byte, out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return r.error(ReasonUnreachable, "the answer is not what OpenBao would say")
	}
	return nil
}

// send a request once.
func (c *Client) send(ctx context.Context, r request, token string) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()

	// The path is escaped here, once, and the slashes in it stay. It was checked before, so that joining changes nothing in it.
	ar := c.api.NewRequest(r.method, "/v1/"+r.path)
	ar.ClientToken = token
	ar.Params = r.params
	ar.BodyBytes = r.body
	client := c.api
	if r.anonymous {
		client = c.api.WithNamespace("")
	}

	resp, err := client.RawRequestWithContext(ctx, ar) // The typed calls lose the status and the exact numbers.
	a := &answer{}
	if resp != nil && resp.Response != nil {
		defer resp.Body.Close() // Only read from.
		a.status = resp.StatusCode
		if resp.TLS != nil {
			a.tls = tlsVersion(resp.TLS.Version)
		}
	}
	c.onCall(Call{Operation: r.operation, Status: a.status})

	var failed *api.ResponseError
	if err != nil && !errors.As(err, &failed) {
		return nil, r.unreachable(err)
	}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		return nil, r.unreachable(err)
	}
	return a, nil
}

// bounded bounds the body of each answer, so that no server can fill our memory.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return resp, err
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxResponse}
	return resp, nil
}

// CloseIdleConnections passes the wish on, because http.Client only asks the outermost transport.
func (b bounded) CloseIdleConnections() {
	if c, ok := b.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
