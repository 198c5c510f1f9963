package openbao

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Health of a server.
type Health struct {
	// Version as the server names it.
	Version     string
	Initialized bool
	Sealed      bool
	Standby     bool
	// TLS is the protocol version in use, for example "TLS 1.3". Empty for clear text.
	TLS string
}

// Health asks the server how it is. It needs no login, and a server that is sealed, not initialised or standing by is no error.
func (c *Client) Health(ctx context.Context) (*Health, error) {
	// Without the codes the server would answer these states as errors. The call exists only outside of namespaces.
	fine := []string{"200"}
	r := request{operation: opHealth, method: http.MethodGet, path: "sys/health", anonymous: true, params: url.Values{
		"standbycode": fine, "performancestandbycode": fine, "drsecondarycode": fine, "sealedcode": fine, "uninitcode": fine,
	}}
	a, err := c.send(ctx, r, "")
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, r.classify(a)
	}
	var h struct {
		Version     string `json:"version"`
		Initialized *bool  `json:"initialized"`
		Sealed      bool   `json:"sealed"`
		Standby     bool   `json:"standby"`
	}
	if err := r.decode(a.body, &h); err != nil {
		return nil, err
	}
	if h.Initialized == nil {
		return nil, r.error(ReasonUnreachable, "the answer is not what OpenBao would say")
	}
	return &Health{Version: printable(h.Version), Initialized: *h.Initialized, Sealed: h.Sealed, Standby: h.Standby, TLS: a.tls}, nil
}

// TokenInfo is what a token says about itself.
type TokenInfo struct {
	// TTL that is left; 0 for a token that does not end.
	TTL time.Duration
	// Renewable says whether the token's life can be extended.
	Renewable bool
	Policies  []string
}

// LookupToken looks at the client's own token, which proves that the credential works. A token without the right to do so, which the
// default policy gives, is answered like one that is invalid: permission denied.
func (c *Client) LookupToken(ctx context.Context) (*TokenInfo, error) {
	var a lookupAnswer
	if err := c.do(ctx, lookupRequest(), &a); err != nil {
		return nil, err
	}
	return a.info(), nil
}

// lookup a token outside of the usual way, for which it would be a token that is already in use.
func (c *Client) lookup(ctx context.Context, t *token) (*TokenInfo, error) {
	var a lookupAnswer
	if err := c.sendAs(ctx, lookupRequest(), t.value, &a); err != nil {
		return nil, err
	}
	return a.info(), nil
}

func lookupRequest() request {
	return request{operation: opLookup, method: http.MethodGet, path: "auth/token/lookup-self", capability: "read"}
}

type lookupAnswer struct {
	Data struct {
		TTL       int64    `json:"ttl"`
		Renewable bool     `json:"renewable"`
		Policies  []string `json:"policies"`
	} `json:"data"`
}

func (a lookupAnswer) info() *TokenInfo {
	return &TokenInfo{TTL: time.Duration(a.Data.TTL) * time.Second, Renewable: a.Data.Renewable, Policies: a.Data.Policies}
}
