package contract

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

var byteOrderMarks = [][]byte{{0xEF, 0xBB, 0xBF}, {0xFF, 0xFE}, {0xFE, 0xFF}}

// plainText reports what an editor or a terminal does not show of a text. It looks at the whole value as it is, and says what kind of
// fault there is, not where or how often.
func (f *findings) plainText(r Rule, value []byte) {
	found := func(is bool, reason Reason) {
		if is {
			f.violation(r.Name, RulePlainText, reason)
		}
	}

	rest := value
	for _, mark := range byteOrderMarks {
		if bytes.HasPrefix(value, mark) {
			f.violation(r.Name, RulePlainText, ReasonLeadingByteOrderMark)
			rest = value[len(mark):]
			break
		}
	}
	found(bytes.IndexByte(value, 0) >= 0, ReasonNULByte)
	found(!utf8.Valid(value), ReasonNotUTF8)

	// PEM ends with a newline, and white space around JSON and quotes around a JSON string are its syntax.
	_, isPEM := parsePEM(value)
	if isPEM || r.Format == FormatPEM || r.Format == FormatTLS || r.Format == FormatJSON {
		return
	}

	found(bytes.HasSuffix(rest, []byte("\r")) || bytes.HasSuffix(rest, []byte("\r\n")), ReasonTrailingCarriageReturn)
	found(bytes.HasSuffix(rest, []byte("\n")) && !bytes.HasSuffix(rest, []byte("\r\n")), ReasonTrailingNewline)

	line := bytes.TrimRight(rest, "\r\n")
	text := bytes.TrimFunc(line, invisible)
	found(len(text) != len(line), ReasonSurroundingSpace)
	found(quoted(text), ReasonSurroundingQuotes)
	if doubleBase64(text) {
		f.warning(r.Name, RulePlainText, ReasonDoubleBase64)
	}
}

// invisible says whether a character leaves no mark of its own: white space, and the ones of no width.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\u00AD\u200B\u200C\u200D\u2060\uFEFF", r)
}

func quoted(text []byte) bool {
	first, size := utf8.DecodeRune(text)
	last, _ := utf8.DecodeLastRune(text)
	if len(text) <= size {
		return false
	}
	switch first {
	case '"', '\'', '`':
		return last == first
	case '“':
		return last == '”'
	case '‘':
		return last == '’'
	default:
		return false
	}
}

// doubleBase64 says whether the text is base64 of printable text. Values of a Secret are encoded in base64 for transport alone, so that
// base64 inside them usually is one encoding too many; but a credential may well be like that, hence no more than a warning.
func doubleBase64(text []byte) bool {
	if len(text) < 4 {
		return false
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil {
		decoded, err = base64.URLEncoding.Strict().DecodeString(string(text))
	}
	if err != nil || !utf8.Valid(decoded) {
		return false
	}
	decoded = bytes.TrimRight(decoded, "\r\n")
	for _, r := range string(decoded) {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return len(decoded) > 0
}
