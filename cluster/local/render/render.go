// Package render renders an example with the Crossplane CLI and the composition function in this checkout, without a cluster.
package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/ryuvia/provider-terdut/cluster/images"
	"github.com/ryuvia/provider-terdut/cluster/local/process"
	"github.com/ryuvia/provider-terdut/cluster/local/toolchain"
)

// targetAnnotation tells the Crossplane CLI where a function listens that it does not start itself.
const targetAnnotation = "render.crossplane.io/runtime-development-target"

// A Renderer renders the examples of one composite. Its function runs until Close.
type Renderer struct {
	root, example string
	tools         map[string]string
	function      *process.Process
	target        string
	dir           string
}

// Start builds what is missing and starts the function of an example, for example "tenant". It writes to progress what it builds. The
// example's folder is examples/<example>, its function's functions/<example>.
func Start(ctx context.Context, example string, progress io.Writer) (*Renderer, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "examples", example, "render")); err != nil {
		return nil, fmt.Errorf("cannot find example %q: %w", example, err)
	}
	i := slices.IndexFunc(images.Packages(), func(p images.Package) bool { return p.Main == "functions/"+example })
	if i < 0 {
		return nil, fmt.Errorf("cannot find the function of example %q", example)
	}

	tools, err := toolchain.Ensure(ctx, []string{toolchain.Crossplane, toolchain.CrossplaneCLI}, progress)
	if err != nil {
		return nil, err
	}
	cache, err := toolchain.CacheDir()
	if err != nil {
		return nil, err
	}
	b := &images.Builder{Source: root, Cache: cache, Platform: v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}}
	binary, err := b.Binary(ctx, images.Packages()[i])
	if err != nil {
		return nil, err
	}

	dir, err := os.MkdirTemp("", "terdut-render-")
	if err != nil {
		return nil, fmt.Errorf("cannot create state folder: %w", err)
	}
	r := &Renderer{root: root, example: example, tools: tools, dir: dir}
	if err := r.start(ctx, binary); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// start the function and wait until it listens.
func (r *Renderer) start(ctx context.Context, binary string) error {
	port, err := process.FreePort()
	if err != nil {
		return err
	}
	r.target = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	name := filepath.Base(binary)
	r.function, err = process.Start(process.Spec{
		Name: name, Path: binary, Dir: r.dir, LogFile: filepath.Join(r.dir, name+".log"),
		Args: []string{"--insecure", "--address=" + r.target, "--metrics-address="},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return r.function.Wait(ctx, func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.target)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// Close stops the function.
func (r *Renderer) Close() {
	if r.function != nil {
		r.function.Stop(5 * time.Second)
	}
	_ = os.RemoveAll(r.dir)
}

// given says what a step is rendered with: what is observed of composed resources, and what functions may ask for beside that. Each is a
// folder below the example's render, with a folder for each step that has any.
var given = map[string]string{"observed": "--observed-resources", "required": "--required-resources"}

// Steps are the names of the example's steps, in order.
func (r *Renderer) Steps() ([]string, error) {
	steps := map[string]bool{}
	for folder := range given {
		entries, err := os.ReadDir(r.folder(folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot list steps of example %q: %w", r.example, err)
		}
		for _, e := range entries {
			if e.IsDir() {
				steps[e.Name()] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(steps)), nil
}

// claim of a step: another manifest of the example whose name the step's name begins with, before a dash, or the one that is named like the
// example.
func (r *Renderer) claim(step string) string {
	for i, c := range step {
		path := filepath.Join(r.root, "examples", r.example, step[:i]+".yaml")
		if _, err := os.Stat(path); c == '-' && i > 0 && err == nil {
			return path
		}
	}
	own := filepath.Join(r.root, "examples", r.example, step+".yaml")
	if _, err := os.Stat(own); step != "" && err == nil {
		return own
	}
	return filepath.Join(r.root, "examples", r.example, r.example+".yaml")
}

// Render a step of the example as YAML: the composite's status and what is composed. An empty step observes nothing.
func (r *Renderer) Render(ctx context.Context, step string) ([]byte, error) {
	return r.render(ctx, r.claim(step), "configuration", r.given(step))
}

// given folders of a step, by flag.
func (r *Renderer) given(step string) map[string]string {
	out := map[string]string{}
	for folder, flag := range given {
		path := r.folder(folder, step)
		if _, err := os.Stat(path); step != "" && err == nil {
			out[flag] = path
		}
	}
	return out
}

// render a composite with the Composition of a package.
func (r *Renderer) render(ctx context.Context, composite, pkg string, given map[string]string) ([]byte, error) {
	args := []string{
		"render",
		composite,
		filepath.Join(r.root, "package", pkg, "compositions", r.example+".yaml"),
		r.folder("functions.yaml"),
		"--xrd=" + filepath.Join(r.root, "package", pkg, "definitions", r.example+"s.yaml"),
		"--crossplane-binary=" + r.tools[toolchain.Crossplane],
		"--function-annotations=" + targetAnnotation + "=" + r.target,
	}
	for _, flag := range slices.Sorted(maps.Keys(given)) {
		args = append(args, flag+"="+given[flag])
	}
	cmd := exec.CommandContext(ctx, r.tools[toolchain.CrossplaneCLI], args...)
	cmd.Env = []string{"HOME=" + r.dir, "PATH=" + os.Getenv("PATH")}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot render example %q: %w\n%s", r.example, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

func (r *Renderer) folder(path ...string) string {
	return filepath.Join(append([]string{r.root, "examples", r.example, "render"}, path...)...)
}

// moduleRoot is the folder of the go.mod that the working directory belongs to.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("cannot find the module's root: %w", err)
	}
	gomod := strings.TrimSpace(string(out))
	if filepath.Base(gomod) != "go.mod" {
		return "", errors.New("cannot find the module's root: the working directory belongs to no module")
	}
	return filepath.Dir(gomod), nil
}
