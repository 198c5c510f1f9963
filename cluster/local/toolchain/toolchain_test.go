package toolchain

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hello is a tool of a module that newModule writes.
var hello = map[string]tool{"hello": {module: "m", pkg: "."}}

// newModule returns a builder over one small tool module.
func newModule(t *testing.T, main string) builder {
	t.Helper()
	b := builder{modules: t.TempDir(), cache: t.TempDir()}
	for name, content := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "go.sum": "", "main.go": main} {
		write(t, filepath.Join(b.modules, "m", name), content)
	}
	return b
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func printing(s string) string { return "package main\n\nfunc main() { print(\"" + s + "\") }\n" }

// A syncBuffer may be written by several builders at once.
type syncBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func TestEnsureBuildsOnce(t *testing.T) {
	b := newModule(t, printing("one"))
	out := &syncBuffer{}
	b.progress = out

	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			paths, err := b.ensure(t.Context(), hello, []string{"hello"})
			if err != nil {
				t.Errorf("ensure(...): %v", err)
				return
			}
			if got, err := exec.CommandContext(t.Context(), paths["hello"]).CombinedOutput(); err != nil || string(got) != "one" {
				t.Errorf("run %s: got %q, error %v", paths["hello"], got, err)
			}
		})
	}
	wg.Wait()

	if got := strings.Count(out.String(), "[1/1] building hello ...\n"); got != 1 {
		t.Errorf("four parallel callers built the tool %d times, progress:\n%s", got, out.String())
	}
}

func TestEnsureRebuildsWhatChanged(t *testing.T) {
	b := newModule(t, printing("one"))
	b.progress = &bytes.Buffer{}
	for _, want := range []string{"one", "two"} {
		write(t, filepath.Join(b.modules, "m", "main.go"), printing(want))
		paths, err := b.ensure(t.Context(), hello, []string{"hello"})
		if err != nil {
			t.Fatalf("ensure(...): %v", err)
		}
		got, err := exec.CommandContext(t.Context(), paths["hello"]).CombinedOutput()
		if err != nil {
			t.Fatalf("run %s: %v", paths["hello"], err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("output of the tool: -want, +got:\n%s", diff)
		}
	}
}

func TestEnsureErrors(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()

	type args struct {
		ctx  context.Context
		main string
		name string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"Unknown": {
			reason: "The error names a tool that is not in the table.",
			args:   args{ctx: t.Context(), main: printing("x"), name: "nope"},
			want:   `cannot build "nope": there is no such tool`,
		},
		"DoesNotCompile": {
			reason: "The error carries what the compiler said.",
			args:   args{ctx: t.Context(), main: "package main\n\nfunc main() { undefinedName() }\n", name: "hello"},
			want:   "undefined: undefinedName",
		},
		"Cancelled": {
			reason: "A cancelled context ends the build.",
			args:   args{ctx: cancelled, main: printing("x"), name: "hello"},
			want:   context.Canceled.Error(),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newModule(t, tc.args.main)
			b.progress = &bytes.Buffer{}
			_, err := b.ensure(tc.args.ctx, hello, []string{tc.args.name})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nensure(...): want error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func TestModuleDir(t *testing.T) {
	dir, err := ModuleDir(t.Context(), CrossplaneModule)
	if err != nil {
		t.Fatalf("ModuleDir(...): %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "cluster", "crds")); err != nil {
		t.Errorf("ModuleDir(...): the module has no CRDs: %v", err)
	}
	if _, err := ModuleDir(t.Context(), "example.org/unknown"); err == nil {
		t.Error("ModuleDir(...): want an error for a module that no tool needs")
	}
}

// TestPinnedModules holds that each module whose files are read is required by the tool module that is said to require it.
func TestPinnedModules(t *testing.T) {
	for module, of := range moduleOf {
		dir := filepath.Join("..", "..", "tools", of)
		out, err := goCommand(t.Context(), dir, "list", "-m", "-f", "{{.Version}}", module)
		if version := strings.TrimSpace(string(out)); err != nil || version == "" {
			t.Errorf("cluster/tools/%s does not require %s: %v", of, module, err)
		}
		sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(sums), module+" ") {
			t.Errorf("the go.sum of cluster/tools/%s does not have %s", of, module)
		}
	}
}
