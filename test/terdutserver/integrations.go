package terdutserver

import (
	"net/http"
	"slices"
)

const kindAlertmanager = "alertmanager"

// integrationShown is what lists show of an integration.
type integrationShown struct {
	ID   int64  `json:"id"`
	Kind string `json:"kind"`
	Name string `json:"name"`
}

func shown(v Integration) integrationShown {
	return integrationShown{ID: v.ID, Kind: v.Kind, Name: v.Name}
}

func listIntegrations(c *call) (answer, error) {
	t, err := c.teamOf()
	if err != nil {
		return answer{}, err
	}
	var list []integrationShown
	for _, v := range c.Integrations {
		if v.TeamID == t.ID {
			list = append(list, shown(v))
		}
	}
	return listed(c, list)
}

func createIntegration(c *call) (answer, error) {
	t, err := c.teamOf()
	if err != nil {
		return answer{}, err
	}
	in, err := decode[integrationShown](c)
	if err != nil {
		return answer{}, err
	}
	if in.Kind != kindAlertmanager || in.Name == "" {
		return answer{}, refuse(http.StatusBadRequest, "kind must be alertmanager, and name is required")
	}
	secret := newKey()
	v := Integration{ID: c.next("integration"), TeamID: t.ID, Kind: in.Kind, Name: c.fold(in.Name), Hash: hash(secret)}
	c.Integrations = append(c.Integrations, v)
	return answer{status: http.StatusCreated, body: struct {
		integrationShown

		Key string `json:"key"`
		URL string `json:"url"`
	}{shown(v), secret, c.base + "/api/webhooks/alertmanager/" + secret}}, nil
}

// integrationOf is the integration that the path names.
func (c *call) integrationOf() (*Integration, error) {
	team := id(c.r, "team")
	if v := find(c.Integrations, func(v *Integration) bool { return v.TeamID == team && v.ID == id(c.r, "id") }); v != nil {
		return v, nil
	}
	return nil, refuse(http.StatusNotFound, "there is no such integration")
}

func renameIntegration(c *call) (answer, error) {
	v, err := c.integrationOf()
	if err != nil {
		return answer{}, err
	}
	in, err := decode[integrationShown](c)
	if err != nil {
		return answer{}, err
	}
	if in.Name == "" {
		return answer{}, refuse(http.StatusBadRequest, "name is required")
	}
	v.Name = c.fold(in.Name)
	return answer{status: http.StatusOK, body: shown(*v)}, nil
}

func deleteIntegration(c *call) (answer, error) {
	v, err := c.integrationOf()
	if err != nil {
		return answer{}, err
	}
	gone := v.ID
	c.Integrations = slices.DeleteFunc(c.Integrations, func(v Integration) bool { return v.ID == gone })
	return answer{status: http.StatusNoContent}, nil
}

// takeAlert is where an alert manager sends alerts. The key in the path is all that it needs.
func takeAlert(c *call) (answer, error) {
	h := hash(c.r.PathValue("key"))
	v := find(c.Integrations, func(v *Integration) bool { return v.Hash == h })
	if v == nil {
		return answer{}, refuse(http.StatusNotFound, "there is no such integration")
	}
	v.Alerts++
	return answer{status: http.StatusAccepted}, nil
}
