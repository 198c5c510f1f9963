package terdut

import (
	"context"
	"net/http"
)

// A User of the server.
type User struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
	Email    string `json:"email"`
}

func (u User) id() int64 { return u.ID }

// Users returns all users. Any key reaches them.
func (c *Client) Users(ctx context.Context) ([]User, error) {
	return list[User](ctx, c, request{operation: "list users", method: http.MethodGet, path: "/api/users"})
}
