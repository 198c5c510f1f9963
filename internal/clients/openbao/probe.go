package openbao

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
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

// Capabilities on the two parts of a record's API.
type Capabilities struct{ Data, Metadata []string }

// ReadCapabilities are what reading a record takes.
func ReadCapabilities() Capabilities {
	return Capabilities{Data: []string{"read"}, Metadata: []string{"read"}}
}

// WriteCapabilities are what keeping a record takes, without deleting it.
func WriteCapabilities() Capabilities {
	return Capabilities{Data: []string{"create", "read", "update"}, Metadata: []string{"create", "read", "update"}}
}

// DeleteCapabilities are what deleting a record takes.
func DeleteCapabilities() Capabilities { return Capabilities{Metadata: []string{"delete", "read"}} }

// MissingCapabilities returns which of the wanted capabilities the client's token lacks for a record, each with its path in the API, for
// example `update on "kv/data/tenants/shop"`. The record need not exist.
func (c *Client) MissingCapabilities(ctx context.Context, mount, path string, want Capabilities) ([]string, error) {
	r := request{operation: opCapabilities, method: http.MethodPost, path: "sys/capabilities-self", mount: mount, record: path, capability: "update"}
	if err := ValidatePath(mount, path); err != nil {
		return nil, r.error(ReasonRejected, err.Error())
	}
	dataPath, metadataPath := mount+"/data/"+path, mount+"/metadata/"+path
	var err error
	if r.body, err = encode(map[string][]string{"paths": {dataPath, metadataPath}}); err != nil {
		return nil, r.error(ReasonRejected, "the path cannot be encoded")
	}
	var a struct {
		Data map[string]json.RawMessage `json:"data"`
	}
	if err := c.do(ctx, r, &a); err != nil {
		return nil, err
	}

	var missing []string
	for _, p := range []struct {
		path string
		want []string
	}{{dataPath, want.Data}, {metadataPath, want.Metadata}} {
		var have []string
		if err := r.decode(a.Data[p.path], &have); err != nil {
			return nil, err
		}
		for _, w := range p.want {
			if !slices.Contains(have, w) && !slices.Contains(have, "root") {
				missing = append(missing, fmt.Sprintf("%s on %q", w, p.path))
			}
		}
	}
	return missing, nil
}
