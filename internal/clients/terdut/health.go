package terdut

import (
	"context"
	"net/http"
)

// Healthy returns nil when the server answers and its database does. It needs no key.
func (c *Client) Healthy(ctx context.Context) error {
	_, err := c.send(ctx, request{operation: "check health", method: http.MethodGet, path: "/healthz", anonymous: true})
	return err
}
