package terdutserver

import (
	"context"
	"net/http"
)

type callerKey struct{}

func withCaller(ctx context.Context, c *caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

func callerOf(ctx context.Context) *caller {
	c, _ := ctx.Value(callerKey{}).(*caller)
	return c
}

// Patterns of the routes below /api/ that need no key.
const (
	bootstrapPattern = "POST /api/bootstrap"
	webhookPattern   = "POST /api/webhooks/alertmanager/{key}"
)

func (*Server) isPublic(pattern string) bool {
	return pattern == bootstrapPattern || pattern == webhookPattern
}

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		if err := s.store.ready(r.Context()); err != nil {
			s.fail(w, err)
			return
		}
		reply(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	for pattern, e := range map[string]struct {
		grant grant
		do    func(*call) (answer, error)
	}{
		bootstrapPattern: {public, bootstrap},
		webhookPattern:   {public, takeAlert},
		"GET /api/users": {anyKey, listUsers},

		"GET /api/service-accounts":                        {anyKey, listAccounts},
		"POST /api/service-accounts":                       {instanceKey, createAccount},
		"DELETE /api/service-accounts/{account}":           {instanceKey, deleteAccount},
		"GET /api/service-accounts/{account}/keys":         {instanceKey, listKeys},
		"POST /api/service-accounts/{account}/keys":        {instanceKey, createKey},
		"DELETE /api/service-accounts/{account}/keys/{id}": {instanceKey, deleteKey},

		"GET /api/teams":                         {instanceKey, listTeams},
		"POST /api/teams":                        {instanceKey, createTeam},
		"GET /api/teams/{team}":                  {instanceKey, getTeam},
		"PUT /api/teams/{team}":                  {instanceKey, renameTeam},
		"DELETE /api/teams/{team}":               {instanceKey, deleteTeam},
		"PUT /api/teams/{team}/oidc-groups":      {teamKey, setGroups},
		"GET /api/teams/{team}/escalation":       {teamKey, getPolicy},
		"PUT /api/teams/{team}/escalation":       {teamKey, setPolicy},
		"GET /api/teams/{team}/deadman/switches": {teamKey, listSwitches},

		"POST /api/teams/{team}/deadman/switches":        {teamKey, createSwitch},
		"PUT /api/teams/{team}/deadman/switches/{id}":    {teamKey, updateSwitch},
		"DELETE /api/teams/{team}/deadman/switches/{id}": {teamKey, deleteSwitch},

		"GET /api/teams/{team}/integrations":         {teamKey, listIntegrations},
		"POST /api/teams/{team}/integrations":        {teamKey, createIntegration},
		"PATCH /api/teams/{team}/integrations/{id}":  {teamKey, renameIntegration},
		"DELETE /api/teams/{team}/integrations/{id}": {teamKey, deleteIntegration},
	} {
		mux.HandleFunc(pattern, s.endpoint(e.grant, e.do))
	}
	return mux
}
