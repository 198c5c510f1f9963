package baosecret

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// sentinel is in every value that is secret, and must be in no error.
const sentinel = "s3ntinel"

func fixed(key, value string) v1alpha1.DataItem { return v1alpha1.DataItem{Key: key, Value: &value} }
func rendered(key, text string) v1alpha1.DataItem {
	return v1alpha1.DataItem{Key: key, Template: &text}
}
func random(key string) v1alpha1.DataItem {
	return v1alpha1.DataItem{Key: key, Generate: &v1alpha1.Generate{Length: 24}}
}
func sourced(key string) v1alpha1.DataItem {
	return v1alpha1.DataItem{Key: key, ValueFrom: &v1alpha1.ValueSource{}}
}

// raw makes the data of a record from JSON by key.
func raw(kv ...string) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i]] = json.RawMessage(kv[i+1])
	}
	return m
}

// shown is data as text, for comparing. A generated value, which nobody knows before, is shown as one.
func shown(m map[string]json.RawMessage) map[string]string {
	s := map[string]string{}
	for k, v := range m {
		s[k] = string(v)
		if text, ok := (&openbao.Data{Values: m}).Text(k); ok && len(text) == 24 {
			s[k] = "generated"
		}
	}
	return s
}

func TestDesired(t *testing.T) {
	type want struct {
		data    map[string]string
		differs bool
		err     error
	}
	cases := map[string]struct {
		reason   string
		items    []v1alpha1.DataItem
		existing map[string]json.RawMessage
		sources  map[string]string
		lost     []string
		rotate   bool
		recreate bool
		want     want
	}{
		"New": {
			reason:  "A new record gets every key.",
			items:   []v1alpha1.DataItem{fixed("user", "shop"), random("pass"), sourced("token")},
			sources: map[string]string{"token": "t"},
			want:    want{data: map[string]string{"user": `"shop"`, "pass": "generated", "token": `"t"`}, differs: true},
		},
		"Same": {
			reason:   "A record that has everything stays as it is, whoever set the password.",
			items:    []v1alpha1.DataItem{fixed("user", "shop"), random("pass")},
			existing: raw("user", `"shop"`, "pass", `"by hand"`),
			want:     want{data: map[string]string{"user": `"shop"`, "pass": `"by hand"`}},
		},
		"SameSpelledDifferently": {
			reason:   "The same text in another spelling is no difference.",
			items:    []v1alpha1.DataItem{fixed("user", "a&b")},
			existing: raw("user", `"a\u0026b"`),
			want:     want{data: map[string]string{"user": `"a\u0026b"`}},
		},
		"ForeignKeys": {
			reason:   "Keys of others are kept byte for byte, also when something is written.",
			items:    []v1alpha1.DataItem{fixed("user", "shop")},
			existing: raw("big", `12345678901234567890`, "dec", `1.10`, "nested", `{"z":[1,2.50],"a":null}`, "html", `"<\u2028>"`),
			want: want{data: map[string]string{
				"user": `"shop"`, "big": `12345678901234567890`, "dec": `1.10`, "nested": `{"z":[1,2.50],"a":null}`, "html": `"<\u2028>"`,
			}, differs: true},
		},
		"Repaired": {
			reason:   "A value that was changed by hand is put back. The password is not one of the spec's values.",
			items:    []v1alpha1.DataItem{fixed("user", "shop"), random("pass"), sourced("token")},
			existing: raw("user", `"changed"`, "pass", `"by hand"`, "token", `17`),
			sources:  map[string]string{"token": "17"},
			want:     want{data: map[string]string{"user": `"shop"`, "pass": `"by hand"`, "token": `"17"`}, differs: true},
		},
		"KeyAdded": {
			reason:   "A key that the spec adds is generated, the others stay.",
			items:    []v1alpha1.DataItem{random("pass"), random("second")},
			existing: raw("pass", `"kept"`),
			want:     want{data: map[string]string{"pass": `"kept"`, "second": "generated"}, differs: true},
		},
		"Rotated": {
			reason:   "A rotation replaces generated values alone.",
			items:    []v1alpha1.DataItem{fixed("user", "shop"), random("pass"), rendered("uri", "{{ .user }}")},
			existing: raw("user", `"shop"`, "pass", `"old"`, "uri", `"shop"`, "theirs", `1`),
			rotate:   true,
			want:     want{data: map[string]string{"user": `"shop"`, "pass": "generated", "uri": `"shop"`, "theirs": `1`}, differs: true},
		},
		"Template": {
			reason:   "Templates see all keys but templates, in whatever order they stand.",
			items:    []v1alpha1.DataItem{rendered("uri", "{{ .user }}:{{ uriUser .pass }}@{{ .token }}"), sourced("token"), fixed("user", "shop"), random("pass")},
			existing: raw("pass", `"a/b"`),
			sources:  map[string]string{"token": "t"},
			want:     want{data: map[string]string{"uri": `"shop:a%2Fb@t"`, "user": `"shop"`, "pass": `"a/b"`, "token": `"t"`}, differs: true},
		},
		"TemplateOfTemplate": {
			reason: "A template does not see another one.",
			items:  []v1alpha1.DataItem{fixed("user", sentinel), rendered("a", "{{ .user }}"), rendered("b", "{{ .a }}")},
			want:   want{err: cmpopts.AnyError},
		},
		"TemplateOfForeignKey": {
			reason:   "A template does not see what others put into the record.",
			items:    []v1alpha1.DataItem{rendered("a", "{{ .theirs }}")},
			existing: raw("theirs", `"`+sentinel+`"`),
			want:     want{err: cmpopts.AnyError},
		},
		"TemplateFails": {
			reason:  "A template that cannot be executed is an error without a value.",
			items:   []v1alpha1.DataItem{sourced("token"), rendered("a", "{{ .token.field }}")},
			sources: map[string]string{"token": sentinel},
			want:    want{err: cmpopts.AnyError},
		},
		"GeneratedEmpty": {
			reason:   "A password that somebody emptied is not replaced: nobody would know the new one.",
			items:    []v1alpha1.DataItem{random("pass")},
			existing: raw("pass", `""`),
			want:     want{err: cmpopts.AnyError},
		},
		"GeneratedNoText": {
			reason:   "A password that is no text is not replaced either.",
			items:    []v1alpha1.DataItem{random("pass")},
			existing: raw("pass", `{"v":"`+sentinel+`"}`),
			want:     want{err: cmpopts.AnyError},
		},
		"GeneratedEmptyRotated": {
			reason:   "A rotation is the way out.",
			items:    []v1alpha1.DataItem{random("pass")},
			existing: raw("pass", `""`),
			rotate:   true,
			want:     want{data: map[string]string{"pass": "generated"}, differs: true},
		},
		"GeneratedLost": {
			reason:   "A password that somebody removed is not replaced either.",
			items:    []v1alpha1.DataItem{random("second"), random("pass")},
			existing: raw("second", `"kept"`),
			lost:     []string{"pass"},
			want:     want{err: cmpopts.AnyError},
		},
		"GeneratedLostAndAllowed": {
			reason:   "An admin lets lost values be made anew, and those alone.",
			items:    []v1alpha1.DataItem{random("kept"), random("pass"), random("empty")},
			existing: raw("kept", `"kept"`, "empty", `""`),
			lost:     []string{"pass"},
			recreate: true,
			want:     want{data: map[string]string{"kept": `"kept"`, "pass": "generated", "empty": "generated"}, differs: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := shown(tc.existing)
			data, differs, err := desired(demand{items: tc.items, existing: tc.existing, sources: tc.sources, lost: tc.lost, rotate: tc.rotate, recreate: tc.recreate})
			got := want{differs: differs, err: err}
			if data != nil {
				got.data = shown(data)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\ndesired(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, shown(tc.existing)); diff != "" {
				t.Errorf("\n%s\nwhat was read must stay as it is: -want, +got:\n%s", tc.reason, diff)
			}
			if err != nil && (strings.Contains(err.Error(), sentinel) || !strings.Contains(err.Error(), `"`+tc.items[len(tc.items)-1].Key+`"`)) {
				t.Errorf("\n%s\nan error must name the key and hold no value", tc.reason)
			}
		})
	}
}

// TestGeneratedAnew holds that no two generated values are the same, and that a rotation makes new ones.
func TestGeneratedAnew(t *testing.T) {
	items := []v1alpha1.DataItem{random("a"), random("b")}
	first, _, err := desired(demand{items: items})
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := desired(demand{items: items, existing: first, rotate: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range []map[string]json.RawMessage{first, second} {
		for _, v := range m {
			seen[string(v)] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("want 4 different values, got %d", len(seen))
	}
}

// TestGeneratedKeys holds that generated keys are told from others and from those that are new, within what the server takes as a value.
func TestGeneratedKeys(t *testing.T) {
	items := []v1alpha1.DataItem{fixed("user", "shop"), random("pass"), random("new")}
	note := generatedKeys(items, raw("user", `"shop"`, "pass", `"x"`))
	if diff := cmp.Diff(keyMark("pass"), note); diff != "" {
		t.Errorf("keys that the record has: -want, +got:\n%s", diff)
	}
	r := &record{metadata: tagged(map[string]string{tagGenerated: note}), data: raw("user", `"shop"`)}
	r.metadata.CurrentVersion = 2
	if diff := cmp.Diff([]string{"pass"}, lostKeys(items, r)); diff != "" {
		t.Errorf("keys that the record had: -want, +got:\n%s", diff)
	}
	r.metadata.CurrentVersion = 0
	if got := lostKeys(items, r); got != nil {
		t.Errorf("a record without a version has lost %v", got)
	}

	items, data := nil, raw()
	for i := range 64 {
		k := strings.Repeat("k", 250) + strconv.Itoa(i)
		items, data[k] = append(items, random(k)), openbao.Text("x")
	}
	m := map[string]string{tagGenerated: generatedKeys(items, data)}
	if err := openbao.ValidateCustomMetadata(m); err != nil || len(strings.Fields(m[tagGenerated])) != 64 {
		t.Errorf("64 keys with long names: %v", err)
	}
}
