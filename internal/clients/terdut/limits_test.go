package terdut_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// TestH37RateLimited holds that 100 callers with keys of their own send nothing more to a server that asked to be left alone, whichever way
// it said for how long.
func TestH37RateLimited(t *testing.T) {
	cases := map[string]struct {
		reason string
		status int
		header map[string]string
		want   terdut.Reason
		least  time.Duration
	}{
		"Seconds":     {"429 with seconds", 429, map[string]string{"Retry-After": "30"}, terdut.ReasonRateLimited, 25 * time.Second},
		"Date":        {"429 with a date", 429, map[string]string{"Retry-After": time.Now().Add(40 * time.Second).UTC().Format(http.TimeFormat)}, terdut.ReasonRateLimited, 10 * time.Second},
		"Nothing":     {"429 without more", 429, nil, terdut.ReasonRateLimited, time.Second},
		"Unavailable": {"503 with seconds", 503, map[string]string{"Retry-After": "30"}, terdut.ReasonUnavailable, 25 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newKeptWorld(t)
			w.server.Inject(terdutserver.Fault{Status: tc.status, Header: tc.header})
			_, err := w.instance.Team(w.ctx, w.id)
			wants(t, tc.reason, err, tc.want)
			if d := retryAfter(err); d < tc.least || d > 50*time.Second {
				t.Errorf("retry after %v", d)
			}
			text := ""
			var wg sync.WaitGroup
			var mu sync.Mutex
			for i := range 100 {
				c := newClient(t, w.server.URL()+"/", sentinel)
				wg.Go(func() {
					err := c.RenameTeam(w.ctx, w.id, "x")
					mu.Lock()
					defer mu.Unlock()
					wants(t, "during the pause", err, terdut.ReasonRateLimited)
					if err != nil && text != "" && err.Error() != text {
						t.Errorf("caller %d: the text differs: %v, %s", i, err, text)
					}
					if err != nil {
						text = err.Error()
					}
					if d := retryAfter(err); d <= 0 || terdut.IsUncertain(err) {
						t.Errorf("retry after %v, uncertain %v", d, terdut.IsUncertain(err))
					}
				})
			}
			wg.Wait()
			if n := len(w.server.Requests()); n != 1 {
				t.Errorf("want one request, got %d", n)
			}
			other := newWorld(t)
			check(t, other.instance.RenameTeam(other.ctx, other.id, "not-paused"))
		})
	}
}

// TestH37PauseEnds holds that calls go through again.
func TestH37PauseEnds(t *testing.T) {
	w := newWorld(t)
	w.server.Inject(terdutserver.Fault{Times: 1, Status: 429, Header: map[string]string{"Retry-After": "1"}})
	_, err := w.instance.Team(w.ctx, w.id)
	wants(t, "the first call", err, terdut.ReasonRateLimited)
	for err != nil && w.ctx.Err() == nil {
		wait := time.NewTimer(retryAfter(err)) // What a caller does.
		<-wait.C
		_, err = w.instance.Team(w.ctx, w.id)
	}
	if err != nil || w.server.Count("GET", "/api/teams/{team}", "") != 2 {
		t.Errorf("after %d requests: %v", w.server.Count("GET", "/api/teams/{team}", ""), err)
	}
}

// TestH37UnderWay holds how many requests are under way at one server at once, for all clients together: the next one waits for its turn.
func TestH37UnderWay(t *testing.T) {
	const most = 8
	arrived, release := make(chan struct{}, 2*most), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
		_, _ = w.Write([]byte(`{"id":1}`))
	}))
	t.Cleanup(s.Close)
	ctx := testContext(t)
	var wg sync.WaitGroup
	for range most {
		c := newClient(t, s.URL, sentinel)
		wg.Go(func() {
			if _, err := c.Team(ctx, 1); err != nil {
				t.Error(err)
			}
		})
	}
	for range most {
		<-arrived
	}
	next := newClient(t, s.URL, sentinel)
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	err := next.RenameTeam(short, 1, "x")
	wants(t, "one too many", err, terdut.ReasonUnavailable)
	if len(arrived) != 0 || terdut.IsUncertain(err) {
		t.Errorf("%d requests too many, uncertain %v", len(arrived), terdut.IsUncertain(err))
	}
	close(release)
	wg.Wait()
	_, err = next.Team(ctx, 1)
	check(t, err)
}

// retryAfter is how long an error says to wait.
func retryAfter(err error) time.Duration {
	e := (*terdut.Error)(nil)
	if !errors.As(err, &e) {
		return 0
	}
	return e.RetryAfter
}
