package local

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"
)

// chartFiles are the templates of Crossplane's Helm chart that make sense without pods: identities, roles and empty TLS Secrets.
var chartFiles = []string{
	"serviceaccount.yaml",
	"clusterrole.yaml",
	"clusterrolebinding.yaml",
	"rbac-manager-serviceaccount.yaml",
	"rbac-manager-clusterrole.yaml",
	"rbac-manager-clusterrolebinding.yaml",
	"rbac-manager-allowed-provider-permissions.yaml",
	"rbac-manager-managed-clusterroles.yaml",
	"secret.yaml",
}

// renderChart renders those files as `helm template crossplane --namespace crossplane-system` would with the chart's default values.
// Reading the chart keeps Crossplane's permissions here equal to those of a real installation. The few template functions that these
// files use are defined here rather than linking Helm.
func renderChart(dir string) ([]byte, error) {
	t := template.New("chart")
	include := func(name string, data any) (string, error) {
		var b bytes.Buffer
		err := t.ExecuteTemplate(&b, name, data)
		return b.String(), err
	}
	indent := func(n int, s string) string {
		pad := strings.Repeat(" ", n)
		return pad + strings.ReplaceAll(s, "\n", "\n"+pad)
	}
	t.Funcs(template.FuncMap{
		"default": func(def, v any) any {
			if v == nil || v == "" {
				return def
			}
			return v
		},
		"include": include,
		"indent":  indent,
		"nindent": func(n int, s string) string { return "\n" + indent(n, s) },
		"quote":   func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"replace": func(from, to, s string) string { return strings.ReplaceAll(s, from, to) },
		"toYaml": func(v any) (string, error) {
			b, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(b), "\n"), err
		},
		"trimSuffix": func(suffix, s string) string { return strings.TrimSuffix(s, suffix) },
		"trunc":      func(n int, s string) string { return s[:min(n, len(s))] },
	})
	for _, f := range append([]string{"_helpers.tpl"}, chartFiles...) {
		if _, err := t.ParseFiles(filepath.Join(dir, "templates", f)); err != nil {
			return nil, fmt.Errorf("cannot parse chart: %w", err)
		}
	}

	var values map[string]any
	if err := readYAML(filepath.Join(dir, "values.yaml"), &values); err != nil {
		return nil, err
	}
	var meta struct{ Name, Version, AppVersion string }
	if err := readYAML(filepath.Join(dir, "Chart.yaml"), &meta); err != nil {
		return nil, err
	}
	data := map[string]any{
		"Values": values, "Chart": meta,
		"Release": map[string]any{"Name": "crossplane", "Namespace": SystemNamespace, "Service": "Helm"},
	}
	var out bytes.Buffer
	for _, f := range chartFiles {
		out.WriteString("\n---\n")
		if err := t.ExecuteTemplate(&out, f, data); err != nil {
			return nil, fmt.Errorf("cannot render chart: %w", err)
		}
	}
	return out.Bytes(), nil
}

// readYAML reads a YAML file.
func readYAML(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read chart: %w", err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		return fmt.Errorf("cannot parse %s: %w", path, err)
	}
	return nil
}
