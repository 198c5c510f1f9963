// Package hardcases holds that docs/hard-cases.md and the tests that it names agree.
package hardcases

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../../.."

var (
	function = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	row      = regexp.MustCompile(`(?m)^\| (H\d\d) \|.*\| (.*) \|$`)
	group    = regexp.MustCompile("`([a-z/0-9]+)`: ((?:`Test\\w+`(?:, )?)+)")
	named    = regexp.MustCompile("`(Test\\w+)`")
	numbered = regexp.MustCompile(`^TestH(\d\d)`)
)

// TestTable fails for a case without a test, for a test that is not there, and for a numbered test that the table does not name.
func TestTable(t *testing.T) {
	have := tests(t)
	table, err := os.ReadFile(filepath.Join(root, "docs", "hard-cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, r := range row.FindAllStringSubmatch(string(table), -1) {
		own := false
		for _, g := range group.FindAllStringSubmatch(r[2], -1) {
			for _, n := range named.FindAllStringSubmatch(g[2], -1) {
				name := g[1] + "." + n[1]
				listed[name+" "+r[1]] = true
				own = own || strings.HasPrefix(n[1], "Test"+r[1])
				if !have[name] {
					t.Errorf("%s: there is no %s", r[1], name)
				}
			}
		}
		if !own {
			t.Errorf("%s has no test of its own", r[1])
		}
	}
	if len(listed) == 0 {
		t.Fatal("the table names no test")
	}
	for name := range have {
		_, f, _ := strings.Cut(name, ".")
		m := numbered.FindStringSubmatch(f)
		if m == nil || !strings.Contains(string(table), "| H"+m[1]+" |") {
			continue
		}
		if !listed[name+" H"+m[1]] {
			t.Errorf("H%s: the table does not name %s", m[1], name)
		}
	}
}

// tests of the repository, as folder.function.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	have := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		for _, m := range function.FindAllSubmatch(src, -1) {
			have[filepath.ToSlash(dir)+"."+string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return have
}
