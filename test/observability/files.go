// Package observability reads the alert rules and the dashboard of examples/observability, and evaluates their queries with Prometheus' own
// engine. Its tests hold that each alert fires when it should and not otherwise, and that the documentation names what there is; the
// end-to-end tests use it to hold that each query finds something in what a running product tells.
package observability

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// folder of the examples, below the repository's root.
const folder = "examples/observability"

// An Alert is an alerting rule.
type Alert struct {
	Name        string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// Pending is how long what is wrong must last.
func (a *Alert) Pending() (time.Duration, error) {
	if a.For == "" {
		return 0, nil
	}
	return time.ParseDuration(a.For)
}

// Alerts of the example, which Prometheus takes as they are.
func Alerts(ctx context.Context, root string) ([]Alert, error) {
	path := filepath.Join(root, folder, "alerts.yaml")
	if _, err := promql(ctx, nil, "check", path); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file := struct {
		Groups []struct {
			Rules []Alert `json:"rules"`
		} `json:"groups"`
	}{}
	if err := yaml.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	out := []Alert{}
	for _, g := range file.Groups {
		out = append(out, g.Rules...)
	}
	return out, nil
}

// A Dashboard is what Grafana imports, as far as it matters here.
type Dashboard struct {
	Templating struct {
		List []Variable `json:"list"`
	} `json:"templating"`
	Panels []Panel `json:"panels"`
}

// A Variable of a dashboard. Definition is a query, label_values(SELECTOR, LABEL), when Type is query.
type Variable struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	Definition string `json:"definition"`
}

// A Panel of a dashboard. A row has no queries.
type Panel struct {
	ID          int        `json:"id"`
	Title       string     `json:"title"`
	Type        string     `json:"type"`
	Description string     `json:"description"`
	Place       Place      `json:"gridPos"`
	Datasource  Datasource `json:"datasource"`
	Targets     []struct {
		RefID      string     `json:"refId"`
		Expr       string     `json:"expr"`
		Datasource Datasource `json:"datasource"`
	} `json:"targets"`
}

// A Place on a dashboard, which is 24 wide.
type Place struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

// A Datasource that a panel asks.
type Datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// ReadDashboard of the example.
func ReadDashboard(root string) (*Dashboard, error) {
	b, err := os.ReadFile(filepath.Join(root, folder, "dashboard.json"))
	if err != nil {
		return nil, err
	}
	d := &Dashboard{}
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("cannot read dashboard: %w", err)
	}
	return d, nil
}

// labelValues is how a variable asks for the values of a label.
var labelValues = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

// Values is the query that gives what Grafana offers for the variable, and the label that has the values.
func (v *Variable) Values() (expr, label string, err error) {
	m := labelValues.FindStringSubmatch(v.Definition)
	if m == nil {
		return "", "", fmt.Errorf("variable %q is no label_values(SELECTOR, LABEL)", v.Name)
	}
	return fmt.Sprintf("group by (%s) (%s)", m[2], m[1]), m[2], nil
}

// Fill in the variables of a dashboard's query, those of Grafana's own too, as Grafana does when several values are chosen.
func Fill(expr string, values map[string][]string) string {
	pairs := []string{"$__rate_interval", "30m", "$__range", "1h"}
	for name, v := range values {
		pairs = append(pairs, "$"+name, strings.Join(v, "|"))
	}
	return strings.NewReplacer(pairs...).Replace(expr)
}

var (
	// metricRow is a row of a table of metrics, and metric a name in its first cell.
	metricRow = regexp.MustCompile("(?m)^\\| (`[a-z_]+`(?:, `[a-z_]+`)*) \\|")
	metric    = regexp.MustCompile("`([a-z_]+)`")
)

// Documented metrics: those that have a row on the page about them.
func Documented(root string) ([]string, error) {
	b, err := os.ReadFile(filepath.Join(root, "docs", "observability.md"))
	if err != nil {
		return nil, err
	}
	text, _, _ := strings.Cut(string(b), "\n## Alerts\n")
	out := []string{}
	for _, r := range metricRow.FindAllStringSubmatch(text, -1) {
		for _, m := range metric.FindAllStringSubmatch(r[1], -1) {
			out = append(out, m[1])
		}
	}
	return out, nil
}

// Family is the name of the metric that a series belongs to: a histogram has several.
func Family(series string) string {
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if f, ok := strings.CutSuffix(series, suffix); ok {
			return f
		}
	}
	return series
}
