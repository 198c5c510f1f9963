package local

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// timeout returns a context for one wait.
func timeout(ctx context.Context, t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// A writerFunc is called with what is written.
type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

func apply(ctx context.Context, t *testing.T, p *Plane, documents string) {
	t.Helper()
	if err := p.Apply(ctx, []byte(documents)); err != nil {
		t.Fatalf("Apply(...): %v", err)
	}
}

// waitForCondition waits until an object's condition is true.
func waitForCondition(ctx context.Context, t *testing.T, p *Plane, apiVersion, kind, namespace, name, condition string) {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	if err := poll(timeout(ctx, t), func(ctx context.Context) error {
		if err := p.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
			return err
		}
		status := xpv2.ConditionedStatus{}
		if err := fieldpath.Pave(o.Object).GetValueInto("status", &status); err != nil {
			return err
		}
		if c := status.GetCondition(xpv2.ConditionType(condition)); c.Status != corev1.ConditionTrue {
			return fmt.Errorf("condition %s is %q: %s", condition, c.Status, c.Message)
		}
		return nil
	}); err != nil {
		t.Errorf("%s %s did not become %s, see %s: %v", kind, name, condition, p.Logs, err)
	}
}

// wantStopped fails the test when a process runs that has the plane's folder in its command line, environment or working directory.
func wantStopped(t *testing.T, dir string) {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, proc := range procs {
		cmdline, err := os.ReadFile(filepath.Join(proc, "cmdline"))
		if err != nil {
			continue // It has ended since.
		}
		environ, _ := os.ReadFile(filepath.Join(proc, "environ"))
		if bytes.Contains(cmdline, []byte(dir)) || bytes.Contains(environ, []byte(dir)) {
			t.Errorf("process %s still runs: %s", filepath.Base(proc), bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '}))
		}
	}
}
