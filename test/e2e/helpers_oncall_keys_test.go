package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// A keyKind is what a key of an on-call server is for. It is never empty.
type keyKind string

const (
	accountKey keyKind = "an account"
	webhookKey keyKind = "a webhook"
)

// An onCallKey is where a key was first seen. The key itself is not in it.
type onCallKey struct {
	kind keyKind
	seen string
}

// keyPattern is what keys look like, those of webhooks included.
var keyPattern = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// onCallKeys are all keys that were ever seen.
type onCallKeys struct {
	mu   sync.Mutex
	keys map[string]onCallKey
}

func (k *onCallKeys) add(text []byte, key onCallKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys == nil {
		k.keys = map[string]onCallKey{}
	}
	for _, v := range keyPattern.FindAll(text, -1) {
		if _, ok := k.keys[string(v)]; !ok {
			k.keys[string(v)] = key
		}
	}
}

func (k *onCallKeys) all() map[string]onCallKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.keys)
}

// A talkativeServer is an on-call server that notes all keys that it hands out or is sent, and that can be made to repeat them in errors.
type talkativeServer struct {
	*terdutserver.Server

	url  string
	keys *onCallKeys

	mu      sync.Mutex
	repeats bool
	refused map[string]int
}

func newTalkativeServer(t *testing.T, keys *onCallKeys) *talkativeServer {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	s := &talkativeServer{keys: keys, url: "http://" + h.Listener.Addr().String(), refused: map[string]int{}}
	s.Server = terdutserver.New(terdutserver.Options{BaseURL: s.url})
	h.Config.Handler = s
	h.Start()
	t.Cleanup(h.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *talkativeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sent := []byte(r.Header.Get("Authorization"))
	s.keys.add(sent, onCallKey{kind: accountKey, seen: "came with " + r.Method})
	s.mu.Lock()
	if s.repeats && r.Method != http.MethodGet {
		s.refused[r.Method+" "+r.URL.Path]++
		s.mu.Unlock()
		b, err := json.Marshal(map[string]any{"error": "refused for " + string(sent) + ", whose keys are " + strings.Join(s.values(), " ")})
		if err != nil {
			panic("cannot encode an error") // It has no type that could fail.
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write(b) // A client that went away is no matter.
		return
	}
	s.mu.Unlock()
	a := httptest.NewRecorder()
	s.Server.ServeHTTP(a, r)
	kind := accountKey
	if strings.Contains(r.URL.Path, "/integrations") {
		kind = webhookKey
	}
	s.keys.add(a.Body.Bytes(), onCallKey{kind: kind, seen: "was answered to " + r.Method + " " + r.URL.Path})
	maps.Copy(w.Header(), a.Header())
	w.WriteHeader(a.Code)
	_, _ = io.Copy(w, bytes.NewReader(a.Body.Bytes())) // As above.
}

func (s *talkativeServer) values() (v []string) {
	for k := range s.keys.all() {
		v = append(v, k)
	}
	return v
}

// repeat keys in the answer to each write, which is refused, from now on or no more.
func (s *talkativeServer) repeat(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repeats = on
}

// refusals are how many writes were refused, by method and path.
func (s *talkativeServer) refusals() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.refused)
}

// watchKeys notes every key that ever was in a Secret of the provider's namespace or of another, as soon as it is written. It is called
// before there is one.
func watchKeys(t *testing.T, keys *onCallKeys, ns string) {
	t.Helper()
	c, err := client.NewWithWatch(p.Plane.Config(), client.Options{Scheme: p.Client.Scheme()})
	if err != nil {
		t.Fatalf("cannot create client: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	for _, n := range []string{ns, local.SystemNamespace} {
		w, err := c.Watch(ctx, &corev1.SecretList{}, client.InNamespace(n))
		if err != nil {
			stop()
			t.Fatalf("cannot watch Secrets: %v", err)
		}
		done.Go(func() {
			defer w.Stop()
			for e := range w.ResultChan() {
				s, ok := e.Object.(*corev1.Secret)
				if !ok || (n == local.SystemNamespace && s.Annotations["terdut.ryuvia.com/owner-namespace"] != ns) {
					continue
				}
				kind := accountKey
				if n == ns {
					kind = webhookKey
				}
				for k, v := range s.Data {
					keys.add(v, onCallKey{kind: kind, seen: "was stored as " + k})
				}
			}
		})
	}
	t.Cleanup(func() {
		stop()
		done.Wait()
	})
}
