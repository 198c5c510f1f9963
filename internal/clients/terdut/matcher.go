package terdut

import (
	"slices"
	"strings"
	"unicode"
)

// CanonicalMatcher brings a matcher into the form in which the server derives names from it (s): labels sorted, no spaces. Commas and spaces
// within double quotes belong to the value. Two matchers that mean the same have one canonical form.
func CanonicalMatcher(m string) string {
	var parts []string
	var part strings.Builder
	quoted, escaped := false, false
	for _, r := range m {
		switch {
		case escaped:
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == ',':
			parts = append(parts, part.String())
			part.Reset()
			continue
		case unicode.IsSpace(r):
			continue
		}
		part.WriteRune(r)
	}
	parts = append(parts, part.String())
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
