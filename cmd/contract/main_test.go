package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const value = "S3ntinel-Value"

const contractYAML = `
apiVersion: terdut.ryuvia.com/v1alpha1
kind: SecretContract
metadata: {name: orders, namespace: shop}
spec:
  secretRef: {name: orders-db}
  requiredKeys:
  - {name: password, minLength: 8}
  - {name: config, format: JSON, required: false}
`

func secretYAML(data string) string {
	return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: orders-db, namespace: shop}\nstringData:\n" + data
}

// TestCheck holds the exit codes, what is printed, and that no value is.
func TestCheck(t *testing.T) {
	cases := map[string]struct {
		in   string
		code int
		want string
	}{
		"Valid":        {contractYAML + secretYAML("  password: "+value), exitValid, "shop/orders: RulesSatisfied\n"},
		"Violated":     {contractYAML + secretYAML("  config: '{"+value+"'"), exitViolated, "shop/orders: key \"config\", rule format: InvalidJSON\nshop/orders: key \"password\", rule required: MissingRequiredKey\n"},
		"NoSecret":     {contractYAML, exitViolated, "shop/orders: Secret \"orders-db\": SecretNotFound\n"},
		"OtherPlace":   {contractYAML + strings.Replace(secretYAML("  password: "+value), "namespace: shop", "namespace: other", 1), exitViolated, "shop/orders: Secret \"orders-db\": SecretNotFound\n"},
		"InvalidSpec":  {strings.Replace(contractYAML, "minLength: 8", "pattern: '('", 1) + secretYAML("  password: "+value), exitInvalid, "shop/orders: key \"password\", rule pattern: InvalidPattern\n"},
		"UnknownField": {strings.Replace(contractYAML, "minLength", "minimumLength", 1), exitInvalid, ""},
		"NoContract":   {secretYAML("  password: " + value), exitInvalid, ""},
		"NoYAML":       {"\t" + value, exitInvalid, ""},
		"BrokenSecret": {contractYAML + "---\nkind: Secret\ndata: {password: '" + value + "'}\n", exitInvalid, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := filepath.Join(t.TempDir(), "in.yaml")
			if err := os.WriteFile(f, []byte(tc.in), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errs := &bytes.Buffer{}, &bytes.Buffer{}
			code := (&checkCmd{File: []string{f}}).run(strings.NewReader(""), out, errs, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
			if code != tc.code {
				t.Errorf("exit code: got %d, want %d (%s)", code, tc.code, errs)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("output: -want, +got:\n%s", diff)
			}
			if tc.code == exitInvalid && tc.want == "" && errs.Len() == 0 {
				t.Error("nothing says what is wrong")
			}
			if strings.Contains(out.String()+errs.String(), value) {
				t.Error("a value is printed")
			}
		})
	}
}

// TestInput holds where the input may come from, and what is refused of it.
func TestInput(t *testing.T) {
	good := contractYAML + secretYAML("  password: "+value)
	for name, tc := range map[string]struct {
		cmd  checkCmd
		in   string
		code int
	}{
		"Stdin":    {checkCmd{File: []string{"-"}}, good, exitValid},
		"NoFile":   {checkCmd{File: []string{filepath.Join(t.TempDir(), "gone")}}, "", exitInvalid},
		"NoTime":   {checkCmd{File: []string{"-"}, At: "noon"}, good, exitInvalid},
		"TooLarge": {checkCmd{File: []string{"-"}}, good + strings.Repeat("#", maxInput), exitInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs := &bytes.Buffer{}, &bytes.Buffer{}
			if code := tc.cmd.run(strings.NewReader(tc.in), out, errs, time.Now()); code != tc.code {
				t.Errorf("exit code: got %d, want %d (%s)", code, tc.code, errs)
			}
			if strings.Contains(out.String()+errs.String(), value) {
				t.Error("a value is printed")
			}
		})
	}
}
