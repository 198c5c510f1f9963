package terdut

import (
	"context"
	"fmt"
	"net/http"
)

// KindAlertmanager is the kind of an integration that takes what Alertmanager sends.
const KindAlertmanager = "alertmanager"

// An Integration takes alerts for a team. Names are not unique.
type Integration struct {
	ID   int64  `json:"id"`
	Kind string `json:"kind"`
	Name string `json:"name"`
}

func (i Integration) id() int64 { return i.ID }

// A NewIntegration and its key and webhook URL, which are shown this once.
type NewIntegration struct {
	Integration

	Key Secret `json:"key"`
	URL Secret `json:"url"`
}

func integrationsPath(team int64) string { return teamPath(team) + "/integrations" }

// Integrations lists the integrations of a team. IsNotFound when there is no such team.
func (c *Client) Integrations(ctx context.Context, team int64) ([]Integration, error) {
	return list[Integration](ctx, c, request{operation: fmt.Sprintf("list integrations of team %d", team), method: http.MethodGet, path: integrationsPath(team)})
}

// CreateIntegration creates another integration, whatever others are called.
func (c *Client) CreateIntegration(ctx context.Context, team int64, kind, name string) (*NewIntegration, error) {
	r := request{
		operation: fmt.Sprintf("create integration %q of team %d", name, team), method: http.MethodPost, path: integrationsPath(team), confidential: true,
		body: map[string]string{"kind": kind, "name": name},
	}
	a, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	n := &NewIntegration{}
	if err := r.decode(a, n); err != nil {
		return nil, err
	}
	if n.ID <= 0 || n.Key == "" || n.URL == "" {
		return nil, r.foreign(a, "the answer lacks id, key or URL")
	}
	return n, nil
}

// RenameIntegration changes the name of an integration and nothing else. Its key stays.
func (c *Client) RenameIntegration(ctx context.Context, team, id int64, name string) error {
	return c.do(ctx, request{
		operation: fmt.Sprintf("rename integration %d of team %d", id, team), method: http.MethodPatch, path: fmt.Sprintf("%s/%d", integrationsPath(team), id),
		body: map[string]string{"name": name},
	}, nil)
}

// DeleteIntegration deletes an integration. Its key ends.
func (c *Client) DeleteIntegration(ctx context.Context, team, id int64) error {
	return c.do(ctx, request{operation: fmt.Sprintf("delete integration %d of team %d", id, team), method: http.MethodDelete, path: fmt.Sprintf("%s/%d", integrationsPath(team), id)}, nil)
}
