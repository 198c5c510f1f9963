package docs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience with one block of commands: those of the pages have timeouts of their own.
const patience = 15 * time.Minute

// A reader runs the commands of pages in a copy of the repository, in which what they write stays, and keeps what they export.
type reader struct {
	dir string
	// environment of all commands, as NAME=value.
	environment []string
	// values that readers put in, by the name of the variable.
	values map[string]string
}

// newReader has the executables in bin first in its path.
func newReader(t *testing.T, bin, environment map[string]string) *reader {
	t.Helper()
	r := &reader{dir: t.TempDir()}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{}
	for _, e := range entries {
		links[filepath.Join(r.dir, e.Name())] = filepath.Join(abs, e.Name())
	}
	path := t.TempDir()
	for name, to := range bin {
		links[filepath.Join(path, name)] = to
	}
	for link, to := range links {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	r.environment = append(os.Environ(), "PATH="+path+":"+os.Getenv("PATH"))
	for _, k := range slices.Sorted(maps.Keys(environment)) {
		r.environment = append(r.environment, k+"="+environment[k])
	}
	return r
}

var variable = regexp.MustCompile(`(?m)^export ([A-Z_]+)=`)

// follow a page from its beginning to its end. It stops at the first block that does not work.
func (r *reader) follow(t *testing.T, page string) {
	t.Helper()
	for _, b := range blocks(page, read(t, page)) {
		if name, ok := b.says(directiveFile); ok {
			if err := os.WriteFile(filepath.Join(r.dir, name), []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		commands := b.commands()
		if commands == "" {
			continue
		}
		if reason, ok := b.says(directiveNotRun); ok {
			t.Logf("NOT RUN: %s:%d: %s", page, b.line, reason)
			continue
		}
		if _, ok := b.says(directiveValues); ok {
			for _, m := range variable.FindAllStringSubmatch(commands, -1) {
				v, ok := r.values[m[1]]
				if !ok {
					t.Fatalf("%s:%d: the test has no value for %s", page, b.line, m[1])
				}
				r.environment = append(r.environment, m[1]+"="+v)
			}
			continue
		}
		typed, _ := b.says(directiveTyped)
		start := time.Now()
		said, err := r.run(t.Context(), commands, typed)
		if err != nil {
			t.Fatalf("%s:%d: the commands do not work: %v\n%s\nthey said:\n%s", page, b.line, err, commands, said)
		}
		t.Logf("%s:%d: ran in %s", page, b.line, time.Since(start).Round(100*time.Millisecond))
	}
}

// run commands. What another command prints is typed, if there is one: there is no terminal, so that who asks for a password reads it from
// the standard input. The first command that fails ends it.
func (r *reader) run(ctx context.Context, commands, typed string) (said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	const exports = ".exports"
	script := fmt.Sprintf("set -euo pipefail\n[ ! -e %[1]s ] || . ./%[1]s\n%[2]s\n(umask 077; export -p > %[1]s)\n", exports, commands)
	if typed != "" {
		script = fmt.Sprintf("exec < <(%s)\n%s", typed, script)
	}
	c := exec.CommandContext(ctx, "bash", "-c", script)
	c.Dir, c.Env = r.dir, r.environment
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	out := strings.Builder{}
	c.Stdout, c.Stderr = &out, &out
	c.WaitDelay = 10 * time.Second
	err = c.Run()
	if ctx.Err() != nil {
		err = errors.Join(err, fmt.Errorf("they took more than %s", patience))
	}
	return out.String(), err
}

// TestReader holds that a command that fails is noticed wherever it stands, and that a reader keeps what was exported and types what is asked.
func TestReader(t *testing.T) {
	cases := map[string]struct {
		reason           string
		commands, typed  string
		said             string
		fails            bool
		before, language string
	}{
		"First":     {reason: "The last command alone must not decide.", commands: "false\ntrue\n", fails: true},
		"Pipe":      {reason: "Nor the end of a pipe.", commands: "false | cat\n", fails: true},
		"Unset":     {reason: "A variable that nobody set is a mistake of the page.", commands: "echo $NOBODY_SET_THIS\n", fails: true},
		"Exported":  {reason: "Readers have one shell for a page.", before: "export COLOUR=blue\n", commands: "echo $COLOUR\n", said: "blue\n"},
		"Typed":     {reason: "There is nobody to ask.", commands: "read -r a; echo got $a\n", typed: "echo word", said: "got word\n"},
		"Console":   {reason: "What commands print is no command.", language: "console", commands: "$ echo a \\\n> b\na b\n", said: "a b\n"},
		"FromFiles": {reason: "Pages speak of files of the repository.", commands: "head -c 7 docs/tenant.md; true\n", said: "# Tenan"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newReader(t, nil, nil)
			if tc.before != "" {
				if said, err := r.run(t.Context(), tc.before, ""); err != nil {
					t.Fatalf("r.run(...): unexpected error: %v\n%s", err, said)
				}
			}
			language := tc.language
			if language == "" {
				language = "sh"
			}
			said, err := r.run(t.Context(), block{language: language, text: tc.commands}.commands(), tc.typed)
			if (err != nil) != tc.fails {
				t.Fatalf("\n%s\nr.run(...): got error %v, want one: %t\n%s", tc.reason, err, tc.fails, said)
			}
			if !tc.fails && said != tc.said {
				t.Errorf("\n%s\nr.run(...): got %q, want %q", tc.reason, said, tc.said)
			}
		})
	}
}
