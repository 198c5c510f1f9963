package server

// status of the composite, whole: Crossplane removes a field that is left out.
func (s *server) status(generation int64) map[string]any {
	out := map[string]any{
		"serviceName":        s.serviceName(),
		"endpoint":           s.endpoint(),
		"observedGeneration": generation,
	}
	if b := s.observed[resourceBootstrap]; b != nil && b.Status.AtProvider.CredentialsSecretRef != nil {
		out["credentialsSecretRef"] = map[string]any{"name": b.Status.AtProvider.CredentialsSecretRef.Name}
	}
	if len(s.teams) > 0 {
		teams := make([]map[string]any, 0, len(s.teams))
		for _, t := range s.teams {
			team := map[string]any{"name": t.name, "ready": t.ready}
			if t.id > 0 {
				team["id"] = t.id
			}
			teams = append(teams, team)
		}
		out["teams"] = list(teams...)
	}
	return out
}
