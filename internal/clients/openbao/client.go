// Package openbao is the client of OpenBao's HTTP API that the provider uses: version 2 of the key-value engine, ACL policies, roles of
// the Kubernetes and AppRole authentication methods, and what a probe of a server needs. It knows nothing of Kubernetes' own API.
//
// Errors are told apart by behaviour with the Is functions. No error holds a value of a record, a token or any other secret: errors
// are made here, from the status and from what the caller asked for, and the server's own text is used only for requests that
// carry nothing secret. What the API does was read in the server's documentation and code, and is held by tests that run against a
// real server.
package openbao

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/openbao/openbao/api/v2"
)

const (
	// defaultTimeout bounds one request, including reading its answer.
	defaultTimeout = 10 * time.Second
	// maxResponse bounds the body of an answer in bytes. Servers take requests of at most 32 MiB, but storage keeps entries far
	// below the bound here.
	maxResponse = 4 << 20
	// userAgent names the provider in the server's audit log.
	userAgent = "provider-terdut"
)

// A Call is one request that was sent.
type Call struct {
	// Operation is one of a fixed set, for example "read data" or "log in".
	Operation string
	// Status of the answer, 0 when there was none.
	Status int
}

// Config of a Client.
type Config struct {
	// Address of the server, http or https, optionally with a path prefix, for example https://openbao.example:8200.
	Address string
	// Namespace of the server that the login and all calls go to. Empty is the root namespace.
	Namespace string
	// CABundle is a PEM bundle that the server's certificate is verified with. Empty uses the system's.
	CABundle []byte
	// Auth is how the client authenticates.
	Auth Auth

	// Timeout of one request. Default: 10 s.
	Timeout time.Duration
	// WrapTransport, when set, wraps the transport that requests go through.
	WrapTransport func(http.RoundTripper) http.RoundTripper
	// OnCall, when set, is called after each request. It must be safe for concurrent use.
	OnCall func(Call)
}

// A Client of one server. It holds one token for all its users and is safe for concurrent use.
type Client struct {
	api     *api.Client
	http    *http.Client
	auth    Auth
	timeout time.Duration
	onCall  func(Call)
	now     func() time.Time
	// caBundle that the server is verified with.
	caBundle string

	tokens tokens

	mu sync.Mutex
	// mounts that were seen to be what they should be.
	mounts map[engine]bool
}

// New returns a client. It does not contact the server: the first call logs in. An error names the setting that is wrong.
func New(c Config) (*Client, error) {
	u, err := url.Parse(c.Address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("address must be an http or https URL without user, query and fragment")
	}
	if err := c.Auth.validate(); err != nil {
		return nil, err
	}

	cfg := api.NewConfig()
	if cfg.Error != nil {
		return nil, fmt.Errorf("cannot prepare client: %w", cfg.Error)
	}
	cfg.Address = c.Address
	// A retried write is a second write, and a redirect would carry the token to a host that nobody named.
	cfg.MaxRetries = 0
	cfg.DisableRedirects = true
	// Requests are bounded by their context, see send.
	cfg.Timeout = 0
	if len(c.CABundle) > 0 {
		if err := cfg.ConfigureTLS(&api.TLSConfig{CACertBytes: c.CABundle}); err != nil {
			return nil, fmt.Errorf("CA bundle holds no PEM certificate")
		}
	}
	transport := cfg.HttpClient.Transport
	if c.WrapTransport != nil {
		transport = c.WrapTransport(transport)
	}
	cfg.HttpClient.Transport = bounded{transport}

	ac, err := api.NewClient(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot create client: %w", err)
	}
	ac.AddHeader("User-Agent", userAgent)
	if c.Namespace != "" {
		ac.SetNamespace(c.Namespace)
	}

	cl := &Client{
		api:     ac,
		http:    cfg.HttpClient,
		auth:    c.Auth,
		timeout: c.Timeout,
		onCall:  c.OnCall,
		now:     time.Now,

		caBundle: string(c.CABundle),

		tokens: tokens{turn: make(chan struct{}, 1)},
		mounts: map[engine]bool{},
	}
	if cl.timeout == 0 {
		cl.timeout = defaultTimeout
	}
	if cl.onCall == nil {
		cl.onCall = func(Call) {}
	}
	return cl, nil
}

// CABundle is the PEM bundle that the server's certificate is verified with, empty for the system's.
func (c *Client) CABundle() string { return c.caBundle }

// Close gives the client's token back, unless it was given to the client, and closes idle connections. It is best effort: a token that
// cannot be revoked ends by itself. A closed client logs in again when it is used.
func (c *Client) Close(ctx context.Context) {
	c.forget(ctx)
	c.http.CloseIdleConnections()
}
