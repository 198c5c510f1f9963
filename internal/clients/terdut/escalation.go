package terdut

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// A TargetKind says what an escalation target is.
type TargetKind string

// Kinds of targets.
const (
	// TargetOnCall is whoever is on call in the team.
	TargetOnCall TargetKind = "oncall"
	// TargetUser is the user with UserID.
	TargetUser TargetKind = "user"
)

// An EscalationPolicy says whom a team's alerts reach. Each team has exactly one, which is empty at first.
type EscalationPolicy struct {
	// RepeatCount is how many times the levels are gone through again.
	RepeatCount int `json:"repeat_count"`
	// FallbackTopic is where an alert goes that nobody takes. Empty means nowhere.
	FallbackTopic string `json:"fallback_topic"`
	// Levels in the order in which they are gone through.
	Levels []EscalationLevel `json:"levels"`
}

// An EscalationLevel of a policy.
type EscalationLevel struct {
	// Timeout after which the next level follows.
	Timeout Duration `json:"timeout"`
	// Targets have no order.
	Targets []EscalationTarget `json:"targets"`
}

// An EscalationTarget of a level.
type EscalationTarget struct {
	Kind TargetKind `json:"kind"`
	// UserID of TargetUser.
	UserID int64 `json:"user_id,omitempty"`
}

// UnmarshalJSON reads a policy. Levels that carry distinct positions are brought into their order (s).
func (p *EscalationPolicy) UnmarshalJSON(b []byte) error {
	var w struct {
		RepeatCount   int    `json:"repeat_count"`
		FallbackTopic string `json:"fallback_topic"`
		Levels        []struct {
			EscalationLevel

			Position *int `json:"position"`
		} `json:"levels"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	seen := map[int]bool{}
	for _, l := range w.Levels {
		if l.Position != nil {
			seen[*l.Position] = true
		}
	}
	if len(seen) == len(w.Levels) {
		slices.SortFunc(w.Levels, func(a, b struct {
			EscalationLevel

			Position *int `json:"position"`
		},
		) int {
			return cmp.Compare(*a.Position, *b.Position)
		})
	}
	*p = EscalationPolicy{RepeatCount: w.RepeatCount, FallbackTopic: w.FallbackTopic}
	for _, l := range w.Levels {
		p.Levels = append(p.Levels, l.EscalationLevel)
	}
	return nil
}

// Equal compares policies: levels in their order, the targets of a level as a set.
func (p EscalationPolicy) Equal(o EscalationPolicy) bool {
	return p.RepeatCount == o.RepeatCount && p.FallbackTopic == o.FallbackTopic && slices.EqualFunc(p.Levels, o.Levels, func(a, b EscalationLevel) bool {
		return a.Timeout == b.Timeout && slices.Equal(a.sorted(), b.sorted())
	})
}

// sorted targets without repetitions.
func (l EscalationLevel) sorted() []EscalationTarget {
	return slices.Compact(slices.SortedFunc(slices.Values(l.Targets), func(a, b EscalationTarget) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.UserID, b.UserID))
	}))
}

// EscalationPolicy returns the policy of a team. IsNotFound when there is no such team.
func (c *Client) EscalationPolicy(ctx context.Context, team int64) (*EscalationPolicy, error) {
	r := request{operation: fmt.Sprintf("read escalation policy of team %d", team), method: http.MethodGet, path: teamPath(team) + "/escalation"}
	a, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	// A policy has no id by which an answer could be told from another's.
	var fields struct {
		Levels json.RawMessage `json:"levels"`
	}
	p := &EscalationPolicy{}
	if err := r.decode(a, &fields); err != nil {
		return nil, err
	}
	if fields.Levels == nil {
		return nil, r.foreign(a, "the answer has no levels")
	}
	return p, r.decode(a, p)
}

// SetEscalationPolicy replaces the whole policy of a team in one request.
func (c *Client) SetEscalationPolicy(ctx context.Context, team int64, p EscalationPolicy) error {
	r := request{operation: fmt.Sprintf("set escalation policy of team %d", team), method: http.MethodPut, path: teamPath(team) + "/escalation"}
	p.Levels = append([]EscalationLevel{}, p.Levels...) // An empty list is [] and not null.
	for i := range p.Levels {
		l := &p.Levels[i]
		if !l.Timeout.sendable() {
			return r.error(ReasonRejected, fmt.Sprintf("level %d: %s", i+1, unsendable))
		}
		l.Targets = append([]EscalationTarget{}, l.Targets...)
		for _, t := range l.Targets {
			if (t.Kind == TargetUser) != (t.UserID > 0) {
				return r.error(ReasonRejected, fmt.Sprintf("level %d: a user, and nobody else, has an id", i+1))
			}
		}
	}
	r.body = p
	return c.do(ctx, r, nil)
}
