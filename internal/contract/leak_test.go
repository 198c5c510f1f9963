package contract

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const sentinel = "Sentinel-7f3A/ö\"<&%zz"

// TestTypesCannotHoldAValue: a result consists of numbers, times and enumerations; its only texts are names of keys. Whoever adds a
// field must come here and say why it cannot hold a value.
func TestTypesCannotHoldAValue(t *testing.T) {
	want := map[string]string{
		"SpecValid": "bool", "Valid": "bool", "Truncated": "bool",
		"Missing":        "[]string",
		"Violations":     "[]contract.Violation",
		"Violations.Key": "string", "Violations.Rule": "contract.RuleType", "Violations.Reason": "contract.Reason",
		"Warnings":     "[]contract.Violation",
		"Warnings.Key": "string", "Warnings.Rule": "contract.RuleType", "Warnings.Reason": "contract.Reason",
		"Certificates":     "[]contract.Certificate",
		"Certificates.Key": "string", "Certificates.NotAfter": "time.Time",
		"MissingCount": "int", "ViolationCount": "int", "WarningCount": "int",
		"NextChange": "time.Time",
	}
	got := map[string]string{}
	var walk func(prefix string, typ reflect.Type)
	walk = func(prefix string, typ reflect.Type) {
		for i := range typ.NumField() {
			field := typ.Field(i)
			got[prefix+field.Name] = field.Type.String()
			if field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct {
				walk(prefix+field.Name+".", field.Type.Elem())
			}
		}
	}
	walk("", reflect.TypeFor[Result]())
	if !reflect.DeepEqual(want, got) {
		t.Errorf("the fields of a result have changed:\nwant %v\ngot  %v", want, got)
	}
	for _, enum := range []reflect.Type{reflect.TypeFor[Reason](), reflect.TypeFor[RuleType]()} {
		if enum.Kind() != reflect.Uint8 {
			t.Errorf("%s must be a number: a text could hold a value", enum)
		}
	}
}

// TestEnumerations: every reason and rule has a text of its own, that can be read back, and no other number has one.
func TestEnumerations(t *testing.T) {
	seen := map[string]bool{}
	for i := range 256 {
		for _, text := range []string{Reason(i).String(), RuleType(i).String()} {
			if text == "" {
				continue
			}
			if seen[text] {
				t.Errorf("%q stands for two things", text)
			}
			seen[text] = true
		}
		r, back := Reason(i), ReasonNone
		if err := back.UnmarshalText([]byte(r.String())); err != nil || (back != r && i < len(reasonTexts)) {
			t.Errorf("reason %d must be read back, got %d: %v", i, back, err)
		}
		if i > 0 && i < len(reasonTexts) && r.String() == "" || i > 0 && i < len(ruleTexts) && RuleType(i).String() == "" {
			t.Errorf("number %d has no text", i)
		}
	}
}

// TestNoLeak puts a sentinel through every rule and every way to break it, and looks for it and what is commonly made of it in every
// printed form of the result. It catches what goes out directly; that a result answers a question about the value it cannot change.
func TestNoLeak(t *testing.T) {
	pair := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Headers: map[string]string{"X": sentinel}, Bytes: []byte(sentinel)}))
	values := []string{
		sentinel, sentinel + "\n", "\ufeff" + sentinel, `"` + sentinel + `"`, "\x00" + sentinel + "\xff\r\n", " " + sentinel,
		"{" + sentinel, `{"` + url.QueryEscape(sentinel) + `":}`, "https://" + sentinel + "/%zz", "https://[" + sentinel, "urn:" + sentinel,
		pair, sentinel + "\n" + pair, "-----BEGIN " + sentinel + "-----\n" + sentinel + "\n-----END " + sentinel + "-----\n",
		base64.StdEncoding.EncodeToString([]byte(sentinel)), strings.Repeat(sentinel, MaxValueBytes/len(sentinel)+1),
	}
	rules := []Rule{
		{}, {MinLength: ptr(int32(MaxValueBytes))}, {MaxLength: ptr(int32(0))}, {Pattern: "nothing like it"}, {PlainText: true},
		{Format: FormatJSON}, {Format: FormatURI}, {Format: FormatPEM}, {Format: FormatTLS}, {Format: FormatTLS, TLS: &TLS{Use: TLSCA}},
		// The specification is not repeated either, except for legal names of keys.
		{Pattern: "(" + sentinel}, {Format: Format(sentinel)}, {EnvName: sentinel}, {Name: sentinel},
		{Format: FormatTLS, TLS: &TLS{HostNames: []string{sentinel}, PrivateKey: sentinel, Use: TLSUse(sentinel)}},
	}
	forbidden := encodings(sentinel)
	for i, value := range values {
		for j, rule := range rules {
			if rule.Name == "" {
				rule.Name = "K"
			}
			got := Evaluate([]Rule{rule}, map[string][]byte{rule.Name: []byte(value), "tls.key": []byte(value), sentinel: []byte(value)}, testNow)
			encoded, err := json.Marshal(got)
			if err != nil {
				t.Fatalf("value %d, rule %d: a result must be encodable: %v", i, j, err)
			}
			printed := string(encoded) + fmt.Sprintf("%v %+v %#v %s", got, got, got, got.Reason())
			for kind, f := range forbidden {
				if strings.Contains(printed, f) {
					t.Errorf("value %d, rule %d: the result holds the value (%s)", i, j, kind)
				}
			}
			assertSafe(t, got, []Rule{rule})
		}
	}
}

// encodings are what is commonly made of a value.
func encodings(value string) map[string]string {
	b := []byte(value)
	quoted, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	s1, s256, s512, m := sha1.Sum(b), sha256.Sum256(b), sha512.Sum512(b), md5.Sum(b)
	return map[string]string{
		"raw": value, "part": value[:8], "base64": base64.StdEncoding.EncodeToString(b)[:16], "base64url": base64.URLEncoding.EncodeToString(b)[:16],
		"hex": hex.EncodeToString(b), "HEX": strings.ToUpper(hex.EncodeToString(b)), "url": url.QueryEscape(value), "path": url.PathEscape(value),
		"json": strings.Trim(string(quoted), `"`), "quoted": strings.Trim(fmt.Sprintf("%q", value), `"`), "bytes": strings.Trim(fmt.Sprintf("%v", []byte(value)), "[]"),
		"md5": hex.EncodeToString(m[:]), "sha1": hex.EncodeToString(s1[:]), "sha256": hex.EncodeToString(s256[:]), "sha512": hex.EncodeToString(s512[:]),
	}
}

// assertSafe checks that every text of a result is a legal name that the rules give, or the place of a rule: whatever the data was, it
// cannot have come from there.
func assertSafe(t *testing.T, r Result, rules []Rule) {
	t.Helper()
	allowed := map[string]bool{"": true}
	for i, rule := range rules {
		allowed[fmt.Sprintf("requiredKeys[%d]", i)] = true
		if ValidKey(rule.Name) {
			allowed[rule.Name] = true
		}
		if key := rule.privateKey(); ValidKey(key) {
			allowed[key] = true
		}
	}
	keys := slices.Clone(r.Missing)
	for _, v := range append(slices.Clone(r.Violations), r.Warnings...) {
		keys = append(keys, v.Key)
		if v.Reason.String() == "" || v.Rule.String() == "" {
			t.Error("a finding has no reason or no rule")
		}
	}
	for _, c := range r.Certificates {
		keys = append(keys, c.Key)
	}
	for _, key := range keys {
		if !allowed[key] {
			t.Error("a finding names what the rules do not")
		}
	}
}
