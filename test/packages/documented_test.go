package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// Sections of docs/install.md whose commands are run.
const (
	inOrder      = "## Uninstall"
	providerGone = "### After another order"
)

// documented are the commands of a section of docs/install.md.
func documented(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(now.Dir, "docs", "install.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n##")
	commands := strings.Builder{}
	for l := range strings.Lines(section) {
		for _, prompt := range []string{"$ ", "> "} {
			if c, ok := strings.CutPrefix(l, prompt); ok {
				commands.WriteString(c)
			}
		}
	}
	if commands.Len() == 0 {
		t.Fatalf("docs/install.md has no commands under %q", heading)
	}
	return commands.String()
}

// shell runs commands as an administrator with a shell that goes on after a command that failed.
func shell(t *testing.T, commands string) {
	t.Helper()
	if said, err := bash(t, commands); err != nil {
		t.Logf("not all was there any more: %v\n%s", err, said)
	}
}

// strictly runs commands of which none may fail.
func strictly(t *testing.T, commands string) {
	t.Helper()
	if said, err := bash(t, "set -euo pipefail\n"+commands); err != nil {
		t.Fatalf("the commands do not work: %v\n%s\nthey said:\n%s", err, commands, said)
	}
}

func bash(t *testing.T, commands string) (string, error) {
	t.Helper()
	kubectl, err := toolchain.Binary(t.Context(), toolchain.Kubectl)
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir()
	if err := os.Symlink(kubectl, filepath.Join(path, "kubectl")); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "timeout", fmt.Sprint(patience.Seconds()), "bash", "-c", commands)
	c.Env = append(os.Environ(), "PATH="+path+":"+os.Getenv("PATH"), "KUBECONFIG="+p.Plane.Kubeconfig)
	said, err := c.CombinedOutput()
	return string(said), err
}
