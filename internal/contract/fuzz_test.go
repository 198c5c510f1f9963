package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzEvaluate puts arbitrary bytes through arbitrary rules. There must be no panic, the same result every time and in every order of
// the rules, and nothing in the result that comes from the data.
func FuzzEvaluate(f *testing.F) {
	block := "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n"
	add := func(value, other, pattern, format, name string, shape uint16) {
		f.Add([]byte(value), []byte(other), pattern, format, name, int32(3), int32(9), shape, int64(1_790_000_000))
	}
	for shape := range uint16(16) {
		add("\xff\xfe\x00", "é\xc3", `\Aa+\z`, "None", "K", shape*257)
	}
	add("", "null", "(", "JSON", "provider.json", 0xffff)
	add("{", "12", "(?i)x{2,1000}", "JSON", "a/b", 3)
	add("https://h/%zz", "urn:isbn:1", "%", "URI", "..", 7)
	add("http://[::1", "//h", `\pL+`, "URI", "", 9)
	add(block, block+"x", ".", "PEM", "tls.crt", 21)
	add("x\n"+block, "-----BEGIN A-----\n!\n-----END A-----\n"+block, "", "PEM", "K", 33)
	add(block+block, block, "", "TLS", "tls.crt", 127)
	add("\ufeff\"pw\"\r\n", "cHc=", `^\S+$`, "YAML", "tls.key", 255)
	leaf := issue(f, "leaf", nil, ecKey(f), true, 30, "a.example")
	add(leaf.pem(), pkcs8(f, leaf.key), "", "TLS", "tls.crt", 0x1fc)
	add(leaf.pem()+leaf.pem(), "", "", "TLS", "ca.crt", 0xffff)

	f.Fuzz(func(t *testing.T, value, other []byte, pattern, format, name string, low, high int32, shape uint16, unix int64) {
		bit := func(n int) bool { return shape>>n&1 == 1 }
		first := Rule{Name: name, Pattern: pattern, Format: Format(format), PlainText: bit(0)}
		if bit(1) {
			first.MinLength = &low
		}
		if bit(2) {
			first.MaxLength = &high
		}
		if bit(3) {
			first.Required, first.NonEmpty = ptr(bit(4)), ptr(bit(5))
		}
		if bit(6) {
			first.TLS = &TLS{WarningDays: low}
			if bit(7) {
				first.TLS.Use = TLSCA
			} else {
				first.TLS.HostNames = []string{"a.example", pattern}
			}
			if bit(8) {
				first.TLS.PrivateKey = "other"
			}
		}
		if bit(9) {
			first.EnvName = pattern
		}
		rules := []Rule{first, {Name: "other", PlainText: true, Format: Format(format)}, {Name: "absent"}}
		if bit(10) {
			rules = append(rules, first)
		}
		data := map[string][]byte{name: value, "other": other}
		if !bit(11) {
			data["tls.key"] = other
		}
		now := time.Unix(unix, 0)

		got := Evaluate(rules, data, now)
		encoded, err := json.Marshal(got)
		if err != nil {
			t.Fatal("a result must be encodable")
		}
		assertSafe(t, got, rules)
		assertShape(t, got)

		if again, _ := json.Marshal(Evaluate(rules, data, now)); string(encoded) != string(again) {
			t.Error("the same input must have the same result")
		}
		slices.Reverse(rules)
		if turned, _ := json.Marshal(Evaluate(rules, data, now)); got.SpecValid && string(encoded) != string(turned) {
			t.Error("the order of the rules must not matter")
		}
	})
}

// assertShape checks what holds for every result.
func assertShape(t *testing.T, r Result) {
	t.Helper()
	if r.Missing == nil || r.Violations == nil || r.Warnings == nil || r.Certificates == nil {
		t.Error("a list is nil")
	}
	if len(r.Missing) > MaxFindings || len(r.Violations) > MaxFindings || len(r.Warnings) > MaxFindings || len(r.Certificates) > MaxFindings {
		t.Error("a list is too long")
	}
	if r.Valid != (r.ViolationCount == 0) || r.Valid && !r.SpecValid || r.ViolationCount < r.MissingCount {
		t.Error("flags and counts contradict each other")
	}
	if !slices.IsSorted(r.Missing) || !slices.IsSortedFunc(r.Violations, func(a, b Violation) int {
		return strings.Compare(fmt.Sprint(a.Key, "\x00", a.Rule, "\x00", a.Reason), fmt.Sprint(b.Key, "\x00", b.Rule, "\x00", b.Reason))
	}) {
		t.Error("a list is not sorted")
	}
	if !r.SpecValid && (r.MissingCount > 0 || r.WarningCount > 0 || len(r.Certificates) > 0) {
		t.Error("data was looked at though the rules make no sense")
	}
}

// FuzzRotation puts arbitrary texts where a time is expected.
func FuzzRotation(f *testing.F) {
	f.Add("2026-10-01T00:00:00Z", int64(time.Hour), int64(1_790_000_000))
	f.Add("9999-12-31T23:59:59+23:59", int64(1), int64(0))
	f.Add("\xff", int64(-1), int64(-1))
	f.Fuzz(func(t *testing.T, annotation string, age, unix int64) {
		now := time.Unix(unix, 0)
		_, next := Rotation(annotation, true, time.Duration(age), now)
		if !next.IsZero() && !next.After(now) {
			t.Error("the next moment is not in the future")
		}
	})
}

// BenchmarkEvaluate1000 evaluates 1,000 contracts with 20 rules each.
func BenchmarkEvaluate1000(b *testing.B) {
	rules, data := make([]Rule, 0, 20), map[string][]byte{}
	for i := range 20 {
		r := Rule{Name: fmt.Sprintf("KEY_%d", i), MinLength: ptr(int32(8)), PlainText: i%2 == 0}
		data[r.Name] = []byte("https://user:password@db.example:5432/shop")
		switch i % 4 {
		case 0:
			r.Format = FormatURI
		case 1:
			r.Pattern = `\Ahttps?://[^\s]+\z`
		case 2:
			r.Format, data[r.Name] = FormatJSON, []byte(`{"user": "shop", "roles": ["reader", "writer"]}`)
		}
		rules = append(rules, r)
	}
	b.ReportAllocs()
	for b.Loop() {
		for range 1000 {
			if !Evaluate(rules, data, testNow).Valid {
				b.Fatal("the data must satisfy the rules")
			}
		}
	}
}
