package terdutserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func start(t *testing.T, o terdutserver.Options) *terdutserver.Server {
	t.Helper()
	s, err := terdutserver.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// A reply to a request, as it is on the wire.
type reply struct {
	status int
	header http.Header
	body   string
	err    error
}

// get a string out of a JSON body, by the names on the way.
func (r reply) get(t *testing.T, path ...string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatal("cannot decode a reply")
	}
	for _, p := range path {
		v = v.(map[string]any)[p]
	}
	return fmt.Sprint(v)
}

// A tester sends requests as a client would that knows nothing.
type tester struct {
	t   *testing.T
	url string
}

func (c tester) send(method, path, key, body string) reply {
	c.t.Helper()
	r, err := http.NewRequestWithContext(testContext(c.t), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return reply{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{status: resp.StatusCode, header: resp.Header, body: string(b), err: err}
}

// want a status.
func (c tester) want(status int, method, path, key, body string) reply {
	c.t.Helper()
	r := c.send(method, path, key, body)
	if r.err != nil || r.status != status {
		c.t.Fatalf("%s %s: want %d, got %d: %v", method, path, status, r.status, r.err)
	}
	return r
}

// A buffer that many may write to.
type buffer struct {
	ch chan struct{}
	b  bytes.Buffer
}

func newBuffer() *buffer { return &buffer{ch: make(chan struct{}, 1)} }

func (b *buffer) Write(p []byte) (int, error) {
	b.ch <- struct{}{}
	defer func() { <-b.ch }()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.ch <- struct{}{}
	defer func() { <-b.ch }()
	return b.b.String()
}
