package server

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// Messages of steps that were not begun or not finished. None says how far a step has come: every change is a write of the composite.
const (
	messageNoServer    = "The server is started shortly after its database is ready."
	messageStarting    = "The server is ready once all replicas run the current template and answer; the conditions of Deployment %q and its Pods say more."
	messageNoBootstrap = "The provider gets its account shortly after the server answers."
	messageNoTeams     = "Teams are made once the provider has its account."
	messageGoing       = "What the spec does not ask for any more is deleted."
	messageTeams       = "Teams, and then what is theirs, are made few at a time, so that Crossplane keeps listening; status.teams says which are ready."
)

// conditions of the composite, always all of them and in the same order.
func (s *server) conditions() []composite.Condition {
	return []composite.Condition{s.database.condition, s.credentialCondition(), s.serverCondition(), s.bootstrapCondition(), s.teamsCondition()}
}

// conflict of a resource whose fixed name belongs to somebody else, or nothing.
func (s *server) conflict(conditionType string, resources ...string) *composite.Condition {
	for _, r := range resources {
		if taken, _ := s.taken(r); taken {
			return &composite.Condition{
				Type: conditionType, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonConflict,
				Message: fmt.Sprintf("%s %q belongs to something else: remove it, or give the TerdutServer another name.", kinds[r], s.fixed()[r]),
			}
		}
	}
	return nil
}

// serverCondition is true when the server answers at its endpoint, and through its Gateway.
func (s *server) serverCondition() composite.Condition {
	const ct = v1alpha1.TypeServerReady
	if c := s.conflict(ct, resourceService); c != nil {
		return *c
	}
	d, r := s.observed[resourceDeployment], s.observed[resourceRoute]
	if d == nil || !s.holds[resourceDeployment] || !s.holds[resourceService] {
		if d != nil {
			return composite.Waiting(ct, messageStarting, d.Metadata.Name)
		}
		return composite.Waiting(ct, messageNoServer)
	}
	if !s.serverReady() {
		if reason, message := deploymentFailure(d); reason != "" {
			return composite.Condition{Type: ct, Status: corev1.ConditionFalse, Reason: reason, Message: message}
		}
		return composite.Waiting(ct, messageStarting, d.Metadata.Name)
	}
	if s.going(resourceRoute) {
		return composite.Waiting(ct, messageGoing)
	}
	if s.spec.Networking.GatewayListener == nil || s.resources[resourceRoute].Ready {
		return composite.Available(ct)
	}
	if r != nil && s.holds[resourceRoute] {
		if reason, waits := routeProblem(r); !waits {
			return composite.Condition{
				Type: ct, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonRouteRejected,
				Message: fmt.Sprintf("The Gateway does not take HTTPRoute %q: %s. Its status says more.", r.Metadata.Name, reason),
			}
		}
	}
	return composite.Waiting(ct, "The Gateway has not said yet whether it takes the route.")
}

// bootstrapCondition is true when the provider has its account, and the config leads to it.
func (s *server) bootstrapCondition() composite.Condition {
	const ct = v1alpha1.TypeBootstrapped
	if c := s.conflict(ct, resourceBootstrap, resourceConfig); c != nil {
		return *c
	}
	b := s.observed[resourceBootstrap]
	switch {
	case b == nil || b.answers().None():
		return composite.Waiting(ct, messageNoBootstrap)
	case !s.holds[resourceBootstrap]:
		return composite.Waiting(ct, "Bootstrap %q does not have the desired spec yet.", b.Metadata.Name)
	}
	who := fmt.Sprintf("Bootstrap %q", b.Metadata.Name)
	c := composite.First(ct, who, b.answers(), oncallv1alpha1.TypeBootstrapped, xpv2.TypeReady, xpv2.TypeSynced)
	switch {
	case c.Reason == string(xpv2.ReasonCreating):
		return composite.Waiting(ct, messageNoBootstrap)
	case c.Status != corev1.ConditionTrue || s.resources[resourceConfig].Ready:
		return c
	}
	config := s.observed[resourceConfig]
	if config != nil && s.holds[resourceConfig] {
		// It becomes healthy with the Bootstrap, a moment later.
		if c, said := negative(config, oncallv1alpha1.TypeHealthy); said && !slices.Contains(passing, c.Reason) {
			return composite.Condition{Type: ct, Status: c.Status, Reason: string(c.Reason), Message: c.Message}
		}
	}
	return composite.Waiting(ct, messageNoBootstrap)
}

// passing are reasons that go by themselves when others are done, and are not worth a write.
var passing = []xpv2.ConditionReason{xpv2.ReasonCreating, xpv2.ReasonDeleting, oncallv1alpha1.ReasonWaitingForTeam, oncallv1alpha1.ReasonConfigNotReady, ""}

// teamsCondition is true when every team, and everything that is a team's, is on the server. It takes over the first problem.
func (s *server) teamsCondition() composite.Condition {
	const ct = v1alpha1.TypeTeamsReady
	ready := s.missing == 0
	for _, t := range s.teamsByName() {
		for _, c := range append([]child{s.team(t)}, s.ownOf(t)...) {
			if s.resources[c.resource].Ready {
				continue
			}
			ready = false
			o := s.observed[c.resource]
			if o == nil || !s.holds[c.resource] {
				continue
			}
			who := fmt.Sprintf("%s %q of team %q", o.Kind, o.Metadata.Name, t.Name)
			if n, said := negative(o, xpv2.TypeReady); said && !slices.Contains(passing, n.Reason) {
				return composite.Condition{Type: ct, Status: n.Status, Reason: string(n.Reason), Message: who + ": " + n.Message}
			}
			if n, said := negative(o, xpv2.TypeSynced); said {
				return composite.Condition{
					Type: ct, Status: corev1.ConditionFalse, Reason: string(n.Reason), Message: who + " is not Synced; its own condition says why.",
				}
			}
		}
	}
	for resource := range s.observed {
		if isChild(resource) && s.going(resource) {
			return composite.Waiting(ct, messageGoing)
		}
	}
	switch {
	case ready && s.bootstrapped():
		return composite.Available(ct)
	case s.bootstrapped():
		return composite.Waiting(ct, messageTeams)
	}
	return composite.Waiting(ct, messageNoTeams)
}
