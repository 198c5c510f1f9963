package terdut

import (
	"context"
	"crypto/tls"
	"net/http"
)

// Healthy returns no error when the server answers and its database does. It needs no key. The protocol version of TLS in use is empty for
// clear text.
func (c *Client) Healthy(ctx context.Context) (protocol string, err error) {
	a, err := c.send(ctx, request{operation: "check health", method: http.MethodGet, path: "/healthz", anonymous: true})
	if err != nil || a.tls == nil {
		return "", err
	}
	return tls.VersionName(a.tls.Version), nil
}
