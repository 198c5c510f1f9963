package terdut

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// TestH37RetryAfter holds how the header is read: seconds, dates, and what is neither.
func TestH37RetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Duration{
		"30": 30 * time.Second, "0": 0, "86400": maxPause, "18446744073709551615": maxPause,
		"Mon, 30 Nov 2026 12:00:30 GMT": 30 * time.Second, "Monday, 30-Nov-26 12:00:30 GMT": 30 * time.Second,
		"Mon, 30 Nov 2026 11:00:00 GMT": 0, "Wed, 30 Nov 2036 12:00:00 GMT": maxPause,
		"": -1, "soon": -1, "-1": -1, "1.5": -1,
	} {
		got, ok := retryAfter(http.Header{"Retry-After": {in}}, now)
		if ok != (want >= 0) || (ok && got != want) {
			t.Errorf("%q: want %v, got %v, %v", in, want, got, ok)
		}
	}
}

// TestH37Limits holds that a pause is for all who use a server and for nobody else, that it ends, is not cut short, is spread by a
// jitter, and that limits of servers that nobody asks are dropped.
func TestH37Limits(t *testing.T) {
	now := time.Now()
	l := &limits{now: func() time.Time { return now }}
	pause := func(server string) time.Duration {
		t.Helper()
		leave, d, err := l.enter(context.Background(), server)
		if err != nil {
			t.Fatal(err)
		}
		if d == 0 {
			leave()
		}
		return d
	}
	l.pause("a", time.Minute)
	l.pause("a", time.Second)
	spread := map[time.Duration]bool{}
	for range 100 {
		d := pause("a")
		if d < time.Minute || d > 72*time.Second {
			t.Fatalf("want a minute and up to a fifth, got %v", d)
		}
		spread[d] = true
	}
	if len(spread) < 50 {
		t.Errorf("100 callers come back at %d different times", len(spread))
	}
	if d := pause("b"); d != 0 {
		t.Errorf("another server pauses for %v", d)
	}
	now = now.Add(time.Minute)
	if d := pause("a"); d != 0 {
		t.Errorf("the pause lasts another %v", d)
	}
	if d := l.pause("a", 24*time.Hour); d > maxPause*6/5 {
		t.Errorf("a pause of %v", d)
	}

	leave, _, err := l.enter(context.Background(), "b")
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * limitTTL)
	pause("c")
	if len(l.by) != 2 {
		t.Errorf("want the limits of b, which is in use, and c, got %d", len(l.by))
	}
	leave()
	now = now.Add(2 * limitTTL)
	pause("c")
	if len(l.by) != 1 {
		t.Errorf("want the limit of c, got %d", len(l.by))
	}
}
