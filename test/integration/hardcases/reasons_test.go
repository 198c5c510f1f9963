package hardcases

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// reason is how the reason of a condition or an event is declared.
	reason = regexp.MustCompile(`(?m)\b[rR]eason\w+(?: +(?:xpv2\.ConditionReason|event\.Reason))? += "(\w+)"`)
	// sections of the operations guide that have the rows of the reasons of an API group, or of one of its files. Those of others may be anywhere.
	sections = map[string]string{
		"apis/v1alpha1/tenant_types.go": "Tenant", "apis/v1alpha1/terdutserver_types.go": "TerdutServer", "apis/v1alpha1/secretcontract_types.go": "SecretContract",
		"apis/postgresql/v1alpha1": "PGDatabase", "apis/openbao/v1alpha1": "BaoSecret", "apis/openbao/v1alpha1/conditions_access.go": "Policy, KubernetesAuthRole, AppRole",
	}
)

// ofConfigs is where a source goes on with the reasons of provider configs, which have a section of their own.
const ofConfigs, configs = "reasons of a provider config", "Provider configs"

// TestReasons fails for a reason of the API for which the operations guide has no row, and for any other, for example of an event, that it
// does not name, nor the list of all events.
func TestReasons(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(root, "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	events, err := os.ReadFile(filepath.Join(root, "docs", "observability.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, path := range sources(t) {
		src, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		group := filepath.ToSlash(filepath.Dir(path))
		before, after, _ := strings.Cut(string(src), ofConfigs)
		section := sections[group]
		if own, ok := sections[filepath.ToSlash(path)]; ok {
			section = own
		}
		for text, section := range map[string]string{before: section, after: configs} {
			for _, m := range reason.FindAllStringSubmatch(text, -1) {
				if !strings.HasPrefix(group, "apis/") {
					if name := "`" + m[1] + "`"; !strings.Contains(string(guide), name) && !strings.Contains(string(events), name) {
						t.Errorf("%s: no guide names %s", path, m[1])
					}
					continue
				}
				rows++
				if !documented(string(guide), section, m[1]) {
					t.Errorf("%s: the guide has no row for %s under %q", path, m[1], section)
				}
			}
		}
	}
	if rows < 40 {
		t.Fatalf("only %d reasons were found, so this test proves nothing", rows)
	}
}

// sources in which reasons that people see are declared: the API groups, and the controllers for events and what the kinds have in common.
func sources(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"apis/*/*.go", "apis/*/*/*.go", "internal/connect/*.go", "internal/controller/*/*.go", "internal/controller/*/*/*.go"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			path, err := filepath.Rel(root, f)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(path, "_test.go") {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// documented says that a section, or any when none is named, has a row of a table for this reason.
func documented(guide, section, reason string) bool {
	row := regexp.MustCompile("(?m)^\\|(?: [^|]* \\|)?? `" + reason + "` \\|")
	for _, s := range strings.Split(guide, "\n## ")[1:] {
		title, text, _ := strings.Cut(s, "\n")
		if (section == "" || section == title) && row.MatchString(text) {
			return true
		}
	}
	return false
}
