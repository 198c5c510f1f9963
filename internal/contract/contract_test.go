package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var testNow = time.Date(2026, 10, 10, 8, 30, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// TestEvaluate is the matrix of the rules about one value: what holds, what does not, and why. Values are not printed when it fails.
func TestEvaluate(t *testing.T) {
	pemBlock := "-----BEGIN THING-----\nQUJD\n-----END THING-----\n"
	missing := []Violation{{Key: "K", Rule: RuleRequired, Reason: ReasonMissingRequiredKey}}
	one := func(rule RuleType, reason Reason) []Violation {
		return []Violation{{Key: "K", Rule: rule, Reason: reason}}
	}

	cases := map[string]struct {
		reason string
		rule   Rule
		absent bool
		value  string
		want   []Violation
	}{
		"Exists":               {reason: "A key that exists is enough by default.", value: "x"},
		"Absent":               {reason: "A key is required unless the rule says otherwise.", absent: true, want: missing},
		"AbsentRequired":       {reason: "Required may be said.", rule: Rule{Required: ptr(true)}, absent: true, want: missing},
		"AbsentNoParsers":      {reason: "No parser sees a key that does not exist.", rule: Rule{Format: FormatJSON, MinLength: ptr(int32(3)), Pattern: "x", PlainText: true}, absent: true, want: missing},
		"AbsentOptional":       {reason: "An optional key may be absent.", rule: Rule{Required: ptr(false), Format: FormatJSON, MinLength: ptr(int32(3))}, absent: true},
		"OptionalInvalid":      {reason: "The rules hold for an optional key that exists.", rule: Rule{Required: ptr(false), Format: FormatJSON}, value: "{", want: one(RuleFormat, ReasonInvalidJSON)},
		"OptionalEmpty":        {reason: "An optional key that exists must not be empty.", rule: Rule{Required: ptr(false)}, want: one(RuleNonEmpty, ReasonEmptyValue)},
		"Empty":                {reason: "Zero bytes are empty by default.", want: one(RuleNonEmpty, ReasonEmptyValue)},
		"EmptyOnce":            {reason: "An empty value is not reported again by the other rules.", rule: Rule{NonEmpty: ptr(true), MinLength: ptr(int32(3)), Pattern: "x", Format: FormatURI}, want: one(RuleNonEmpty, ReasonEmptyValue)},
		"EmptyAllowed":         {reason: "A value may be empty when the rule says so.", rule: Rule{NonEmpty: ptr(false)}},
		"EmptyAllowedJSON":     {reason: "Other rules hold for a value that may be empty.", rule: Rule{NonEmpty: ptr(false), Format: FormatJSON}, want: one(RuleFormat, ReasonInvalidJSON)},
		"OneByte":              {reason: "White space is not trimmed: one byte is not empty.", value: " "},
		"MinLength":            {reason: "The minimum is inclusive.", rule: Rule{MinLength: ptr(int32(4))}, value: "abcd"},
		"BelowMinLength":       {reason: "One byte below the minimum is too short.", rule: Rule{MinLength: ptr(int32(4))}, value: "abc", want: one(RuleMinLength, ReasonTooShort)},
		"MaxLength":            {reason: "The maximum is inclusive.", rule: Rule{MaxLength: ptr(int32(4))}, value: "abcd"},
		"AboveMaxLength":       {reason: "One byte above the maximum is too long.", rule: Rule{MaxLength: ptr(int32(4))}, value: "abcde", want: one(RuleMaxLength, ReasonTooLong)},
		"BytesReachMin":        {reason: "Lengths are bytes: two characters of two bytes are four.", rule: Rule{MinLength: ptr(int32(4))}, value: "éé"},
		"BytesExceedMax":       {reason: "Lengths are bytes: two characters of two bytes are not two.", rule: Rule{MaxLength: ptr(int32(2))}, value: "éé", want: one(RuleMaxLength, ReasonTooLong)},
		"Substring":            {reason: "A pattern may match anywhere.", rule: Rule{Pattern: "b+"}, value: "abbc"},
		"Anchored":             {reason: "Anchors make it the whole value.", rule: Rule{Pattern: `\Ab+\z`}, value: "bb"},
		"AnchoredMismatch":     {reason: "Anchors make it the whole value.", rule: Rule{Pattern: `\Ab+\z`}, value: "abb", want: one(RulePattern, ReasonPatternMismatch)},
		"AnchoredNewline":      {reason: "A newline at the end is not trimmed.", rule: Rule{Pattern: `\Ab+\z`}, value: "bb\n", want: one(RulePattern, ReasonPatternMismatch)},
		"PatternMismatch":      {reason: "A pattern must match somewhere.", rule: Rule{Pattern: "z"}, value: "abc", want: one(RulePattern, ReasonPatternMismatch)},
		"FormatNone":           {reason: "None asks for nothing.", rule: Rule{Format: FormatNone}, value: "{"},
		"JSONObject":           {reason: "An object is JSON.", rule: Rule{Format: FormatJSON}, value: ` {"a": [1, null]} `},
		"JSONScalar":           {reason: "A scalar is JSON.", rule: Rule{Format: FormatJSON}, value: "12.5"},
		"JSONString":           {reason: "A string is JSON.", rule: Rule{Format: FormatJSON}, value: `"x"`},
		"JSONMalformed":        {reason: "A comma too many is not JSON.", rule: Rule{Format: FormatJSON}, value: `{"a": 1,}`, want: one(RuleFormat, ReasonInvalidJSON)},
		"JSONTwice":            {reason: "Two texts are not one JSON text.", rule: Rule{Format: FormatJSON}, value: "{}{}", want: one(RuleFormat, ReasonInvalidJSON)},
		"URI":                  {reason: "A URI with a host is absolute.", rule: Rule{Format: FormatURI}, value: "postgres://u:p%40@db.example:5432/shop?sslmode=verify-full#x"},
		"URIOpaque":            {reason: "A URI need not have a host.", rule: Rule{Format: FormatURI}, value: "urn:isbn:0451450523"},
		"URIMail":              {reason: "A URI need not have a host.", rule: Rule{Format: FormatURI}, value: "mailto:ops@example.com"},
		"URIFile":              {reason: "An authority may be empty.", rule: Rule{Format: FormatURI}, value: "file:///etc/hosts"},
		"URIv6":                {reason: "A host may be an IPv6 address.", rule: Rule{Format: FormatURI}, value: "https://[2001:db8::1]:8443/"},
		"URIRelative":          {reason: "A relative reference has no scheme.", rule: Rule{Format: FormatURI}, value: "/a/b", want: one(RuleFormat, ReasonInvalidURI)},
		"URIHostOnly":          {reason: "A network-path reference has no scheme.", rule: Rule{Format: FormatURI}, value: "//db.example/x", want: one(RuleFormat, ReasonInvalidURI)},
		"URINoScheme":          {reason: "A host alone has no scheme.", rule: Rule{Format: FormatURI}, value: "db.example", want: one(RuleFormat, ReasonInvalidURI)},
		"URIEscape":            {reason: "A broken escape is found.", rule: Rule{Format: FormatURI}, value: "https://h/%zz", want: one(RuleFormat, ReasonInvalidURI)},
		"URIOpaqueEscape":      {reason: "A broken escape is found where Go's parser does not look.", rule: Rule{Format: FormatURI}, value: "urn:x:%2", want: one(RuleFormat, ReasonInvalidURI)},
		"URIQuerySpace":        {reason: "A space is found where Go's parser does not look.", rule: Rule{Format: FormatURI}, value: "https://h/?a=b c", want: one(RuleFormat, ReasonInvalidURI)},
		"URINewline":           {reason: "Nothing is trimmed.", rule: Rule{Format: FormatURI}, value: "https://h/\n", want: one(RuleFormat, ReasonInvalidURI)},
		"URINotASCII":          {reason: "A URI is ASCII.", rule: Rule{Format: FormatURI}, value: "https://h/é", want: one(RuleFormat, ReasonInvalidURI)},
		"URITwoFragments":      {reason: "A URI has one fragment at most.", rule: Rule{Format: FormatURI}, value: "https://h/#a#b", want: one(RuleFormat, ReasonInvalidURI)},
		"PEM":                  {reason: "One block is PEM.", rule: Rule{Format: FormatPEM}, value: pemBlock},
		"PEMBundle":            {reason: "Blocks may follow with white space between them.", rule: Rule{Format: FormatPEM}, value: "\n" + pemBlock + " \r\n\t\n" + pemBlock + "\n"},
		"PEMNoNewline":         {reason: "The last line need not end.", rule: Rule{Format: FormatPEM}, value: strings.TrimSuffix(pemBlock, "\n")},
		"PEMCRLF":              {reason: "Lines may end as on Windows.", rule: Rule{Format: FormatPEM}, value: strings.ReplaceAll(pemBlock, "\n", "\r\n")},
		"PEMBefore":            {reason: "Nothing may stand before a block.", rule: Rule{Format: FormatPEM}, value: "x\n" + pemBlock, want: one(RuleFormat, ReasonInvalidPEM)},
		"PEMAfter":             {reason: "Nothing may stand after a block.", rule: Rule{Format: FormatPEM}, value: pemBlock + "x", want: one(RuleFormat, ReasonInvalidPEM)},
		"PEMBetween":           {reason: "Nothing may stand between blocks.", rule: Rule{Format: FormatPEM}, value: pemBlock + "x\n" + pemBlock, want: one(RuleFormat, ReasonInvalidPEM)},
		"PEMBrokenFirst":       {reason: "A broken block is not skipped for a later one.", rule: Rule{Format: FormatPEM}, value: "-----BEGIN THING-----\n!\n-----END THING-----\n" + pemBlock, want: one(RuleFormat, ReasonInvalidPEM)},
		"PEMUnendedFirst":      {reason: "A block that does not end is not skipped for a later one.", rule: Rule{Format: FormatPEM}, value: "-----BEGIN THING-----\nQUJD\n" + pemBlock, want: one(RuleFormat, ReasonInvalidPEM)},
		"PEMWrongEnd":          {reason: "A block must end as it began.", rule: Rule{Format: FormatPEM}, value: "-----BEGIN THING-----\nQUJD\n-----END OTHER-----\n", want: one(RuleFormat, ReasonInvalidPEM)},
		"PEMEmptyBlock":        {reason: "A block must have content.", rule: Rule{Format: FormatPEM}, value: "-----BEGIN THING-----\n-----END THING-----\n", want: one(RuleFormat, ReasonInvalidPEM)},
		"PEMIndented":          {reason: "A block begins at the start of a line.", rule: Rule{Format: FormatPEM}, value: "  " + pemBlock, want: one(RuleFormat, ReasonInvalidPEM)},
		"PEMSpaceOnly":         {reason: "White space is no block.", rule: Rule{Format: FormatPEM}, value: " \n", want: one(RuleFormat, ReasonInvalidPEM)},
		"PEMBOM":               {reason: "A byte order mark is content.", rule: Rule{Format: FormatPEM}, value: "\ufeff" + pemBlock, want: one(RuleFormat, ReasonInvalidPEM)},
		"ManyFindings":         {reason: "One value may have several findings, sorted by rule.", rule: Rule{MinLength: ptr(int32(9)), Pattern: "z", Format: FormatURI}, value: "abc", want: []Violation{{"K", RuleFormat, ReasonInvalidURI}, {"K", RuleMinLength, ReasonTooShort}, {"K", RulePattern, ReasonPatternMismatch}}},
		"InvalidUTF8IsNoFault": {reason: "The rules are about bytes.", rule: Rule{Pattern: "x"}, value: "\xff\xfex"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.rule.Name = "K"
			data := map[string][]byte{"UNDECLARED": []byte("{")}
			if !tc.absent {
				data["K"] = []byte(tc.value)
			}
			got := Evaluate([]Rule{tc.rule}, data, testNow)

			if tc.want == nil {
				tc.want = []Violation{}
			}
			if diff := cmp.Diff(tc.want, got.Violations); diff != "" {
				t.Errorf("\n%s\nEvaluate(...): -want violations, +got:\n%s", tc.reason, diff)
			}
			if !got.SpecValid || got.Valid != (len(tc.want) == 0) || got.ViolationCount != len(tc.want) {
				t.Errorf("\n%s\nEvaluate(...): flags and counts do not agree with the violations: %+v", tc.reason, got)
			}
			if wantMissing := len(tc.want) > 0 && tc.want[0].Reason == ReasonMissingRequiredKey; (got.MissingCount == 1) != wantMissing {
				t.Errorf("\n%s\nEvaluate(...): want missing %t, got %v", tc.reason, wantMissing, got.Missing)
			}
		})
	}
}

// TestNilValueExists: a key with no bytes exists.
func TestNilValueExists(t *testing.T) {
	got := Evaluate([]Rule{{Name: "K", NonEmpty: ptr(false)}}, map[string][]byte{"K": nil}, testNow)
	if !got.Valid {
		t.Errorf("a key without a value must exist, got %+v", got)
	}
}

// TestResultJSON: the form of a result is part of the API and does not depend on the order of rules or of a map.
func TestResultJSON(t *testing.T) {
	rules := []Rule{
		{Name: "b", Format: FormatJSON, MinLength: ptr(int32(9))}, {Name: "z"}, {Name: "a"}, {Name: "c", PlainText: true}, {Name: "d", PlainText: true},
	}
	data := map[string][]byte{"b": []byte("{"), "c": []byte("pw\n"), "d": []byte("cHc=")}
	want := `{"specValid":true,"valid":false,"missing":["a","z"],"violations":[` +
		`{"key":"a","rule":"required","reason":"MissingRequiredKey"},` +
		`{"key":"b","rule":"format","reason":"InvalidJSON"},` +
		`{"key":"b","rule":"minLength","reason":"TooShort"},` +
		`{"key":"c","rule":"plainText","reason":"TrailingNewline"},` +
		`{"key":"z","rule":"required","reason":"MissingRequiredKey"}],` +
		`"warnings":[{"key":"d","rule":"plainText","reason":"DoubleBase64"}],"certificates":[],` +
		`"missingCount":2,"violationCount":5,"warningCount":1,"truncated":false}`
	for i := range rules {
		turned := append(append([]Rule{}, rules[i:]...), rules[:i]...)
		got, err := json.Marshal(Evaluate(turned, data, testNow))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Fatalf("Evaluate(...): -want JSON, +got:\n%s", diff)
		}
	}
	got := Result{}
	if err := json.Unmarshal([]byte(want), &got); err != nil {
		t.Errorf("a result must be read back: %v", err)
	}
	if err := json.Unmarshal([]byte(strings.Replace(want, "InvalidJSON", "hunter2", 1)), &got); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error("a text that is no reason must be refused without being repeated")
	}
}

func TestTruncation(t *testing.T) {
	for _, n := range []int{MaxFindings, MaxFindings + 1, MaxRules} {
		var rules []Rule
		for i := range n {
			rules = append(rules, Rule{Name: fmt.Sprintf("K%03d", i)})
		}
		got := Evaluate(rules, nil, testNow)
		if got.MissingCount != n || got.ViolationCount != n || got.Truncated != (n > MaxFindings) {
			t.Errorf("%d findings: counts must be whole and truncation told, got %d, %d, %t", n, got.MissingCount, got.ViolationCount, got.Truncated)
		}
		if len(got.Missing) != MaxFindings || len(got.Violations) != MaxFindings || got.Missing[63] != "K063" {
			t.Errorf("%d findings: the first %d must be listed, got %d and %d", n, MaxFindings, len(got.Missing), len(got.Violations))
		}
	}
}

func TestReasonOfResult(t *testing.T) {
	data := map[string][]byte{"a": []byte("{"), "big": bytes.Repeat([]byte("x"), MaxValueBytes), "big2": bytes.Repeat([]byte("x"), MaxValueBytes), "s": []byte("x")}
	cases := map[string]struct {
		rules []Rule
		want  Reason
	}{
		"Satisfied": {[]Rule{{Name: "a"}}, ReasonRulesSatisfied},
		"Spec":      {[]Rule{{Name: "a", Pattern: "("}}, ReasonInvalidSpec},
		"First":     {[]Rule{{Name: "s", MinLength: ptr(int32(2))}, {Name: "a", Format: FormatJSON}}, ReasonInvalidJSON},
		"Missing":   {[]Rule{{Name: "a", Format: FormatJSON}, {Name: "m"}}, ReasonMissingRequiredKey},
		"Budget":    {[]Rule{{Name: "m"}, {Name: "big"}, {Name: "big2"}, {Name: "s"}}, ReasonEvaluationBudgetExceeded},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Evaluate(tc.rules, data, testNow).Reason(); got != tc.want {
				t.Errorf("Reason(): want %s, got %s", tc.want, got)
			}
		})
	}
}
