// Package contract says whether the data of a Secret is what a contract asks for, and tells nothing else about the data.
//
// It is the only code that looks into the declared values. It takes rules and bytes and gives back a Result, and has no logger, network,
// client or clock: the time is an argument. It imports the standard library alone; the linter and a test see to both.
//
// What comes out cannot hold a value. Results consist of numbers, times of certificates, enumerated reasons and rule types, and names
// of keys that the rules themselves give; errors of parsers end here. A result still answers a question about a secret, so that whoever
// writes rules must be allowed to read what they are about: that is for the caller to see to, before it reads.
//
// A mistake in the rules and a mistake in the data are different things with different people to mend them. Rules that make no sense
// are reported as an invalid specification, and then the data is not looked at at all.
package contract

import (
	"cmp"
	"slices"
	"time"
)

// Limits of an evaluation.
const (
	// MaxRules is how many keys a contract may have rules for. It has at least one.
	MaxRules = 256

	// MaxPatternBytes is the length of a pattern in bytes.
	MaxPatternBytes = 1024

	// MaxValueBytes is the size of one decoded value in bytes.
	MaxValueBytes = 1 << 20

	// MaxTotalBytes is the size of all the decoded values that the rules are about, in bytes. A value above MaxValueBytes is not
	// looked into and does not count.
	MaxTotalBytes = 2 << 20

	// MaxPatternWork bounds the work for all patterns. One pattern's is the size of its program times the bytes that it reads, where
	// making the program counts as reading patternOverhead bytes.
	MaxPatternWork = 64 << 20

	// MaxFindings is how many missing keys, violations and warnings, each, a result lists. The counts beside them are whole.
	MaxFindings = 64
)

// A Format is a syntax that a value must have.
type Format string

// Formats. The empty one is FormatNone.
const (
	FormatNone Format = "None"

	// FormatJSON is one JSON text of any type, scalars too.
	FormatJSON Format = "JSON"

	// FormatURI is a URI of RFC 3986 with a scheme; it need not have a host.
	FormatURI Format = "URI"

	// FormatPEM is one or more PEM blocks that are not empty, with nothing but white space around them.
	FormatPEM Format = "PEM"

	// FormatTLS is PEM certificates that a server could use, with the private key under another key, or certificates of CAs. See TLS.
	FormatTLS Format = "TLS"
)

// A Rule says what the value of one key of a Secret must be like.
type Rule struct {
	// Name of the key in the Secret's data.
	Name string

	// EnvName is the environment variable that explicit consumption maps the key to. Empty means Name.
	EnvName string

	// Required says that the key must exist. Unset means true. All the other rules hold for an optional key that exists.
	Required *bool

	// NonEmpty says that the value must have at least one byte. Unset means true. Nothing is trimmed.
	NonEmpty *bool

	// MinLength and MaxLength of the decoded value in bytes, both inclusive.
	MinLength, MaxLength *int32

	// Pattern is a regular expression of Go's syntax that must match somewhere in the value; use \A and \z to mean all of it.
	Pattern string

	// Format of the value. Empty means FormatNone.
	Format Format

	// PlainText says that the value is text that somebody typed or pasted, and reports what an editor does not show of it: a newline or
	// carriage return at its end, a byte order mark, NUL bytes, bytes that are not UTF-8, quotes and white space around it; and warns
	// when it seems to be encoded in base64 once more. In PEM and JSON, what their syntax allows there is no fault.
	PlainText bool

	// TLS says more about FormatTLS, and goes with no other. Unset means a server's certificate with the private key in tls.key.
	TLS *TLS
}

// A Violation is one finding. It has no field for a value, and must never get one.
type Violation struct {
	// Key that the finding is about: the name that the rule gives. When that is no legal name it is the place of the rule instead, as in
	// "requiredKeys[3]". Empty when the finding is about the contract as a whole.
	Key string `json:"key,omitempty"`

	Rule   RuleType `json:"rule"`
	Reason Reason   `json:"reason"`
}

// A Certificate is what a TLS rule tells of the public half of a value that is otherwise in order.
type Certificate struct {
	Key string `json:"key"`

	// NotAfter is when the value stops being valid: the first end in a chain, the last end in a bundle of CA certificates.
	NotAfter time.Time `json:"notAfter"`
}

// A Result is what an evaluation found. Its lists are sorted, never nil and at most MaxFindings long; its counts are whole.
type Result struct {
	// SpecValid says that the rules make sense. When they do not, Violations say why and are about the rules alone.
	SpecValid bool `json:"specValid"`

	// Valid says that the rules make sense and the data satisfies them. Warnings do not count.
	Valid bool `json:"valid"`

	// Missing are the required keys that do not exist, by name.
	Missing []string `json:"missing"`

	// Violations are all findings that make the result invalid, by key and rule; missing keys are among them.
	Violations []Violation `json:"violations"`

	// Warnings are findings that do not make the result invalid, by key and rule.
	Warnings []Violation `json:"warnings"`

	// Certificates of TLS rules, by key.
	Certificates []Certificate `json:"certificates"`

	MissingCount   int `json:"missingCount"`
	ViolationCount int `json:"violationCount"`
	WarningCount   int `json:"warningCount"`

	// Truncated says that a list is shorter than its count.
	Truncated bool `json:"truncated"`

	// NextChange is the first moment after the evaluation at which the same rules and data may give another result, because a
	// certificate begins, nears its end or ends. Zero means never.
	NextChange time.Time `json:"nextChange,omitzero"`
}

// Reason returns the one reason that stands for the result: ReasonRulesSatisfied, ReasonInvalidSpec, or else that of the gravest
// violation: one of the budget, a missing key, and then the first in the list.
func (r Result) Reason() Reason {
	switch {
	case r.Valid:
		return ReasonRulesSatisfied
	case !r.SpecValid:
		return ReasonInvalidSpec
	case slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Reason == ReasonEvaluationBudgetExceeded }):
		return ReasonEvaluationBudgetExceeded
	case r.MissingCount > 0:
		return ReasonMissingRequiredKey
	case len(r.Violations) > 0:
		return r.Violations[0].Reason
	}
	return ReasonNone
}

// Evaluate says whether the data satisfies the rules at the given time, of which certificates alone depend. It changes neither, keeps
// neither, and gives the same result for the same input whatever the order of the rules.
func Evaluate(rules []Rule, data map[string][]byte, now time.Time) Result {
	compiled, f := compile(rules)
	if f.specInvalid {
		return f.result()
	}

	readable, over := f.budget(compiled, data)
	patterns := !over && f.patternBudget(compiled, readable)
	for _, r := range compiled {
		if _, ok := data[r.Name]; !ok {
			if r.required() {
				f.violation(r.Name, RuleRequired, ReasonMissingRequiredKey)
			}
			continue
		}
		if value, ok := readable[r.Name]; ok && !over {
			f.value(r, value, patterns)
			if r.Format == FormatTLS {
				f.tls(r.Rule, value, readable, data, now)
			}
		}
	}
	return f.result()
}

// value applies the rules that are about the value alone, in the documented order. A value that must not be empty and is gets one
// finding: the others would say the same once more.
func (f *findings) value(r compiledRule, value []byte, patterns bool) {
	if len(value) == 0 && r.nonEmpty() {
		f.violation(r.Name, RuleNonEmpty, ReasonEmptyValue)
		return
	}
	if r.MinLength != nil && int64(len(value)) < int64(*r.MinLength) {
		f.violation(r.Name, RuleMinLength, ReasonTooShort)
	}
	if r.MaxLength != nil && int64(len(value)) > int64(*r.MaxLength) {
		f.violation(r.Name, RuleMaxLength, ReasonTooLong)
	}
	if r.pattern != nil && patterns && !r.pattern.Match(value) {
		f.violation(r.Name, RulePattern, ReasonPatternMismatch)
	}
	if reason := checkFormat(r.Format, value); reason != ReasonNone {
		f.violation(r.Name, RuleFormat, reason)
	}
	if r.PlainText {
		f.plainText(r.Rule, value)
	}
}

// findings collects what an evaluation finds.
type findings struct {
	specInvalid  bool
	violations   []Violation
	warnings     []Violation
	certificates []Certificate
	nextChange   time.Time
}

func (f *findings) violation(key string, rule RuleType, reason Reason) {
	f.violations = append(f.violations, Violation{Key: key, Rule: rule, Reason: reason})
}

func (f *findings) warning(key string, rule RuleType, reason Reason) {
	f.warnings = append(f.warnings, Violation{Key: key, Rule: rule, Reason: reason})
}

// spec records a finding about the rules themselves.
func (f *findings) spec(key string, rule RuleType, reason Reason) {
	f.specInvalid = true
	f.violation(key, rule, reason)
}

func (f *findings) result() Result {
	r := Result{SpecValid: !f.specInvalid, NextChange: f.nextChange, Certificates: f.certificates}
	if r.Certificates == nil {
		r.Certificates = []Certificate{}
	}
	slices.SortFunc(r.Certificates, func(a, b Certificate) int { return cmp.Compare(a.Key, b.Key) })

	r.Violations, r.Warnings = sorted(f.violations), sorted(f.warnings)
	r.Valid = len(r.Violations) == 0
	r.Missing = []string{}
	for _, v := range r.Violations {
		if v.Reason == ReasonMissingRequiredKey {
			r.Missing = append(r.Missing, v.Key)
		}
	}

	r.MissingCount, r.ViolationCount, r.WarningCount = len(r.Missing), len(r.Violations), len(r.Warnings)
	bound(&r.Missing, &r.Truncated)
	bound(&r.Violations, &r.Truncated)
	bound(&r.Warnings, &r.Truncated)
	bound(&r.Certificates, &r.Truncated)
	return r
}

// sorted puts findings in the order of the API, which is that of the texts and not of the numbers behind them, each once.
func sorted(v []Violation) []Violation {
	v = append([]Violation{}, v...)
	slices.SortFunc(v, func(a, b Violation) int {
		return cmp.Or(
			cmp.Compare(a.Key, b.Key),
			cmp.Compare(a.Rule.String(), b.Rule.String()),
			cmp.Compare(a.Reason.String(), b.Reason.String()),
		)
	})
	return slices.Compact(v)
}

func bound[T any](list *[]T, truncated *bool) {
	if len(*list) > MaxFindings {
		*list = slices.Clip((*list)[:MaxFindings])
		*truncated = true
	}
}
