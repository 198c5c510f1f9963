package terdutserver

import (
	"net/http"
	"slices"
	"strings"
)

func listSwitches(c *call) (answer, error) {
	t, err := c.teamOf()
	if err != nil {
		return answer{}, err
	}
	var list []Switch
	for _, v := range c.Switches {
		if v.TeamID == t.ID {
			list = append(list, v)
		}
	}
	return listed(c, list)
}

// switchIn is the switch that the body describes.
func (c *call) switchIn(team int64) (Switch, error) {
	v, err := decode[Switch](c)
	if err != nil {
		return v, err
	}
	if v.Timeout, err = duration(v.Timeout); err != nil {
		return v, err
	}
	canonical, ok := canonicalMatcher(v.Matcher)
	if !ok {
		return v, refuse(http.StatusBadRequest, "matcher must be a list of label=value")
	}
	v.TeamID, v.Name = team, c.fold(v.Name)
	if v.Name == "" {
		v.Name = canonical
	}
	if c.modes.FoldMatchers {
		v.Matcher = canonical
	}
	return v, nil
}

func createSwitch(c *call) (answer, error) {
	t, err := c.teamOf()
	if err != nil {
		return answer{}, err
	}
	v, err := c.switchIn(t.ID)
	if err != nil {
		return answer{}, err
	}
	v.ID = c.next("switch")
	c.Switches = append(c.Switches, v)
	return answer{status: http.StatusCreated, body: v}, nil
}

func updateSwitch(c *call) (answer, error) {
	t, err := c.teamOf()
	if err != nil {
		return answer{}, err
	}
	old := find(c.Switches, func(v *Switch) bool { return v.TeamID == t.ID && v.ID == id(c.r, "id") })
	if old == nil {
		return answer{}, refuse(http.StatusNotFound, "there is no such switch")
	}
	v, err := c.switchIn(t.ID)
	if err != nil {
		return answer{}, err
	}
	v.ID = old.ID
	*old = v
	return answer{status: http.StatusOK, body: v}, nil
}

func deleteSwitch(c *call) (answer, error) {
	n, team := len(c.Switches), id(c.r, "team")
	c.Switches = slices.DeleteFunc(c.Switches, func(v Switch) bool { return v.TeamID == team && v.ID == id(c.r, "id") })
	if len(c.Switches) == n {
		return answer{}, refuse(http.StatusNotFound, "there is no such switch")
	}
	return answer{status: http.StatusNoContent}, nil
}

// canonicalMatcher has its labels sorted and no spaces. It is false for what is no matcher.
func canonicalMatcher(m string) (string, bool) {
	parts := strings.Split(strings.Join(strings.Fields(m), ""), ",")
	for _, p := range parts {
		if label, _, ok := strings.Cut(p, "="); !ok || strings.TrimRight(label, "!") == "" {
			return "", false
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ","), true
}
