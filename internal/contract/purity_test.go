package contract

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPure: the package imports parsers and nothing that reads, writes, logs or knows the time, and of the time it uses no clock. The
// linter has the same rule for imports; this one also knows the functions.
func TestPure(t *testing.T) {
	allowed := []string{
		"bytes", "cmp", "crypto", "crypto/x509", "encoding/base64", "encoding/json", "encoding/pem", "fmt", "net/netip", "net/url",
		"regexp", "regexp/syntax", "slices", "strconv", "strings", "time", "unicode", "unicode/utf8",
	}
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		read++
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if path, err := strconv.Unquote(i.Path.Value); err != nil || !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", f.Name(), i.Path.Value)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := s.X.(*ast.Ident)
			if ok && pkg.Name == "time" && slices.Contains(clock, s.Sel.Name) ||
				ok && pkg.Name == "fmt" && s.Sel.Name != "Errorf" {
				t.Errorf("%s uses %s.%s", f.Name(), pkg.Name, s.Sel.Name)
			}
			return true
		})
	}
	if read == 0 {
		t.Error("no source was found")
	}
}

// TestInputIsNotChanged: neither rules nor data are written to, and neither is kept.
func TestInputIsNotChanged(t *testing.T) {
	rules := []Rule{{Name: "b", PlainText: true, MinLength: ptr(int32(3))}, {Name: "a", Format: FormatTLS, TLS: &TLS{HostNames: []string{"z", "y"}}}}
	data := map[string][]byte{"b": []byte("\ufeffpw\n"), "a": []byte(" \n"), "tls.key": []byte("x")}
	before, names := map[string]string{}, slices.Sorted(maps.Keys(data))
	for k, v := range data {
		before[k] = string(v)
	}
	first := Evaluate(rules, data, testNow)

	if diff := cmp.Diff(names, slices.Sorted(maps.Keys(data))); diff != "" {
		t.Errorf("Evaluate(...) changed the data's keys:\n%s", diff)
	}
	for k, v := range data {
		if before[k] != string(v) {
			t.Errorf("Evaluate(...) changed the value of %q", k)
		}
	}
	want := []Rule{{Name: "b", PlainText: true, MinLength: ptr(int32(3))}, {Name: "a", Format: FormatTLS, TLS: &TLS{HostNames: []string{"z", "y"}}}}
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Errorf("Evaluate(...) changed the rules:\n%s", diff)
	}
	for _, v := range data {
		clear(v)
	}
	if diff := cmp.Diff(Evaluate(rules, map[string][]byte{"b": []byte("\ufeffpw\n"), "a": []byte(" \n"), "tls.key": []byte("x")}, testNow), first); diff != "" {
		t.Errorf("a result must not depend on what happens to the data afterwards:\n%s", diff)
	}
}

func TestRotation(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const month = 720 * time.Hour
	cases := map[string]struct {
		reason     string
		annotation string
		absent     bool
		want       Reason
		wantNext   time.Time
	}{
		"Fresh":      {reason: "A rotation within the age is in order until the age is reached.", annotation: "2026-10-01T00:00:00Z", wantNext: at("2026-10-31T00:00:00Z")},
		"OtherZone":  {reason: "RFC 3339 has zones.", annotation: "2026-10-01T02:00:00+02:00", wantNext: at("2026-10-31T00:00:00Z")},
		"JustBefore": {reason: "A second before the age is reached it is in order.", annotation: "2026-09-10T08:30:01Z", wantNext: at("2026-10-10T08:30:01Z")},
		"TooOld":     {reason: "From when the age is reached it is too old, and stays so.", annotation: "2026-09-10T08:30:00Z", want: ReasonSecretTooOld},
		"Skew":       {reason: "Clocks differ by up to five minutes.", annotation: "2026-10-10T08:35:00Z", wantNext: at("2026-11-09T08:35:00Z")},
		"Future":     {reason: "A time further in the future is a mistake until it comes near.", annotation: "2026-10-10T08:35:01Z", want: ReasonRotationTimestampInFuture, wantNext: at("2026-10-10T08:30:01Z")},
		"FarFuture":  {reason: "However far.", annotation: "9999-12-31T23:59:59Z", want: ReasonRotationTimestampInFuture, wantNext: at("9999-12-31T23:54:59Z")},
		"Invalid":    {reason: "Another form is no time.", annotation: "2026-10-01 00:00:00", want: ReasonRotationTimestampInvalid},
		"Empty":      {reason: "An empty annotation is no time.", want: ReasonRotationTimestampInvalid},
		"Missing":    {reason: "Without the annotation nothing is known.", absent: true, want: ReasonRotationTimestampMissing},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, next := Rotation(tc.annotation, !tc.absent, month, testNow)
			if got != tc.want || !next.Equal(tc.wantNext) {
				t.Errorf("\n%s\nRotation(...): want %q and %s, got %q and %s", tc.reason, tc.want, tc.wantNext, got, next)
			}
			if next.IsZero() {
				return
			}
			if then, _ := Rotation(tc.annotation, !tc.absent, month, next); then == got {
				t.Errorf("\n%s\nRotation(...): at the next moment the answer must be another", tc.reason)
			}
		})
	}
}
