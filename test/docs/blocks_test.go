package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root of the repository.
var root = filepath.Join("..", "..")

// A block is fenced text of a page.
type block struct {
	page string
	// line of the opening fence.
	line int
	// language after the fence.
	language string
	// directive is the text of a comment right before the fence, which readers do not see.
	directive string
	text      string
}

// What a directive says of a block of commands. Without one its commands are run.
const (
	// directiveNotRun and a reason: it cannot be run here.
	directiveNotRun = "not run:"
	// directiveValues: readers put in their own values, and the test those of its plane.
	directiveValues = "values"
	// directiveTyped and a command: what it prints is what readers type.
	directiveTyped = "typed:"
	// directiveFile and a name, of a block that is no commands: readers have it in this file.
	directiveFile = "file:"
)

var (
	fence   = regexp.MustCompile("^ *```([a-z]*)$")
	comment = regexp.MustCompile(`^<!-- (.*) -->$`)
)

// pages of the repository that people read, relative to its root.
func pages(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "_output", "node_modules"}, d.Name()) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			rel, err := filepath.Rel(root, path)
			out = append(out, rel)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// read a page.
func read(t *testing.T, page string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// blocks of a page in their order.
func blocks(page, text string) []block {
	var out []block
	var open *block
	directive := ""
	for i, l := range strings.Split(text, "\n") {
		m := fence.FindStringSubmatch(l)
		switch {
		case open == nil && m != nil:
			open = &block{page: page, line: i + 1, language: m[1], directive: directive}
		case open != nil && m != nil && m[1] == "":
			out = append(out, *open)
			open = nil
		case open != nil:
			open.text += l + "\n"
			continue
		}
		directive = ""
		if c := comment.FindStringSubmatch(l); c != nil {
			directive = c[1]
		}
	}
	return out
}

// says whether the directive is of a sort, and what follows it.
func (b block) says(directive string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(b.directive, directive)
	return strings.TrimSpace(rest), ok
}

// commands of a block, or nothing when it is no commands. A console shows commands after a prompt, further lines of them after another one,
// and what they print without any.
func (b block) commands() string {
	switch b.language {
	case "sh", "bash", "shell":
		return b.text
	case "console":
		out := ""
		for l := range strings.Lines(b.text) {
			for _, prompt := range []string{"$ ", "> "} {
				if c, ok := strings.CutPrefix(l, prompt); ok {
					out += c
				}
			}
		}
		return out
	}
	return ""
}
