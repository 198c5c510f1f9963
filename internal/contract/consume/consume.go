// Package consume says how a pod template takes a Secret: whether the chosen containers get the keys of a contract as environment
// variables, and where else the Secret is used.
//
// It is as pure as the contract's own validator: it takes a description and gives back findings that consist of places and enumerated
// reasons. The places are made of names of containers, volumes, variables and keys; what a variable is set to inline, which may be a
// secret, is never looked at. No other Secret or ConfigMap is read to find out which of two sources wins: where that would be needed the
// answer is that it is ambiguous.
//
// It is about a template. That a pod runs, and with which values, it does not say.
package consume

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/ryuvia/provider-terdut/internal/contract"
)

// A Target is what a template must consume.
type Target struct {
	// Secret is the name of the Secret.
	Secret string

	// Rules of the contract, which must make sense as contract.Spec.Check has it.
	Rules []contract.Rule

	// Containers that must all consume the Secret, by name. Empty means all regular ones, and with IncludeInitContainers the init
	// containers too, which may be named only then.
	Containers            []string
	IncludeInitContainers bool

	// Consumption is how. Empty means contract.ConsumptionAny.
	Consumption contract.Consumption

	// DataKeys are the names of the keys that the Secret has, nil when they are not known. Uses alone looks at them.
	DataKeys []string
}

// A Finding is one thing that keeps a template from being configured.
type Finding struct {
	// Path in the pod's specification, as in containers[api].env[DB_PASSWORD].
	Path   string          `json:"path"`
	Reason contract.Reason `json:"reason"`
}

// A Result is what is found in one template.
type Result struct {
	// Configured says that every chosen container consumes the Secret as the contract asks.
	Configured bool `json:"configured"`

	// Reason is contract.ReasonRulesSatisfied, or that of the gravest finding.
	Reason contract.Reason `json:"reason"`

	// Containers that were looked at, sorted.
	Containers []string `json:"containers"`

	// Findings by path, at most contract.MaxFindings; FindingCount is whole, and Truncated says that they differ.
	Findings     []Finding `json:"findings"`
	FindingCount int       `json:"findingCount"`
	Truncated    bool      `json:"truncated"`
}

// gravest lists the reasons of findings in the order in which one stands for all.
var gravest = []contract.Reason{
	contract.ReasonEvaluationBudgetExceeded,
	contract.ReasonContainerNotFound,
	contract.ReasonEnvConflict,
	contract.ReasonRequiredReferenceMissing,
	contract.ReasonOptionalReferenceNotAllowed,
	contract.ReasonKeyNotPortable,
	contract.ReasonUnsupportedConsumptionMode,
	contract.ReasonAmbiguousEnvPrecedence,
}

// Check says whether the chosen containers of a template consume the Secret. Each of them must, by itself.
//
//   - ConsumptionEnvVars wants a variable from exactly the Secret and key for every required key, named as the rule says.
//   - ConsumptionEnvFrom wants the Secret as a whole, without a prefix. An explicit variable may stand for a key.
//   - ConsumptionAny wants either, for every required key by itself.
//
// Whatever the way, a variable of a key that comes from anywhere else is a conflict, and a reference to a required key must not be
// optional. More than contract.MaxContainers containers are not looked at.
func Check(template *corev1.PodTemplateSpec, target Target) Result {
	containers, findings := choose(&template.Spec, target)
	if len(containers) > contract.MaxContainers {
		findings = append(findings, Finding{"containers", contract.ReasonEvaluationBudgetExceeded})
		containers = nil
	}
	names := []string{}
	for _, c := range containers {
		names = append(names, c.Name)
		c.check(target)
		findings = append(findings, c.findings...)
	}
	slices.Sort(names)
	return result(names, findings)
}

func result(containers []string, findings []Finding) Result {
	findings = append([]Finding{}, findings...)
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Reason.String(), b.Reason.String()))
	})
	findings = slices.Compact(findings)

	r := Result{
		Configured: len(findings) == 0, Reason: contract.ReasonRulesSatisfied,
		Containers: containers, Findings: findings, FindingCount: len(findings),
	}
	for _, reason := range gravest {
		if slices.ContainsFunc(findings, func(f Finding) bool { return f.Reason == reason }) {
			r.Reason = reason
			break
		}
	}
	if len(findings) > contract.MaxFindings {
		r.Findings, r.Truncated = slices.Clip(findings[:contract.MaxFindings]), true
	}
	return r
}

// A container is one that is looked at, with what is found in it.
type container struct {
	corev1.Container

	path     string
	volumes  []corev1.Volume
	findings []Finding
}

func (c *container) found(reason contract.Reason, format string, args ...any) {
	c.findings = append(c.findings, Finding{Path: c.path + fmt.Sprintf(format, args...), Reason: reason})
}

// choose returns the containers that must consume the Secret, and what is wrong with the choice.
func choose(pod *corev1.PodSpec, target Target) ([]*container, []Finding) {
	candidates := list("containers", pod.Containers, pod.Volumes)
	if target.IncludeInitContainers {
		candidates = append(candidates, list("initContainers", pod.InitContainers, pod.Volumes)...)
	}
	if len(target.Containers) == 0 {
		if len(candidates) == 0 {
			return nil, []Finding{{"containers", contract.ReasonContainerNotFound}}
		}
		return candidates, nil
	}

	var chosen []*container
	var findings []Finding
	for i, name := range target.Containers {
		if slices.Contains(target.Containers[:i], name) {
			continue
		}
		at := slices.IndexFunc(candidates, func(c *container) bool { return c.Name == name })
		if at < 0 {
			findings = append(findings, Finding{element("containers", i, name), contract.ReasonContainerNotFound})
			continue
		}
		chosen = append(chosen, candidates[at])
	}
	return chosen, findings
}

func list(field string, containers []corev1.Container, volumes []corev1.Volume) []*container {
	var all []*container
	for i, c := range containers {
		all = append(all, &container{Container: c, path: element(field, i, c.Name), volumes: volumes})
	}
	return all
}

// element returns the place of one element of a list, by name; by number if the name is none that a place can show.
func element(field string, i int, name string) string {
	if !contract.ValidKey(name) {
		return fmt.Sprintf("%s[%d]", field, i)
	}
	return fmt.Sprintf("%s[%s]", field, name)
}
