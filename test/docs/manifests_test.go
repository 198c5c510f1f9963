package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// whole tells a manifest from a part of one.
var whole = regexp.MustCompile(`(?m)^apiVersion: .*\n(?:.*\n)*?kind: |^kind: .*\n(?:.*\n)*?apiVersion: `)

// manifests of all pages are such that the API server would take them, which it is asked without making anything.
func manifests(t *testing.T, r *reader) {
	t.Helper()
	asked := 0
	for _, page := range pages(t) {
		for _, b := range blocks(page, read(t, page)) {
			if b.language != "yaml" || !whole.MatchString(b.text) {
				continue
			}
			asked++
			const file = "manifest-of-a-page.yaml"
			if err := os.WriteFile(filepath.Join(r.dir, file), []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if said, err := r.run(t.Context(), "kubectl apply --dry-run=server -f "+file, ""); err != nil {
				t.Errorf("%s:%d: the API server does not take this manifest: %v\n%s\nit said:\n%s", b.page, b.line, err, b.text, said)
			}
		}
	}
	if asked == 0 {
		t.Error("no page has a manifest")
	}
}
