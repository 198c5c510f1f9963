package terdut

import (
	"context"
	"fmt"
	"net/http"
)

// A Team of the server.
type Team struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	// MemberGroup and OwnerGroup are the OIDC groups that the team takes members and owners from (s). Empty means none.
	MemberGroup string `json:"member_group"`
	OwnerGroup  string `json:"owner_group"`
}

func (t Team) id() int64 { return t.ID }

func teamPath(id int64) string { return fmt.Sprintf("/api/teams/%d", id) }

// CreateTeam needs an administrator's or an instance-scoped key. IsConflict when the name is taken.
func (c *Client) CreateTeam(ctx context.Context, name string) (*Team, error) {
	r := request{operation: fmt.Sprintf("create team %q", name), method: http.MethodPost, path: "/api/teams", body: map[string]string{"name": name}}
	return one(ctx, c, r, 0, func(t *Team) int64 { return t.ID })
}

// FindTeam returns the team of that name, or nil. IsAmbiguous when there are two.
func (c *Client) FindTeam(ctx context.Context, name string) (*Team, error) {
	r := request{operation: fmt.Sprintf("find team %q", name), path: "/api/teams"}
	return named(ctx, c, r, name, func(t Team) string { return t.Name })
}

// Team returns a team. IsNotFound when there is none.
func (c *Client) Team(ctx context.Context, id int64) (*Team, error) {
	r := request{operation: fmt.Sprintf("read team %d", id), method: http.MethodGet, path: teamPath(id)}
	return one(ctx, c, r, id, func(t *Team) int64 { return t.ID })
}

// RenameTeam changes the name of a team and nothing else. IsConflict when the name is taken.
func (c *Client) RenameTeam(ctx context.Context, id int64, name string) error {
	return c.do(ctx, request{operation: fmt.Sprintf("rename team %d", id), method: http.MethodPut, path: teamPath(id), body: map[string]string{"name": name}}, nil)
}

// SetTeamGroups replaces both OIDC groups of a team. Empty clears one. It needs an administrator's key or one of the team.
func (c *Client) SetTeamGroups(ctx context.Context, id int64, member, owner string) error {
	return c.do(ctx, request{
		operation: fmt.Sprintf("set OIDC groups of team %d", id), method: http.MethodPut, path: teamPath(id) + "/oidc-groups",
		body: map[string]string{"member_group": member, "owner_group": owner},
	}, nil)
}

// DeleteTeam deletes a team with all that belongs to it. IsConflict when the server refuses because something still refers to it.
func (c *Client) DeleteTeam(ctx context.Context, id int64) error {
	return c.do(ctx, request{operation: fmt.Sprintf("delete team %d", id), method: http.MethodDelete, path: teamPath(id)}, nil)
}

// one sends a request that is answered with a thing that has an id: the wanted one, when that is not 0.
func one[T any](ctx context.Context, c *Client, r request, want int64, idOf func(*T) int64) (*T, error) {
	a, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	v := new(T)
	if err := r.decode(a, v); err != nil {
		return nil, err
	}
	if got := idOf(v); got <= 0 || (want != 0 && got != want) {
		return nil, r.foreign(a, "the answer does not have the id that it should")
	}
	return v, nil
}
