package observability

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// declared is how the reason of an event is declared.
	declared = regexp.MustCompile(`event\.Reason\s+= "(\w+)"`)
	// name in a table.
	name = regexp.MustCompile("`(\\w+)`")
)

// section of the page, the text below a heading up to the next.
func section(t *testing.T, heading string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "docs", "observability.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(b), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("the page has no section %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// rows of the tables of a text: their cells.
func rows(text string) [][]string {
	out := [][]string{}
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if !strings.HasPrefix(l, "|") || strings.HasPrefix(l, "| ---") {
			continue
		}
		cells := strings.Split(strings.Trim(l, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		out = append(out, cells)
	}
	return out
}

// TestEvents holds that the page's tables have each reason of an event that the controllers and the runtime declare, and no other.
func TestEvents(t *testing.T) {
	ours, runtimes, found := section(t, "Events"), "", false
	ours, runtimes, found = strings.Cut(ours, "from Crossplane's runtime")
	if !found {
		t.Fatal("the page does not tell our events from the runtime's")
	}
	in := map[string]map[string]bool{"ours": {}, "runtime": {}}
	for which, text := range map[string]string{"ours": ours, "runtime": runtimes} {
		for _, r := range rows(text) {
			for _, m := range name.FindAllStringSubmatch(r[0], -1) {
				in[which][m[1]] = true
			}
		}
	}
	declares := reasons(t, filepath.Join(root, "internal"))
	if len(declares) < 10 {
		t.Fatalf("only %d reasons were found, so this proves nothing", len(declares))
	}
	for _, r := range declares {
		if !in["ours"][r] {
			t.Errorf("the page has no row for event %s", r)
		}
		delete(in["ours"], r)
	}
	for r := range in["ours"] {
		t.Errorf("the page has a row for event %s, and there is none", r)
	}
	runtime := reasons(t, filepath.Join(module(t, "github.com/crossplane/crossplane-runtime/v2"), "pkg", "reconciler", "managed"))
	for r := range in["runtime"] {
		if !slices.Contains(runtime, r) {
			t.Errorf("the page has a row for event %s, and the runtime has none", r)
		}
	}
}

// reasons of events that are declared below a folder, but for tests.
func reasons(t *testing.T, dir string) []string {
	t.Helper()
	out := []string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
			out = append(out, m[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// module is the folder of a Go module that this one requires.
func module(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestAlertTable holds that the page's table of alerts is what the rules say.
func TestAlertTable(t *testing.T) {
	alerts, err := Alerts(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, a := range alerts {
		want["["+a.Name+"](operations.md#"+strings.ToLower(a.Name)+")"] = a.Labels["severity"] + " " + a.For
	}
	for _, r := range rows(section(t, "Alerts"))[1:] {
		if got := r[1] + " " + r[2]; got != want[r[0]] {
			t.Errorf("alert %s is %q on the page, and %q in the rules", r[0], got, want[r[0]])
		}
		delete(want, r[0])
	}
	for a := range want {
		t.Errorf("the page has no row for %s", a)
	}
}

// TestMetricTable holds that the page has a row for each metric that an alert or a panel asks for.
func TestMetricTable(t *testing.T) {
	alerts, err := Alerts(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	d, err := ReadDashboard(root)
	if err != nil {
		t.Fatal(err)
	}
	queries := []Query{}
	for _, a := range alerts {
		queries = append(queries, Query{Expr: a.Expr, Step: 1000})
	}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			queries = append(queries, Query{Expr: Fill(q.Expr, map[string][]string{"job": {"x"}, "function_job": {"x"}, "namespace": {"x"}}), Step: 1000})
		}
	}
	known, err := Documented(root)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := Evaluate(t.Context(), nil, queries)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		if a.Error != "" || len(a.Metrics) == 0 {
			t.Errorf("%s: %s", queries[i].Expr, a.Error)
		}
		for _, m := range a.Metrics {
			if !slices.Contains(known, Family(m)) {
				t.Errorf("docs/observability.md has no row for %s", Family(m))
			}
		}
	}
}
