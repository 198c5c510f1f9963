package openbao

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// texts returns the elements of a set in their order.
func texts(s types.Set) []string {
	var l []string
	for _, e := range s.Elements() {
		if v, ok := e.(types.String); ok {
			l = append(l, v.ValueString())
		}
	}
	slices.Sort(l)
	return l
}

// set returns a set of texts.
func set(elements []string) types.Set {
	values := make([]attr.Value, 0, len(elements))
	for _, e := range elements {
		values = append(values, types.StringValue(e))
	}
	return types.SetValueMust(types.StringType, values)
}

// observed returns what the server has for a set that the state had as prior. The server does not tell one spelling of an address from
// another: where it has the same, the state's is kept, so that no plan changes what is no change.
func observed(prior types.Set, got []string) types.Set {
	spelling := map[string][]string{}
	for _, p := range texts(prior) {
		spelling[canonical(p)] = append(spelling[canonical(p)], p)
	}
	elements := map[string]bool{}
	for _, g := range got {
		known, ok := spelling[canonical(g)]
		if !ok {
			known = []string{g}
		}
		for _, k := range known {
			elements[k] = true
		}
	}
	return set(slices.Sorted(maps.Keys(elements)))
}

// canonical returns an address, or a block with one, in the spelling of the server, and other texts as they are.
func canonical(s string) string {
	if a, err := netip.ParseAddr(s); err == nil {
		return a.String()
	}
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return s
	case p.IsSingleIP():
		return p.Addr().String()
	}
	return p.String()
}

// settings returns the token settings of a plan.
func (m *roleModel) settings() openbao.TokenSettings {
	return openbao.TokenSettings{
		TokenTTL:             m.TokenTTL.ValueInt64(),
		TokenMaxTTL:          m.TokenMaxTTL.ValueInt64(),
		TokenExplicitMaxTTL:  m.TokenExplicitMaxTTL.ValueInt64(),
		TokenPeriod:          m.TokenPeriod.ValueInt64(),
		TokenPolicies:        texts(m.TokenPolicies),
		TokenBoundCIDRs:      texts(m.TokenBoundCIDRs),
		TokenNoDefaultPolicy: m.TokenNoDefaultPolicy.ValueBool(),
		TokenNumUses:         m.TokenNumUses.ValueInt64(),
		TokenType:            m.TokenType.ValueString(),
	}
}

// observe takes over the token settings that the server has.
func (m *roleModel) observe(s openbao.TokenSettings) {
	m.TokenTTL = types.Int64Value(s.TokenTTL)
	m.TokenMaxTTL = types.Int64Value(s.TokenMaxTTL)
	m.TokenExplicitMaxTTL = types.Int64Value(s.TokenExplicitMaxTTL)
	m.TokenPeriod = types.Int64Value(s.TokenPeriod)
	m.TokenPolicies = observed(m.TokenPolicies, s.TokenPolicies)
	m.TokenBoundCIDRs = observed(m.TokenBoundCIDRs, s.TokenBoundCIDRs)
	m.TokenNoDefaultPolicy = types.BoolValue(s.TokenNoDefaultPolicy)
	m.TokenNumUses = types.Int64Value(s.TokenNumUses)
	m.TokenType = types.StringValue(s.TokenType)
}
