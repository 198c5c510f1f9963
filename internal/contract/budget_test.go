package contract

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBudget: each budget holds at its boundary, and nothing is cut to fit.
func TestBudget(t *testing.T) {
	value := func(n int) []byte { return bytes.Repeat([]byte("x"), n) }
	half := value(MaxValueBytes)
	// The program of this pattern is estimated at 127 instructions and one to begin with.
	heavy := strings.Repeat("y", 127)
	fits := MaxPatternWork/128 - patternOverhead

	cases := map[string]struct {
		reason string
		rules  []Rule
		data   map[string][]byte
		want   []Violation
	}{
		"Value": {
			reason: "A value of 1 MiB is judged as a whole.",
			rules:  []Rule{{Name: "K", Pattern: `x\z`, MinLength: ptr(int32(MaxValueBytes))}},
			data:   map[string][]byte{"K": half},
		},
		"ValueTooLarge": {
			reason: "One byte more is not judged at all, also where a part of it would do; other keys are.",
			rules:  []Rule{{Name: "K", Pattern: `\Ax`, Format: FormatJSON}, {Name: "L", Format: FormatJSON}, {Name: "M"}},
			data:   map[string][]byte{"K": value(MaxValueBytes + 1), "L": []byte("{")},
			want:   []Violation{{"K", RuleSize, ReasonValueTooLarge}, {"L", RuleFormat, ReasonInvalidJSON}, {"M", RuleRequired, ReasonMissingRequiredKey}},
		},
		"PrivateKeyTooLarge": {
			reason: "A private key is a value too.",
			rules:  []Rule{{Name: "K", Format: FormatTLS}},
			data:   map[string][]byte{"K": []byte("x"), "tls.key": value(MaxValueBytes + 1)},
			want:   []Violation{{"K", RuleFormat, ReasonInvalidPEM}, {"tls.key", RuleSize, ReasonValueTooLarge}},
		},
		"Total": {
			reason: "2 MiB together are judged.",
			rules:  []Rule{{Name: "K"}, {Name: "L"}},
			data:   map[string][]byte{"K": half, "L": half, "UNDECLARED": half},
		},
		"TotalTooLarge": {
			reason: "One byte more is not judged at all; what is missing is still told.",
			rules:  []Rule{{Name: "K"}, {Name: "L"}, {Name: "M", Format: FormatJSON}, {Name: "N"}},
			data:   map[string][]byte{"K": half, "L": half, "M": []byte("{")},
			want:   []Violation{{"", RuleSize, ReasonEvaluationBudgetExceeded}, {"N", RuleRequired, ReasonMissingRequiredKey}},
		},
		"PrivateKeyCounts": {
			reason: "What a TLS rule reads counts, once.",
			rules:  []Rule{{Name: "K"}, {Name: "L", Format: FormatTLS, TLS: &TLS{PrivateKey: "P"}}, {Name: "M"}, {Name: "P"}},
			data:   map[string][]byte{"K": half, "P": half, "L": nil, "M": []byte("x")},
			want:   []Violation{{"", RuleSize, ReasonEvaluationBudgetExceeded}},
		},
		"PrivateKeyOnce": {
			reason: "What is read for two rules counts once.",
			rules:  []Rule{{Name: "K"}, {Name: "L", Format: FormatTLS, TLS: &TLS{PrivateKey: "P"}}, {Name: "P"}},
			data:   map[string][]byte{"K": half, "P": half, "L": nil},
			want:   []Violation{{"L", RuleNonEmpty, ReasonEmptyValue}},
		},
		"Patterns": {
			reason: "Patterns run up to their budget.",
			rules:  []Rule{{Name: "K", Pattern: heavy}},
			data:   map[string][]byte{"K": value(fits)},
			want:   []Violation{{"K", RulePattern, ReasonPatternMismatch}},
		},
		"PatternTooMuch": {
			reason: "One byte more is too much.",
			rules:  []Rule{{Name: "K", Pattern: heavy}},
			data:   map[string][]byte{"K": value(fits + 1)},
			want:   []Violation{{"", RulePattern, ReasonEvaluationBudgetExceeded}},
		},
		"PatternsTooMuch": {
			reason: "Above it none runs, also one that would fit alone; other rules do.",
			rules:  []Rule{{Name: "K", Pattern: heavy}, {Name: "L", Pattern: "y", Format: FormatJSON}},
			data:   map[string][]byte{"K": value(fits + 1), "L": []byte("{")},
			want:   []Violation{{"", RulePattern, ReasonEvaluationBudgetExceeded}, {"L", RuleFormat, ReasonInvalidJSON}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Evaluate(tc.rules, tc.data, testNow)
			if tc.want == nil {
				tc.want = []Violation{}
			}
			if diff := cmp.Diff(tc.want, got.Violations); diff != "" {
				t.Errorf("\n%s\nEvaluate(...): -want, +got:\n%s", tc.reason, diff)
			}
			if !got.SpecValid {
				t.Errorf("\n%s\nEvaluate(...): too much data is no mistake of the rules", tc.reason)
			}
		})
	}
}

// TestPatternPrograms: many short patterns with long programs are refused before any program is made.
func TestPatternPrograms(t *testing.T) {
	var rules []Rule
	for i := range MaxRules {
		rules = append(rules, Rule{Name: fmt.Sprintf("K%d", i), Pattern: strings.Repeat("(?:.{1000})", 90)})
	}
	spec := Spec{Secret: "s", Rules: rules}
	got := spec.Check()
	if diff := cmp.Diff([]Violation{{"", RulePattern, ReasonEvaluationBudgetExceeded}}, got.Violations); diff != "" || got.SpecValid {
		t.Errorf("Check(): -want, +got:\n%s", diff)
	}
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			spec.Check()
		}
	}).AllocedBytesPerOp()
	if allocated > 32<<20 {
		t.Errorf("refusing the patterns must not make their programs, allocated %d MiB", allocated>>20)
	}
}
