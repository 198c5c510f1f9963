// Package terdut is the client of terdut-server's REST API that the provider uses. It knows nothing of Kubernetes.
//
// Errors are told apart by behaviour with the Is functions. No error holds a key: errors are made here, from the status and from what the
// caller asked for, and of the server's own text only what cannot repeat a key. Each call sends one request, and a list one for each page:
// nothing is sent again by itself, because a server may have done what it did not answer. IsUncertain says when that is possible.
//
// No redirect is followed, whatever the method: a write could not be without becoming another request or carrying its key to a place
// that nobody named, and reads that could would only hide that the endpoint is wrong. The error names where the server points to.
//
// What the API does is settled where its own descriptions are silent; such places are marked with "(s)". Answers are read tolerantly:
// unknown fields are ignored, optional ones may be missing, and any status of success will do.
package terdut

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// defaultTimeout bounds one request, including waiting for its turn and reading its answer.
	defaultTimeout = 10 * time.Second
	// maxResponse bounds the body of an answer in bytes.
	maxResponse = 4 << 20
	// maxHeader bounds the header of an answer in bytes.
	maxHeader = 64 << 10
	// userAgent names the provider in the server's log.
	userAgent = "provider-terdut"
)

// Config of a Client.
type Config struct {
	// Endpoint is the server's URL, http or https, optionally with a path prefix. A trailing slash and a trailing /api make no difference.
	Endpoint string
	// Token is the key to send. Empty is enough for Healthy and Bootstrap alone.
	Token Secret
	// CABundle is a PEM bundle that the server's certificate is verified with. Empty uses the system's.
	CABundle []byte

	// Timeout of one request. Default: 10 s.
	Timeout time.Duration
	// WrapTransport, when set, wraps the transport that requests go through.
	WrapTransport func(http.RoundTripper) http.RoundTripper
}

// A Client of one server with one key. It is safe for concurrent use. Requests of all clients of one server, whatever their keys, share
// one limit: at most 8 are under way, and none is sent while the server asks to be left alone.
type Client struct {
	base    *url.URL
	token   string
	http    *http.Client
	timeout time.Duration
	limits  *limits
}

// New returns a client. It does not contact the server. An error names the setting that is wrong, and repeats none.
func New(c Config) (*Client, error) {
	u, err := url.Parse(c.Endpoint)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("endpoint must be an http or https URL without user, query and fragment")
	}
	if strings.ContainsFunc(string(c.Token), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("token must be printable ASCII without spaces")
	}
	base := &url.URL{Scheme: u.Scheme, Host: canonicalHost(u)}
	base = base.JoinPath(strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api"))

	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: defaultTimeout, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    maxUnderWay,
		IdleConnTimeout:        time.Minute,
		TLSHandshakeTimeout:    defaultTimeout,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // Answers are small, and a compressed one could be large.
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if len(c.CABundle) > 0 {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(c.CABundle) {
			return nil, errors.New("CA bundle holds no PEM certificate")
		}
		t.TLSClientConfig.RootCAs = pool
	}
	cl := &Client{
		base:  base,
		token: string(c.Token),
		http: &http.Client{
			Transport:     t,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		timeout: c.Timeout,
		limits:  shared,
	}
	if c.WrapTransport != nil {
		cl.http.Transport = c.WrapTransport(t)
	}
	if cl.timeout == 0 {
		cl.timeout = defaultTimeout
	}
	return cl, nil
}

// WithToken returns a client of the same server with another key. The two share their connections.
func (c *Client) WithToken(token Secret) *Client {
	d := *c
	d.token = string(token)
	return &d
}

// Endpoint is the server's URL in its canonical form: without a trailing slash or /api, and without the scheme's own port.
func (c *Client) Endpoint() string { return c.base.String() }

// Format keeps the key out of whatever prints a client.
func (c Client) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "(client of %s)", c.base) }

// Close closes idle connections, also of clients that share them. A closed client opens new ones when it is used.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// canonicalHost is the host of a URL in lower case, without the port that its scheme means anyway.
func canonicalHost(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || (u.Scheme == "http" && port == "80") || (u.Scheme == "https" && port == "443") {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, port)
}
