package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	// code within a line, where brackets are no links.
	code = regexp.MustCompile("`[^`\n]*`")
	// noSlug is what a heading loses in the name that leads to it.
	noSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// slug is the name by which a forge links to a heading.
func slug(heading string) string {
	return strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// prose is a page without its fenced blocks.
func prose(page, text string) string {
	for _, b := range blocks(page, text) {
		text = strings.ReplaceAll(text, b.text, "\n")
	}
	return text
}

// TestLinks holds that links of all pages lead somewhere: to a file of the repository, and to a heading that is on it.
func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		text := code.ReplaceAllString(prose(page, read(t, page)), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: link %s: there is no %s", page, m[1], target)
				continue
			}
			if anchor == "" {
				continue
			}
			found := false
			for _, h := range heading.FindAllStringSubmatch(prose(target, read(t, target)), -1) {
				found = found || slug(h[1]) == anchor
			}
			if !found {
				t.Errorf("%s: link %s: %s has no such heading", page, m[1], target)
			}
		}
	}
}
