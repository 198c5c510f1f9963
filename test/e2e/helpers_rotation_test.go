package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// sampling is how often the samplers look.
const sampling = 50 * time.Millisecond

// A sampler looks again and again whether the password in OpenBao or its predecessor logs in.
type sampler struct {
	stop context.CancelFunc
	done chan struct{}

	mu sync.Mutex
	// samples that were taken, and those in which the predecessor alone logged in: the switch was still to come.
	samples, predecessor int
	failed               []string
}

// sample the login of a Tenant until the test ends, at which no sample may have failed.
func sample(t *testing.T, u *unstructured.Unstructured) *sampler {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &sampler{stop: cancel, done: make(chan struct{})}
	keys := secretData(t, u.GetNamespace(), status(u, "secretRef", "name"))
	go func() {
		defer close(s.done)
		tick := time.NewTicker(sampling)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				s.take(ctx, keys, kvPath(u))
			}
		}
	}()
	t.Cleanup(func() {
		s.end()
		if s.samples == 0 || len(s.failed) > 0 {
			t.Errorf("of %d samples these failed: %v", s.samples, s.failed)
		}
	})
	return s
}

func (s *sampler) take(ctx context.Context, keys map[string][]byte, path string) {
	version, err := 0, error(nil)
	// The role may be given the new password between the two attempts, and a version may be made: both are looked at again.
	for range 3 {
		version, err = versionOf(ctx, path)
		if err == nil && logsInAs(ctx, keys, path, version) {
			s.note(false, "")
			return
		}
		if err == nil && version > 1 && logsInAs(ctx, keys, path, version-1) {
			s.note(true, "")
			return
		}
	}
	if ctx.Err() == nil {
		s.note(false, fmt.Sprintf("%s at version %d (%v)", time.Now().Format(time.TimeOnly), version, err))
	}
}

func (s *sampler) note(predecessor bool, failed string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples++
	if predecessor {
		s.predecessor++
	}
	if failed != "" {
		s.failed = append(s.failed, failed)
	}
}

func (s *sampler) end() {
	s.stop()
	<-s.done
}

// versionOf a record.
func versionOf(ctx context.Context, path string) (int, error) {
	m, err := p.Plane.OpenBao.Root().Logical().ReadWithContext(ctx, openbao.Mount+"/metadata/"+path)
	if err != nil || m == nil {
		return 0, fmt.Errorf("cannot read metadata of record %q: %w", path, err)
	}
	return number(m.Data["current_version"]), nil
}

// logsInAs tells whether the password of a version logs in.
func logsInAs(ctx context.Context, keys map[string][]byte, path string, version int) bool {
	query := map[string][]string{"version": {fmt.Sprint(version)}}
	d, err := p.Plane.OpenBao.Root().Logical().ReadWithDataWithContext(ctx, openbao.Mount+"/data/"+path, query)
	if err != nil || d == nil {
		return false
	}
	data, _ := d.Data["data"].(map[string]any)
	password, _ := data["password"].(string)
	with := map[string][]byte{}
	for k, v := range keys {
		with[k] = v
	}
	with["password"] = []byte(password)
	c, err := login(ctx, with)
	if err != nil {
		return false
	}
	return c.Close(ctx) == nil
}
