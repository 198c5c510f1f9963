package consume

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ryuvia/provider-terdut/internal/contract"
)

// A binding is how a variable is set explicitly.
type binding int

const (
	unbound  binding = iota // There is no such variable.
	bound                   // From the key of the Secret.
	optional                // From the key of the Secret, which need not exist though the rule requires it.
	conflict                // From anywhere else.
)

// check finds what keeps the container from consuming the Secret.
func (c *container) check(target Target) {
	mode := target.Consumption
	if mode == "" {
		mode = contract.ConsumptionAny
	}

	var grouped []contract.Rule // Those that nothing but the Secret as a whole can set.
	for _, r := range target.Rules {
		variable := r.Variable()
		b := c.explicit(target.Secret, r, variable)
		if b == unbound && mode == contract.ConsumptionEnvFrom && variable != r.Name {
			// The Secret as a whole sets the variable that is named as the key.
			variable = r.Name
			b = c.explicit(target.Secret, r, variable)
		}
		switch {
		case b == conflict:
			c.found(contract.ReasonEnvConflict, ".env[%s]", variable)
		case b == optional:
			c.found(contract.ReasonOptionalReferenceNotAllowed, ".env[%s]", variable)
		case b == bound:
		case mode == contract.ConsumptionEnvVars || variable != r.Name:
			if r.IsRequired() {
				c.found(contract.ReasonRequiredReferenceMissing, ".env[%s]", variable)
			}
		default:
			grouped = append(grouped, r)
		}
	}

	switch mode {
	case contract.ConsumptionEnvFrom:
		c.group(target, grouped, true)
	case contract.ConsumptionAny:
		c.group(target, grouped, false)
	case contract.ConsumptionEnvVars:
	default:
		c.found(contract.ReasonUnsupportedConsumptionMode, "")
	}
}

// explicit returns how a variable is set. Of several with one name the last wins; here all of them must be right, so that a template
// does not depend on that.
func (c *container) explicit(secret string, r contract.Rule, variable string) binding {
	b := unbound
	for _, e := range c.Env {
		if e.Name != variable {
			continue
		}
		if e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil || e.ValueFrom.SecretKeyRef.Name != secret || e.ValueFrom.SecretKeyRef.Key != r.Name {
			return conflict
		}
		b = max(b, bound)
		if r.IsRequired() && isTrue(e.ValueFrom.SecretKeyRef.Optional) {
			b = optional
		}
	}
	return b
}

// group checks that the Secret as a whole sets the variables of the rules. Unless it is always wanted, it need not be there as long as
// no required key depends on it.
func (c *container) group(target Target, rules []contract.Rule, always bool) {
	required := slices.ContainsFunc(rules, contract.Rule.IsRequired)
	last, strict, prefixed := -1, false, -1
	for i, source := range c.EnvFrom {
		switch {
		case source.SecretRef == nil || source.SecretRef.Name != target.Secret:
		case source.Prefix != "":
			prefixed = i
		default:
			last = i
			strict = strict || !isTrue(source.SecretRef.Optional)
		}
	}

	if last < 0 {
		switch mount := c.mount(target.Secret); {
		case !required && !always:
		case prefixed >= 0:
			c.found(contract.ReasonUnsupportedConsumptionMode, ".envFrom[%d].prefix", prefixed)
		case mount >= 0:
			c.found(contract.ReasonUnsupportedConsumptionMode, ".volumeMounts[%d]", mount)
		case always:
			c.found(contract.ReasonRequiredReferenceMissing, ".envFrom")
		default:
			for _, r := range rules {
				if r.IsRequired() {
					c.found(contract.ReasonRequiredReferenceMissing, ".env[%s]", r.Variable())
				}
			}
		}
		return
	}

	if required && !strict {
		c.found(contract.ReasonOptionalReferenceNotAllowed, ".envFrom[%d].secretRef.optional", last)
	}
	for _, r := range rules {
		if r.IsRequired() && !contract.PortableVariable(r.Name) {
			c.found(contract.ReasonKeyNotPortable, ".envFrom[%d][%s]", last, r.Name)
		}
	}
	for i, source := range c.EnvFrom[last+1:] {
		overrides := func(r contract.Rule) bool {
			return len(r.Name) > len(source.Prefix) && strings.HasPrefix(r.Name, source.Prefix)
		}
		if slices.ContainsFunc(rules, overrides) {
			c.found(contract.ReasonAmbiguousEnvPrecedence, ".envFrom[%d]", last+1+i)
		}
	}
}

// mount returns which of the container's mounts shows files of the Secret, or -1.
func (c *container) mount(secret string) int {
	return slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
		return slices.ContainsFunc(c.volumes, func(v corev1.Volume) bool { return v.Name == m.Name && len(sources(v, secret)) > 0 })
	})
}

func isTrue(b *bool) bool { return b != nil && *b }
