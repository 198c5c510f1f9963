package contract

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"strings"
)

// checkFormat returns why the value does not have the format, or ReasonNone. What the parsers say is dropped: it quotes what they read.
func checkFormat(format Format, value []byte) Reason {
	switch format {
	case FormatJSON:
		if !json.Valid(value) {
			return ReasonInvalidJSON
		}
	case FormatURI:
		if !validURI(value) {
			return ReasonInvalidURI
		}
	case FormatPEM, FormatTLS:
		if _, ok := parsePEM(value); !ok {
			return ReasonInvalidPEM
		}
	case FormatNone:
	}
	return ReasonNone
}

// validURI says whether the value is an absolute URI: one with a scheme. A host is not asked for (urn:isbn:1), nothing is resolved or
// opened. Go's parser lets through what it never has to decode, such as a space in a query or a broken escape in an opaque part, so that
// the characters are checked here.
func validURI(value []byte) bool {
	for i, c := range value {
		switch {
		case letter(c), digit(c), strings.IndexByte("-._~:/?#[]@!$&'()*+,;=", c) >= 0:
		case c == '%' && i+2 < len(value) && hexDigit(value[i+1]) && hexDigit(value[i+2]):
		default:
			return false
		}
	}
	if bytes.Count(value, []byte("#")) > 1 {
		return false
	}
	u, err := url.Parse(string(value))
	return err == nil && u.Scheme != ""
}

func hexDigit(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

var (
	pemBegin = []byte("-----BEGIN ")
	pemEnd   = []byte("-----END ")
	pemSpace = " \t\r\n"
)

// parsePEM returns the blocks of a value that consists of nothing else but white space between them. pem.Decode looks for the next
// block that it understands and skips everything before it, broken blocks too, so that what it consumed is checked to be one block that
// begins where it was expected: at the start of a line.
func parsePEM(value []byte) ([]*pem.Block, bool) {
	var blocks []*pem.Block
	lineStart := true
	for rest := value; ; {
		trimmed := bytes.TrimLeft(rest, pemSpace)
		if skipped := rest[:len(rest)-len(trimmed)]; len(skipped) > 0 {
			lineStart = skipped[len(skipped)-1] == '\n' || skipped[len(skipped)-1] == '\r'
		}
		if len(trimmed) == 0 {
			return blocks, len(blocks) > 0
		}
		if !lineStart || !bytes.HasPrefix(trimmed, pemBegin) {
			return nil, false
		}
		block, next := pem.Decode(trimmed)
		if block == nil || len(block.Bytes) == 0 {
			return nil, false
		}
		consumed := trimmed[:len(trimmed)-len(next)]
		if bytes.Count(consumed, pemBegin) != 1 || bytes.Count(consumed, pemEnd) != 1 {
			return nil, false
		}
		blocks = append(blocks, block)
		rest, lineStart = next, true
	}
}
