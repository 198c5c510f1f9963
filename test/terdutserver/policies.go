package terdutserver

import (
	"net/http"
	"time"
)

func getPolicy(c *call) (answer, error) {
	t, err := c.teamOf()
	if err != nil {
		return answer{}, err
	}
	p := c.Policies[t.ID]
	if p.Levels == nil {
		p.Levels = []Level{}
	}
	if c.modes.Shuffle {
		p = shuffled(p)
	}
	return answer{status: http.StatusOK, body: p}, nil
}

func setPolicy(c *call) (answer, error) {
	t, err := c.teamOf()
	if err != nil {
		return answer{}, err
	}
	p, err := decode[Policy](c)
	if err != nil {
		return answer{}, err
	}
	if p.RepeatCount < 0 {
		return answer{}, refuse(http.StatusBadRequest, "repeat_count must not be negative")
	}
	for i := range p.Levels {
		l := &p.Levels[i]
		l.Position = i + 1
		if l.Timeout, err = duration(l.Timeout); err != nil {
			return answer{}, err
		}
		for _, target := range l.Targets {
			switch {
			case target.Kind == "oncall" && target.UserID == 0:
			case target.Kind == "user" && c.user(target.UserID) != nil:
			default:
				return answer{}, refuse(http.StatusBadRequest, "level %d has a target that is neither who is on call nor a user", i+1)
			}
		}
	}
	c.Policies[t.ID] = p
	return answer{status: http.StatusOK, body: p}, nil
}

// duration in the form in which the server keeps it. It holds whole seconds.
func duration(s string) (string, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d%time.Second != 0 {
		return "", refuse(http.StatusBadRequest, "timeout must be a positive number of whole seconds")
	}
	return d.String(), nil
}
