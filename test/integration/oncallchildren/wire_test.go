package oncallchildren

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errKilled is what everything ends with that a provider does after it was killed.
var errKilled = errors.New("the provider was killed")

// A wire is between the provider and the two places that it writes to: the on-call server and the API server. It counts writes, and can
// kill the provider at one of them, before or after it is carried out.
type wire struct {
	base http.RoundTripper

	mu     sync.Mutex
	server []string
	writes int
	// kill at the write of this number, counted from 1; 0 does not.
	kill  int
	after bool
	dead  bool
}

// begin a write. What is returned is called after it.
func (w *wire) begin() (end func() error, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return nil, errKilled
	}
	w.writes++
	if w.writes != w.kill {
		return func() error { return nil }, nil
	}
	w.dead = true
	if !w.after {
		return nil, errKilled
	}
	return func() error { return errKilled }, nil
}

func (w *wire) alive() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return errKilled
	}
	return nil
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		if err := w.alive(); err != nil {
			return nil, err
		}
		return w.base.RoundTrip(r)
	}
	end, err := w.begin()
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.server = append(w.server, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/"))
	w.mu.Unlock()
	rsp, err := w.base.RoundTrip(r)
	if lost := end(); lost != nil {
		if err == nil {
			_ = rsp.Body.Close()
		}
		return nil, lost
	}
	return rsp, err
}

// sent returns what was written to the server so far, and forgets it.
func (w *wire) sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.server
	w.server = nil
	return s
}

func (w *wire) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.server, w.writes = nil, 0
}

func (w *wire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes
}

func (w *wire) write(do func() error) error {
	end, err := w.begin()
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return end()
}

func (w *wire) get(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := w.alive(); err != nil {
		return err
	}
	return c.Get(ctx, k, o, opts...)
}

func (w *wire) create(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
	return w.write(func() error { return c.Create(ctx, o, opts...) })
}

func (w *wire) update(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
	return w.write(func() error { return c.Update(ctx, o, opts...) })
}

func (w *wire) patch(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return w.write(func() error { return c.Patch(ctx, o, p, opts...) })
}

func (w *wire) subResourcePatch(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	return w.write(func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
}

// recorder keeps events as "Type Reason".
type recorder struct {
	mu     sync.Mutex
	events []string
	texts  []string
}

// Event implements event.Recorder.
func (r *recorder) Event(_ runtime.Object, e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf("%s %s", e.Type, e.Reason))
	r.texts = append(r.texts, e.Message)
}

// WithAnnotations implements event.Recorder.
func (r *recorder) WithAnnotations(...string) event.Recorder { return r }

// once fails unless an event was recorded exactly once.
func (r *recorder) once(t *testing.T, want string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.events {
		if e == want {
			n++
		}
	}
	if n != 1 {
		t.Errorf("want event %q once, got it %d times in %v", want, n, r.events)
	}
}
