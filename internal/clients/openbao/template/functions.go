package template

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// functions that a template may use.
var functions = template.FuncMap{
	"uriUser":  bounded(percentEncode),
	"uriPath":  bounded(percentEncode),
	"uriQuery": bounded(percentEncode),
	"base64":   bounded(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
	"toJson":   toJSON,
	"index":    index,
}

var functionNames = strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(functions)), func(n string) bool { return n == "index" }), ", ")

// bounded refuses to take or return what is larger than the whole output may be: some functions make their argument longer, and a
// template can apply them again and again.
func bounded(f func(string) string) func(string) (string, error) {
	return func(s string) (string, error) {
		if len(s) > maxOutput {
			return "", errTooLarge
		}
		r := f(s)
		if len(r) > maxOutput {
			return "", errTooLarge
		}
		return r, nil
	}
}

// percentEncode encodes every byte but those that RFC 3986 section 2.3 calls unreserved. That is right in each part of a URI: other
// characters may stand for themselves in some parts, but none has to.
func percentEncode(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(s) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// toJSON encodes a value, or all values as one object with sorted keys.
func toJSON(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil || b.Len() > maxOutput {
		return "", errTooLarge
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// index returns the value of a key that cannot be written as a field. Unlike the function that it stands in for, it fails when there is
// no such key.
func index(data map[string]string, key string) (string, error) {
	v, ok := data[key]
	if !ok {
		return "", errors.New("no such key")
	}
	return v, nil
}
