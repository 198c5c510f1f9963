package terdut

import (
	"context"
	"fmt"
	"net/http"
)

// A DeadmanSwitch raises an alert when the alert that it waits for stays away.
type DeadmanSwitch struct {
	ID int64 `json:"id"`

	DeadmanSwitchParameters
}

func (s DeadmanSwitch) id() int64 { return s.ID }

// DeadmanSwitchParameters are what a client says of a switch.
type DeadmanSwitchParameters struct {
	// Name is not unique. Sent empty, the server derives it from the matcher: CanonicalMatcher.
	Name string `json:"name"`
	// Matcher of the alert, for example "alertname=Watchdog,cluster=prod".
	Matcher string `json:"matcher"`
	// Timeout after which the alert is missed. Sent, it must be positive and in whole seconds.
	Timeout Duration `json:"timeout"`
	// Severity of the alert that is raised.
	Severity string `json:"severity"`
}

func switchesPath(team int64) string { return teamPath(team) + "/deadman/switches" }

// DeadmanSwitches lists the switches of a team. IsNotFound when there is no such team.
func (c *Client) DeadmanSwitches(ctx context.Context, team int64) ([]DeadmanSwitch, error) {
	return list[DeadmanSwitch](ctx, c, request{operation: fmt.Sprintf("list dead man's switches of team %d", team), method: http.MethodGet, path: switchesPath(team)})
}

// CreateDeadmanSwitch creates another switch, whatever others are called.
func (c *Client) CreateDeadmanSwitch(ctx context.Context, team int64, p DeadmanSwitchParameters) (*DeadmanSwitch, error) {
	r := request{operation: fmt.Sprintf("create dead man's switch of team %d", team), method: http.MethodPost, path: switchesPath(team), body: p}
	if !p.Timeout.sendable() {
		return nil, r.error(ReasonRejected, unsendable)
	}
	return one(ctx, c, r, 0, func(s *DeadmanSwitch) int64 { return s.ID })
}

// UpdateDeadmanSwitch replaces all parameters of a switch. Its id stays.
func (c *Client) UpdateDeadmanSwitch(ctx context.Context, team, id int64, p DeadmanSwitchParameters) error {
	r := request{operation: fmt.Sprintf("update dead man's switch %d of team %d", id, team), method: http.MethodPut, path: fmt.Sprintf("%s/%d", switchesPath(team), id), body: p}
	if !p.Timeout.sendable() {
		return r.error(ReasonRejected, unsendable)
	}
	return c.do(ctx, r, nil)
}

// DeleteDeadmanSwitch deletes a switch.
func (c *Client) DeleteDeadmanSwitch(ctx context.Context, team, id int64) error {
	return c.do(ctx, request{operation: fmt.Sprintf("delete dead man's switch %d of team %d", id, team), method: http.MethodDelete, path: fmt.Sprintf("%s/%d", switchesPath(team), id)}, nil)
}
