package server

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/names"
)

// labelTeam of a Team holds its name in the spec, so that people can select it: the object's own name is made up.
const labelTeam = "terdut.ryuvia.com/team"

// A child is a managed resource on the server: a team, or something that is a team's.
type child struct {
	// resource is the composition resource name.
	resource string
	team     string
	// readable is what the object's name begins with.
	readable string
	labels   map[string]any
	spec     map[string]any
}

// A teamState is what came of a team.
type teamState struct {
	name  string
	id    int64
	ready bool
}

// isChild tells whether a composition resource name is that of a managed resource of a team.
func isChild(name string) bool { return strings.Contains(name, "/") }

// composeTeams composes the teams once the provider has its account, and what is a team's own once that team is ready, no more at a time
// than Crossplane bears.
func (s *server) composeTeams() error {
	var all, wanted []child
	for _, t := range s.teamsByName() {
		team := s.team(t)
		own := s.ownOf(t)
		all = append(append(all, team), own...)
		if s.observed[team.resource] == nil {
			if s.bootstrapped() {
				wanted = append(wanted, team)
			}
			continue
		}
		for _, c := range own {
			if s.observed[c.resource] == nil && s.observed[team.resource].isReady() {
				wanted = append(wanted, c)
			}
		}
	}
	// Teams first: what is theirs waits for them.
	slices.SortStableFunc(wanted, func(a, b child) int {
		return cmp.Compare(rank(a.resource), rank(b.resource))
	})
	allowed := map[string]bool{}
	for _, c := range wanted[:s.budget.children(len(wanted))] {
		allowed[c.resource] = true
	}

	for _, c := range all {
		render := func() (*structpb.Struct, error) { return s.renderChild(c) }
		if err := s.compose(c.resource, allowed[c.resource], render, (*object).isReady); err != nil {
			return err
		}
		if _, ok := s.resources[c.resource]; !ok {
			s.missing++
		}
	}
	s.teams = s.teamStates(all)
	return nil
}

func rank(resource string) int {
	if strings.HasPrefix(resource, prefixTeam) {
		return 0
	}
	return 1
}

// teamsByName are the teams in an order that the spec's does not matter for.
func (s *server) teamsByName() []v1alpha1.ServerTeam {
	return slices.SortedFunc(slices.Values(s.spec.Teams), func(a, b v1alpha1.ServerTeam) int { return cmp.Compare(a.Name, b.Name) })
}

// teamStates in the order of the spec.
func (s *server) teamStates(all []child) []teamState {
	byName := map[string]*teamState{}
	out := make([]teamState, len(s.spec.Teams))
	for i, t := range s.spec.Teams {
		out[i] = teamState{name: t.Name, ready: true}
		byName[t.Name] = &out[i]
		if o := s.observed[prefixTeam+t.Name]; o != nil {
			out[i].id = o.Status.AtProvider.TeamID
		}
	}
	for _, c := range all {
		if !s.resources[c.resource].Ready {
			byName[c.team].ready = false
		}
	}
	return out
}

// teamObject is the name of the Team of a team.
func (s *server) teamObject(team string) string {
	return s.generated(prefixTeam+team, s.subject.Name+"-"+team)
}

func (s *server) renderChild(c child) (*structpb.Struct, error) {
	labels := s.labels()
	maps.Copy(labels, c.labels)
	prefix, _, _ := strings.Cut(c.resource, "/")
	return s.manifest(oncallv1alpha1.SchemeGroupVersion.String(), kinds[prefix+"/"], s.generated(c.resource, c.readable), labels,
		map[string]any{"forProvider": c.spec})
}

// team of the spec.
func (s *server) team(t v1alpha1.ServerTeam) child {
	spec := map[string]any{"displayName": t.Name, "serverRef": map[string]any{"name": s.fixed()[resourceConfig]}}
	if t.DisplayName != nil {
		spec["displayName"] = *t.DisplayName
	}
	if o := t.OIDC; o != nil {
		groups := map[string]any{}
		if o.MemberGroup != nil {
			groups["memberGroup"] = *o.MemberGroup
		}
		if o.OwnerGroup != nil {
			groups["ownerGroup"] = *o.OwnerGroup
		}
		spec["oidc"] = groups
	}
	return child{
		resource: prefixTeam + t.Name, team: t.Name, readable: s.subject.Name + "-" + t.Name, spec: spec,
		labels: map[string]any{labelTeam: t.Name},
	}
}

// ownOf a team: its policy, switches and integrations.
func (s *server) ownOf(t v1alpha1.ServerTeam) []child {
	var out []child
	add := func(prefix, name, readable string, spec map[string]any) {
		resource := prefix + t.Name
		if name != "" {
			resource += "/" + name
		}
		spec["teamRef"] = map[string]any{"name": s.teamObject(t.Name)}
		out = append(out, child{resource: resource, team: t.Name, readable: s.subject.Name + "-" + t.Name + readable, spec: spec})
	}
	if e := t.Escalation; e != nil {
		add(prefixPolicy, "", "", map[string]any{"repeatCount": e.RepeatCount, "fallbackTopic": e.FallbackTopic, "levels": levels(e.Levels)})
	}
	for _, d := range slices.SortedFunc(slices.Values(t.DeadmanSwitches), func(a, b v1alpha1.ServerDeadmanSwitch) int { return cmp.Compare(a.Name, b.Name) }) {
		add(prefixSwitch, d.Name, names.Readable(d.Name), map[string]any{
			"name": d.Name, "matcher": d.Matcher, "timeout": string(d.Timeout), "severity": d.Severity,
		})
	}
	for _, i := range slices.SortedFunc(slices.Values(t.Integrations), func(a, b v1alpha1.ServerIntegration) int { return cmp.Compare(a.Name, b.Name) }) {
		add(prefixIntegration, i.Name, names.Readable(i.Name), map[string]any{"name": i.Name, "kind": i.Kind, "secretName": i.SecretName})
	}
	return out
}

func levels(levels []oncallv1alpha1.EscalationLevel) []any {
	out := make([]any, 0, len(levels))
	for _, l := range levels {
		targets := make([]any, 0, len(l.Targets))
		for _, t := range l.Targets {
			target := map[string]any{"kind": string(t.Kind)}
			if t.Username != nil {
				target["username"] = *t.Username
			}
			targets = append(targets, target)
		}
		out = append(out, map[string]any{"timeout": string(l.Timeout), "targets": targets})
	}
	return out
}
