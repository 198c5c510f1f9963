package terdut

import (
	"context"
	"net/http"
)

// A Bootstrapped server's first user, and the administrator's key, which is shown this once.
type Bootstrapped struct {
	User User   `json:"user"`
	Key  APIKey `json:"api_key"`
}

// Bootstrap makes the server's first user. It needs no key. It works once: IsForbidden when the server has any user.
func (c *Client) Bootstrap(ctx context.Context, username, email string) (*Bootstrapped, error) {
	r := request{
		operation: "bootstrap server", method: http.MethodPost, path: "/api/bootstrap", anonymous: true, confidential: true,
		body: map[string]string{"username": username, "email": email},
	}
	b := &Bootstrapped{}
	a, err := c.send(ctx, r)
	if IsForbidden(err) {
		return nil, &Error{Reason: ReasonForbidden, Operation: r.operation, Status: http.StatusForbidden, detail: "the server has users already"}
	}
	if err != nil {
		return nil, err
	}
	if err := r.decode(a, b); err != nil {
		return nil, err
	}
	if !b.Key.complete() {
		return nil, r.foreign(a, "the answer has no key")
	}
	return b, nil
}
