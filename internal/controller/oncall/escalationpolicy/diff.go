package escalationpolicy

import (
	"fmt"
	"slices"
	"time"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
)

// asksForUsers is true when a level names a user.
func asksForUsers(p v1alpha1.EscalationPolicyParameters) bool {
	return slices.ContainsFunc(p.Levels, func(l v1alpha1.EscalationLevel) bool {
		return slices.ContainsFunc(l.Targets, func(t v1alpha1.EscalationTarget) bool { return t.Username != nil })
	})
}

// An ambiguousError says that the server has several users of a name.
type ambiguousError struct {
	name string
	ids  []int64
}

// Error implements error.
func (e *ambiguousError) Error() string {
	return fmt.Sprintf("the server has several users %q, with the ids %v: nobody can tell whom to page", e.name, e.ids)
}

// desired is the policy that the server is to be told, in the order of the spec's levels. Usernames that it does not have are returned
// sorted, and then there is no policy. A name that several have is an *ambiguousError.
func desired(p v1alpha1.EscalationPolicyParameters, users []terdut.User) (policy terdut.EscalationPolicy, unknown []string, err error) {
	ids := map[string][]int64{}
	for _, u := range users {
		if !slices.Contains(ids[u.Username], u.ID) {
			ids[u.Username] = append(ids[u.Username], u.ID)
		}
	}
	want := terdut.EscalationPolicy{RepeatCount: int(p.RepeatCount), FallbackTopic: p.FallbackTopic}
	for i, l := range p.Levels {
		d, err := time.ParseDuration(string(l.Timeout))
		if err != nil {
			return terdut.EscalationPolicy{}, nil, fmt.Errorf("timeout %q of level %d is no duration", l.Timeout, i+1)
		}
		level := terdut.EscalationLevel{Timeout: terdut.Duration(d)}
		for _, t := range l.Targets {
			target := terdut.EscalationTarget{Kind: terdut.TargetKind(t.Kind)}
			if t.Username != nil {
				switch have := ids[*t.Username]; len(have) {
				case 0:
					unknown = append(unknown, *t.Username)
				case 1:
					target.UserID = have[0]
				default:
					slices.Sort(have)
					return terdut.EscalationPolicy{}, nil, &ambiguousError{name: *t.Username, ids: have}
				}
			}
			level.Targets = append(level.Targets, target)
		}
		want.Levels = append(want.Levels, level)
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return terdut.EscalationPolicy{}, slices.Compact(unknown), nil
	}
	return want, nil, nil
}

// isEmpty is true for the policy that a team has from the start.
func isEmpty(p *terdut.EscalationPolicy) bool { return p.Equal(terdut.EscalationPolicy{}) }
