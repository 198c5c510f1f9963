package contract

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxKeyLength is the longest name of a key of a Secret, in bytes, as Kubernetes has it.
	maxKeyLength = 253

	// patternOverhead is how many bytes read the making of a pattern's program counts as.
	patternOverhead = 256
)

// A compiledRule is a rule that makes sense.
type compiledRule struct {
	Rule

	pattern *regexp.Regexp
	size    int64 // Of the pattern's program, estimated.
}

func (r Rule) required() bool { return r.Required == nil || *r.Required }
func (r Rule) nonEmpty() bool { return r.NonEmpty == nil || *r.NonEmpty }

// IsRequired says whether the key must exist.
func (r Rule) IsRequired() bool { return r.required() }

// Variable returns the name of the environment variable that explicit consumption maps the key to.
func (r Rule) Variable() string {
	if r.EnvName != "" {
		return r.EnvName
	}
	return r.Name
}

// RuleTypes returns the types of the rules that a set uses, in the order of their names. What is about a value's content is among them
// only when it is asked for: the default that a value must not be empty is RuleNonEmpty, the existence of a key is RuleRequired.
func RuleTypes(rules []Rule) []RuleType {
	used := map[RuleType]bool{}
	for _, r := range rules {
		used[RuleRequired] = true
		used[RuleNonEmpty] = used[RuleNonEmpty] || r.nonEmpty()
		used[RuleMinLength] = used[RuleMinLength] || r.MinLength != nil
		used[RuleMaxLength] = used[RuleMaxLength] || r.MaxLength != nil
		used[RulePattern] = used[RulePattern] || r.Pattern != ""
		used[RuleFormat] = used[RuleFormat] || (r.Format != "" && r.Format != FormatNone)
		used[RulePlainText] = used[RulePlainText] || r.PlainText
		used[RuleTLS] = used[RuleTLS] || r.Format == FormatTLS
	}
	types := []RuleType{}
	for t, ok := range used {
		if ok {
			types = append(types, t)
		}
	}
	slices.SortFunc(types, func(a, b RuleType) int { return strings.Compare(a.String(), b.String()) })
	return types
}

// compile finds what makes no sense in the rules. It returns nothing to evaluate if there is anything.
func compile(rules []Rule) ([]compiledRule, *findings) {
	f := &findings{}
	if len(rules) == 0 || len(rules) > MaxRules {
		f.spec("", RuleRequiredKeys, ReasonInvalidSpec)
		return nil, f
	}

	compiled := make([]compiledRule, 0, len(rules))
	names, variables := map[string]int{}, map[string]int{}
	for _, r := range rules {
		names[r.Name]++
		variables[r.Variable()]++
	}

	work := int64(0)
	for i, r := range rules {
		c := compiledRule{Rule: r}
		key := r.Name
		if !ValidKey(key) {
			key = "requiredKeys[" + strconv.Itoa(i) + "]"
			f.spec(key, RuleName, ReasonInvalidSpec)
		} else if names[key] > 1 {
			f.spec(key, RuleName, ReasonInvalidSpec)
		}
		// Names are unique, so that two rules share a variable only because one of them says so.
		if r.EnvName != "" && (!PortableVariable(r.EnvName) || variables[r.EnvName] > 1) {
			f.spec(key, RuleEnvName, ReasonInvalidSpec)
		}
		checkLengths(f, key, r)
		checkFormatRule(f, key, r)

		if r.Pattern != "" {
			size, ok := programSize(r.Pattern)
			if !ok {
				f.spec(key, RulePattern, ReasonInvalidPattern)
			}
			c.size = size
			work += size * patternOverhead
		}
		compiled = append(compiled, c)
	}
	if work > MaxPatternWork {
		f.spec("", RulePattern, ReasonEvaluationBudgetExceeded)
	}
	if f.specInvalid {
		return nil, f
	}

	for i, r := range compiled {
		if r.Pattern == "" {
			continue
		}
		p, err := regexp.Compile(r.Pattern)
		if err != nil {
			f.spec(r.Name, RulePattern, ReasonInvalidPattern)
			continue
		}
		compiled[i].pattern = p
	}
	if f.specInvalid {
		return nil, f
	}
	return compiled, f
}

func checkLengths(f *findings, key string, r Rule) {
	if r.MinLength != nil && *r.MinLength < 0 {
		f.spec(key, RuleMinLength, ReasonInvalidSpec)
	}
	if r.MaxLength != nil && *r.MaxLength < 0 {
		f.spec(key, RuleMaxLength, ReasonInvalidSpec)
	}
	if r.MinLength != nil && r.MaxLength != nil && *r.MinLength > *r.MaxLength {
		f.spec(key, RuleMinLength, ReasonInvalidSpec)
	}
}

func checkFormatRule(f *findings, key string, r Rule) {
	switch r.Format {
	case "", FormatNone, FormatJSON, FormatURI, FormatPEM, FormatTLS:
	default:
		f.spec(key, RuleFormat, ReasonInvalidSpec)
	}
	if r.TLS != nil && (r.Format != FormatTLS || !r.TLS.valid(r.Name)) {
		f.spec(key, RuleTLS, ReasonInvalidSpec)
	}
}

// ValidKey says whether Kubernetes allows the name for a key of a Secret.
func ValidKey(name string) bool {
	if name == "" || len(name) > maxKeyLength || name == "." || strings.HasPrefix(name, "..") {
		return false
	}
	for _, c := range []byte(name) {
		if !letter(c) && !digit(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// PortableVariable says whether the name is one that every shell and platform takes for an environment variable: letters, digits and
// underscores of ASCII, not starting with a digit. Kubernetes allows more; what then arrives depends on its version and the program.
func PortableVariable(name string) bool {
	if name == "" || len(name) > maxKeyLength || digit(name[0]) {
		return false
	}
	for _, c := range []byte(name) {
		if !letter(c) && !digit(c) && c != '_' {
			return false
		}
	}
	return true
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// programSize estimates how many instructions a pattern's program has, without making it: a short pattern like (x{100}){10} has a long
// program. It is false for a pattern that is no regular expression or too long.
func programSize(pattern string) (int64, bool) {
	if len(pattern) > MaxPatternBytes {
		return 0, false
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, false
	}
	return nodes(re) + 1, true
}

// nodes counts instructions. It cannot overflow: the parser bounds the product of nested repetitions and the depth.
func nodes(re *syntax.Regexp) int64 {
	n := int64(1)
	if re.Op == syntax.OpLiteral {
		n = int64(len(re.Rune))
	}
	for _, sub := range re.Sub {
		n += nodes(sub)
	}
	switch re.Op {
	case syntax.OpCapture:
		n++
	case syntax.OpRepeat:
		times := max(re.Max, re.Min+1) // Without a maximum, one more than the minimum is repeated.
		n = n*int64(times) + 1
	default:
	}
	return n
}
