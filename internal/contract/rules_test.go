package contract

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInvalidSpec: mistakes of the rules are told apart from those of the data, which is then not looked at.
func TestInvalidSpec(t *testing.T) {
	many := func(n int) (rules []Rule) {
		for i := range n {
			rules = append(rules, Rule{Name: fmt.Sprintf("K%d", i)})
		}
		return rules
	}
	one := func(rule RuleType, reason Reason) []Violation { return []Violation{{"K", rule, reason}} }
	cases := map[string]struct {
		reason string
		rules  []Rule
		want   []Violation
	}{
		"None":             {reason: "A contract has a rule.", want: []Violation{{"", RuleRequiredKeys, ReasonInvalidSpec}}},
		"Most":             {reason: "256 rules are allowed.", rules: many(MaxRules)},
		"TooMany":          {reason: "257 are not.", rules: many(MaxRules + 1), want: []Violation{{"", RuleRequiredKeys, ReasonInvalidSpec}}},
		"Twice":            {reason: "A key has one rule; the mistake is told once.", rules: []Rule{{Name: "K"}, {Name: "K"}}, want: one(RuleName, ReasonInvalidSpec)},
		"NoName":           {reason: "A rule names a key; without it there is its place.", rules: []Rule{{Name: "a"}, {}}, want: []Violation{{"requiredKeys[1]", RuleName, ReasonInvalidSpec}}},
		"BadName":          {reason: "What is no name of a key is not repeated.", rules: []Rule{{Name: "hunter 2"}}, want: []Violation{{"requiredKeys[0]", RuleName, ReasonInvalidSpec}}},
		"DotDot":           {reason: "Kubernetes reserves names that begin with two dots.", rules: []Rule{{Name: "..a"}}, want: []Violation{{"requiredKeys[0]", RuleName, ReasonInvalidSpec}}},
		"Dot":              {reason: "One dot is no name.", rules: []Rule{{Name: "."}}, want: []Violation{{"requiredKeys[0]", RuleName, ReasonInvalidSpec}}},
		"Hidden":           {reason: "A name may begin with a dot.", rules: []Rule{{Name: ".dockerconfigjson"}}},
		"LongName":         {reason: "A name has 253 bytes at most.", rules: []Rule{{Name: strings.Repeat("k", 254)}}, want: []Violation{{"requiredKeys[0]", RuleName, ReasonInvalidSpec}}},
		"LongestName":      {reason: "253 bytes are allowed.", rules: []Rule{{Name: strings.Repeat("k", 253)}}},
		"EnvName":          {reason: "A portable name is allowed.", rules: []Rule{{Name: "provider.json", EnvName: "PROVIDER_CONFIG_2"}}},
		"EnvNameDigit":     {reason: "A variable does not begin with a digit.", rules: []Rule{{Name: "K", EnvName: "2X"}}, want: one(RuleEnvName, ReasonInvalidSpec)},
		"EnvNameDot":       {reason: "A variable has no dots.", rules: []Rule{{Name: "K", EnvName: "A.B"}}, want: one(RuleEnvName, ReasonInvalidSpec)},
		"EnvNameTwice":     {reason: "Two keys cannot be the same variable.", rules: []Rule{{Name: "J", EnvName: "K"}, {Name: "K"}}, want: []Violation{{"J", RuleEnvName, ReasonInvalidSpec}}},
		"MinNegative":      {reason: "A length is not negative.", rules: []Rule{{Name: "K", MinLength: ptr(int32(-1))}}, want: one(RuleMinLength, ReasonInvalidSpec)},
		"MaxNegative":      {reason: "A length is not negative.", rules: []Rule{{Name: "K", MaxLength: ptr(int32(math.MinInt32))}}, want: one(RuleMaxLength, ReasonInvalidSpec)},
		"MinOverMax":       {reason: "The minimum is not above the maximum.", rules: []Rule{{Name: "K", MinLength: ptr(int32(3)), MaxLength: ptr(int32(2))}}, want: one(RuleMinLength, ReasonInvalidSpec)},
		"MinIsMax":         {reason: "The minimum may be the maximum.", rules: []Rule{{Name: "K", MinLength: ptr(int32(0)), MaxLength: ptr(int32(0))}}},
		"Pattern":          {reason: "A pattern that is no regular expression is a mistake of the rule, not of the data.", rules: []Rule{{Name: "K", Pattern: "(hunter2"}}, want: one(RulePattern, ReasonInvalidPattern)},
		"PatternLookahead": {reason: "Only Go's syntax is known.", rules: []Rule{{Name: "K", Pattern: "(?=x)"}}, want: one(RulePattern, ReasonInvalidPattern)},
		"LongestPattern":   {reason: "1,024 bytes are allowed.", rules: []Rule{{Name: "K", Pattern: strings.Repeat("x", MaxPatternBytes)}}},
		"LongPattern":      {reason: "1,025 are not.", rules: []Rule{{Name: "K", Pattern: strings.Repeat("x", MaxPatternBytes+1)}}, want: one(RulePattern, ReasonInvalidPattern)},
		"Format":           {reason: "A format must be known.", rules: []Rule{{Name: "K", Format: "YAML"}}, want: one(RuleFormat, ReasonInvalidSpec)},
		"TLSElsewhere":     {reason: "TLS goes with its format alone.", rules: []Rule{{Name: "K", Format: FormatPEM, TLS: &TLS{}}}, want: one(RuleTLS, ReasonInvalidSpec)},
		"TLSUse":           {reason: "A use must be known.", rules: []Rule{{Name: "K", Format: FormatTLS, TLS: &TLS{Use: "Client"}}}, want: one(RuleTLS, ReasonInvalidSpec)},
		"TLSOwnKey":        {reason: "The private key has a key of its own.", rules: []Rule{{Name: "K", Format: FormatTLS, TLS: &TLS{PrivateKey: "K"}}}, want: one(RuleTLS, ReasonInvalidSpec)},
		"TLSPrivateKey":    {reason: "The private key's key has a legal name.", rules: []Rule{{Name: "K", Format: FormatTLS, TLS: &TLS{PrivateKey: "a b"}}}, want: one(RuleTLS, ReasonInvalidSpec)},
		"TLSHost":          {reason: "A host name is one.", rules: []Rule{{Name: "K", Format: FormatTLS, TLS: &TLS{HostNames: []string{"a..b"}}}}, want: one(RuleTLS, ReasonInvalidSpec)},
		"TLSHosts":         {reason: "Names, wildcards and addresses are hosts.", rules: []Rule{{Name: "K", Format: FormatTLS, TLS: &TLS{HostNames: []string{"a.example", "*.b.example", "10.0.0.1", "2001:db8::1"}}}}},
		"TLSWarning":       {reason: "A warning comes before the end.", rules: []Rule{{Name: "K", Format: FormatTLS, TLS: &TLS{WarningDays: -1}}}, want: one(RuleTLS, ReasonInvalidSpec)},
		"TLSCAKey":         {reason: "A bundle of CA certificates has no private key.", rules: []Rule{{Name: "K", Format: FormatTLS, TLS: &TLS{Use: TLSCA, PrivateKey: "x"}}}, want: one(RuleTLS, ReasonInvalidSpec)},
		"Several":          {reason: "All mistakes are told, sorted.", rules: []Rule{{Name: "b", Format: "YAML", Pattern: "("}, {Name: "a", EnvName: "-"}}, want: []Violation{{"a", RuleEnvName, ReasonInvalidSpec}, {"b", RuleFormat, ReasonInvalidSpec}, {"b", RulePattern, ReasonInvalidPattern}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.want == nil {
				tc.want = []Violation{}
			}
			check := Spec{Secret: "s", Rules: tc.rules}.Check()
			if diff := cmp.Diff(tc.want, check.Violations); diff != "" {
				t.Errorf("\n%s\nCheck(): -want, +got:\n%s", tc.reason, diff)
			}
			if valid := len(tc.want) == 0; check.SpecValid != valid || check.Valid != valid {
				t.Errorf("\n%s\nCheck(): want valid %t, got %+v", tc.reason, valid, check)
			}
			if len(tc.want) == 0 {
				return
			}
			// Data that breaks every rule adds nothing.
			got := Evaluate(append([]Rule{}, tc.rules...), map[string][]byte{"K": nil, "a": nil}, testNow)
			if diff := cmp.Diff(check, got); diff != "" {
				t.Errorf("\n%s\nEvaluate(...): data must not be looked at: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRuleTypes(t *testing.T) {
	got := RuleTypes([]Rule{
		{Name: "a", NonEmpty: ptr(false), Format: FormatNone},
		{Name: "b", NonEmpty: ptr(false), Pattern: "x", MaxLength: ptr(int32(1))},
		{Name: "c", NonEmpty: ptr(false), Format: FormatTLS, PlainText: true},
	})
	want := []RuleType{RuleFormat, RuleMaxLength, RulePattern, RulePlainText, RuleRequired, RuleTLS}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("RuleTypes(...): -want, +got:\n%s", diff)
	}
	if got := RuleTypes([]Rule{{Name: "a", MinLength: ptr(int32(1))}}); !cmp.Equal(got, []RuleType{RuleMinLength, RuleNonEmpty, RuleRequired}) {
		t.Errorf("RuleTypes(...): defaults must count, got %v", got)
	}
}
