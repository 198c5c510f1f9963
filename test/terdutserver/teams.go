package terdutserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func listTeams(c *call) (answer, error) {
	return listed(c, named(c, c.Teams, func(t Team) string { return t.Name }))
}

// teamOf is the team that the path names.
func (c *call) teamOf() (*Team, error) {
	if t := c.team(id(c.r, "team")); t != nil {
		return t, nil
	}
	return nil, refuse(http.StatusNotFound, "there is no such team")
}

// freeName checks the name that a team is to have.
func (c *call) freeName(name string, self int64) error {
	if name == "" {
		return refuse(http.StatusBadRequest, "name is required")
	}
	if old := find(c.Teams, func(t *Team) bool { return t.Name == name && t.ID != self }); old != nil {
		return refuse(http.StatusConflict, "team %d has this name", old.ID)
	}
	return nil
}

func createTeam(c *call) (answer, error) {
	in, err := decode[Team](c)
	if err != nil {
		return answer{}, err
	}
	t := Team{Name: c.fold(in.Name)}
	if err := c.freeName(t.Name, 0); err != nil {
		return answer{}, err
	}
	t.ID = c.next("team")
	c.Teams = append(c.Teams, t)
	return answer{status: http.StatusCreated, body: t}, nil
}

func getTeam(c *call) (answer, error) {
	t, err := c.teamOf()
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: *t}, nil
}

func renameTeam(c *call) (answer, error) {
	t, err := c.teamOf()
	if err != nil {
		return answer{}, err
	}
	in, err := decode[Team](c)
	if err != nil {
		return answer{}, err
	}
	name := c.fold(in.Name)
	if err := c.freeName(name, t.ID); err != nil {
		return answer{}, err
	}
	t.Name = name
	return answer{status: http.StatusOK, body: *t}, nil
}

func setGroups(c *call) (answer, error) {
	t, err := c.teamOf()
	if err != nil {
		return answer{}, err
	}
	in, err := decode[Team](c)
	if err != nil {
		return answer{}, err
	}
	t.MemberGroup, t.OwnerGroup = in.MemberGroup, in.OwnerGroup
	return answer{status: http.StatusOK, body: *t}, nil
}

func deleteTeam(c *call) (answer, error) {
	t, err := c.teamOf()
	if err != nil {
		return answer{}, err
	}
	team := t.ID
	var switches, integrations, accounts []int64
	for _, v := range c.Switches {
		if v.TeamID == team {
			switches = append(switches, v.ID)
		}
	}
	for _, v := range c.Integrations {
		if v.TeamID == team {
			integrations = append(integrations, v.ID)
		}
	}
	for _, v := range c.ServiceAccounts {
		if v.TeamID == team {
			accounts = append(accounts, v.ID)
		}
	}
	if c.modes.RefuseDeletes {
		if b := blockers(map[string][]int64{"switches": switches, "integrations": integrations, "service accounts": accounts}); b != "" {
			return answer{}, refuse(http.StatusConflict, "team %d still has %s", team, b)
		}
	}
	for _, a := range accounts {
		c.dropAccount(a)
	}
	delete(c.Policies, team)
	c.Switches = slices.DeleteFunc(c.Switches, func(v Switch) bool { return v.TeamID == team })
	c.Integrations = slices.DeleteFunc(c.Integrations, func(v Integration) bool { return v.TeamID == team })
	c.Teams = slices.DeleteFunc(c.Teams, func(v Team) bool { return v.ID == team })
	return answer{status: http.StatusNoContent}, nil
}

func blockers(by map[string][]int64) string {
	var texts []string
	for what, ids := range by {
		if len(ids) > 0 {
			texts = append(texts, fmt.Sprintf("%s %v", what, ids))
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}
