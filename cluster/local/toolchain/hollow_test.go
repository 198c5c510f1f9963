package toolchain

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHollow(t *testing.T) {
	root, err := Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tool := tools[ExternalSecrets]
	dir := filepath.Join(root, "cluster", "tools", tool.module)
	modfile, err := tool.hollow.prepare(t.Context(), dir, t.TempDir())
	if err != nil {
		t.Fatalf("prepare(...): %v", err)
	}
	out, err := goCommand(t.Context(), dir, "list", "-deps", "-modfile", modfile, tool.pkg)
	if err != nil {
		t.Fatal(err)
	}

	deps := strings.Fields(string(out))
	cases := map[string]struct {
		reason string
		want   bool
	}{
		"pkg/controllers/externalsecret": {reason: "The rest of the module is built as it is.", want: true},
		"pkg/provider/vault":             {reason: "Our own main imports this provider.", want: true},
		"pkg/provider/register":          {reason: "An emptied package can still be imported.", want: true},
		"pkg/provider/gcp/secretmanager": {reason: "An emptied package imports nothing."},
		"pkg/generator/grafana":          {reason: "An emptied package imports nothing."},
	}
	for pkg, tc := range cases {
		t.Run(pkg, func(t *testing.T) {
			if got := slices.Contains(deps, ExternalSecretsModule+"/"+pkg); got != tc.want {
				t.Errorf("\n%s\nbuild of the tool contains %s: want %t, got %t", tc.reason, pkg, tc.want, got)
			}
		})
	}
}
