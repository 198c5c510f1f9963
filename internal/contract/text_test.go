package contract

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestH49InvisibleCharacters: what an editor does not show of a value is named by kind when the contract asks for plain text, and is
// nobody's business when it does not.
func TestH49InvisibleCharacters(t *testing.T) {
	pem := "-----BEGIN THING-----\nQUJD\n-----END THING-----\n"
	cases := map[string]struct {
		reason  string
		format  Format
		value   string
		want    []Reason
		warning bool
	}{
		"Clean":           {reason: "A plain value has no fault.", value: "pw"},
		"InnerSpace":      {reason: "White space inside is the value's own.", value: "correct horse\nbattery\tstaple"},
		"Newline":         {reason: "echo adds a newline.", value: "pw\n", want: []Reason{ReasonTrailingNewline}},
		"Newlines":        {reason: "However many, they are one fault.", value: "pw\n\n", want: []Reason{ReasonTrailingNewline}},
		"OnlyNewline":     {reason: "A newline alone is not empty.", value: "\n", want: []Reason{ReasonTrailingNewline}},
		"CRLF":            {reason: "Windows adds two characters, which are one fault.", value: "pw\r\n", want: []Reason{ReasonTrailingCarriageReturn}},
		"CR":              {reason: "A carriage return alone is one too.", value: "pw\r", want: []Reason{ReasonTrailingCarriageReturn}},
		"BOM":             {reason: "An editor adds a byte order mark.", value: "\ufeffpw", want: []Reason{ReasonLeadingByteOrderMark}},
		"BOMUTF16":        {reason: "UTF-16 has another mark, and NUL bytes.", value: "\xff\xfep\x00w\x00", want: []Reason{ReasonLeadingByteOrderMark, ReasonNULByte, ReasonNotUTF8}},
		"BOMAndNewline":   {reason: "Faults hide no others.", value: "\ufeff\"pw\" \n", want: []Reason{ReasonLeadingByteOrderMark, ReasonSurroundingQuotes, ReasonSurroundingSpace, ReasonTrailingNewline}},
		"NUL":             {reason: "A NUL byte ends the value for C programs.", value: "p\x00w", want: []Reason{ReasonNULByte}},
		"NotUTF8":         {reason: "Latin-1 is not UTF-8.", value: "p\xe4ss", want: []Reason{ReasonNotUTF8}},
		"UTF8":            {reason: "Other scripts are no fault.", value: "пароль"},
		"Quotes":          {reason: "Quotes of a shell or of YAML came along.", value: `"pw"`, want: []Reason{ReasonSurroundingQuotes}},
		"SingleQuotes":    {reason: "Of either kind.", value: `'pw'`, want: []Reason{ReasonSurroundingQuotes}},
		"TypographicOnes": {reason: "A word processor has its own.", value: `“pw”`, want: []Reason{ReasonSurroundingQuotes}},
		"QuotesNewline":   {reason: "A newline behind does not hide them.", value: "\"pw\"\n", want: []Reason{ReasonSurroundingQuotes, ReasonTrailingNewline}},
		"OneQuote":        {reason: "A quote on one side alone may be the value's own.", value: `"pw`},
		"QuoteAlone":      {reason: "One character surrounds nothing.", value: `"`},
		"OtherQuotes":     {reason: "Quotes that do not fit surround nothing.", value: `"pw'`},
		"Space":           {reason: "Space came along when it was copied.", value: " pw", want: []Reason{ReasonSurroundingSpace}},
		"SpaceBehind":     {reason: "On either side.", value: "pw\t", want: []Reason{ReasonSurroundingSpace}},
		"SpaceNewline":    {reason: "A newline behind does not hide it.", value: "pw \n", want: []Reason{ReasonSurroundingSpace, ReasonTrailingNewline}},
		"NoBreakSpace":    {reason: "Web pages have other space.", value: "pw\u00a0", want: []Reason{ReasonSurroundingSpace}},
		"NoWidth":         {reason: "And characters that are not seen at all.", value: "pw\u200b", want: []Reason{ReasonSurroundingSpace}},
		"DoubleBase64":    {reason: "Text that is base64 of text probably is one encoding too many.", value: "cHc=", want: []Reason{ReasonDoubleBase64}, warning: true},
		"DoubleBase64URL": {reason: "Of either alphabet.", value: "fn5-", want: []Reason{ReasonDoubleBase64}, warning: true},
		"Base64Newline":   {reason: "The encoded text mostly has a newline too.", value: "cHcK", want: []Reason{ReasonDoubleBase64}, warning: true},
		"Base64Binary":    {reason: "Base64 of random bytes is how keys are written down.", value: "3q2+796tvu8="},
		"Word":            {reason: "A word that happens to decode does not decode to text.", value: "password"},
		"PEM":             {reason: "PEM ends with a newline, whether the rule says that it is PEM or not.", value: pem},
		"PEMFormat":       {reason: "PEM ends with a newline.", format: FormatPEM, value: pem},
		"PEMNot":          {reason: "What only looks like PEM is exempt from nothing.", value: "-----BEGIN THING-----\n", want: []Reason{ReasonTrailingNewline}},
		"JSONString":      {reason: "Quotes and space are the syntax of JSON.", format: FormatJSON, value: "\"pw\"\n"},
		"JSONNotUTF8":     {reason: "JSON is UTF-8, which its parser does not insist on.", format: FormatJSON, value: "\"\xff\"", want: []Reason{ReasonNotUTF8}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data := map[string][]byte{"K": []byte(tc.value)}
			got := Evaluate([]Rule{{Name: "K", Format: tc.format, PlainText: true}}, data, testNow)

			want := Result{Violations: []Violation{}, Warnings: []Violation{}}
			for _, r := range tc.want {
				list := &want.Violations
				if tc.warning {
					list = &want.Warnings
				}
				*list = append(*list, Violation{"K", RulePlainText, r})
			}
			want.Violations = sorted(want.Violations)
			if diff := cmp.Diff(want.Violations, got.Violations); diff != "" {
				t.Errorf("\n%s\nEvaluate(...): -want violations, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(want.Warnings, got.Warnings); diff != "" {
				t.Errorf("\n%s\nEvaluate(...): -want warnings, +got:\n%s", tc.reason, diff)
			}
			if got.Valid != (len(want.Violations) == 0) || got.WarningCount != len(want.Warnings) {
				t.Errorf("\n%s\nEvaluate(...): a violation counts and a warning does not: %+v", tc.reason, got)
			}

			if without := Evaluate([]Rule{{Name: "K", Format: tc.format}}, data, testNow); !without.Valid || without.WarningCount > 0 {
				t.Errorf("\n%s\nEvaluate(...): without the rule there must be no finding, got %+v", tc.reason, without)
			}
		})
	}
}
