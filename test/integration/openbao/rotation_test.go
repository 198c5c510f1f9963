package openbao

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
)

// interrupt cuts the n-th call about a record and everything after it, as a crash would: before it reaches the server, or after.
func (w *wire) interrupt(n int, reached bool) {
	count := 0
	cut := func(call string) error {
		if !strings.Contains(call, " kv/") {
			return nil
		}
		if count++; count >= n {
			return errCut
		}
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.before, w.after = cut, nil; reached {
		w.before, w.after = func(call string) error {
			if count >= n && strings.Contains(call, " kv/") {
				return errCut
			}
			return nil
		}, cut
	}
}

// meddle calls a function before the n-th call about a record reaches the server.
func (w *wire) meddle(n int, f func()) {
	count := 0
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.before
	w.before = func(call string) error {
		if strings.Contains(call, " kv/") {
			if count++; count == n {
				f()
			}
		}
		if was != nil {
			return was(call)
		}
		return nil
	}
}

// callsOf counts the calls about a record in one pass.
func callsOf(t *testing.T, p *provider, s *v1alpha1.BaoSecret) []string {
	t.Helper()
	p.wire.seen()
	if _, err := p.pass(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return p.wire.seen()
}

// foreign writes of somebody who does not know of us, by what becomes of the password.
var foreign = map[string]string{
	"none": "", "adds": `{"user":"shop","password":%s,"theirs":1.10}`, "replaces": `{"user":"shop","password":"by hand"}`, "drops": `{"user":"shop"}`,
}

// TestH22OneVersionPerTrigger holds that a trigger makes exactly one new version with a new password, killed before and after each call, and
// whenever somebody else writes the record meanwhile.
func TestH22OneVersionPerTrigger(t *testing.T) {
	p := newProvider(t)
	s := record(t, "rotation/clean")
	p.apply(t, s)
	p.ready(t, s)
	trigger(s, "new")
	calls := callsOf(t, p, s)
	data := 0
	for i, c := range calls {
		if c == "POST kv/data/rotation/clean" {
			data = i + 1
		}
	}
	if data == 0 || len(calls) < 6 {
		t.Fatalf("a rotation makes these calls: %v", calls)
	}

	n := 0
	try := func(who string, at, kill int, reached bool) {
		n++
		path := fmt.Sprintf("rotation/%d", n)
		t.Run(fmt.Sprintf("%s at %d, killed at %d, reached %t", who, at, kill, reached), func(t *testing.T) {
			p := newProvider(t)
			s := record(t, path)
			p.apply(t, s)
			was := p.ready(t, s)
			trigger(s, "new")
			p.wire.seen()

			if kill > 0 {
				p.wire.interrupt(kill, reached)
			}
			meddled := 0
			if at > 0 {
				p.wire.meddle(at, func() {
					meddled++
					text := foreign[who]
					if strings.Contains(text, "%s") {
						text = fmt.Sprintf(text, look(t, path).Data["password"])
					}
					put(t, path, text)
				})
			}
			_, _ = p.pass(t.Context(), s)
			p.restart()
			p.passes(t, s, 3)
			is(t, s, xpv2.ReasonAvailable)

			now := look(t, path)
			if now.Version != was.Version+meddled+1 {
				t.Errorf("the record is at version %d, want one more than the %d of before and the %d of others", now.Version, was.Version, meddled)
			}
			if pw := now.Data["password"]; pw == was.Data["password"] || pw == `"by hand"` || len(pw) != 34 {
				t.Error("the password is not a new one that was generated")
			}
			if meddled > 0 && who == "adds" && now.Data["theirs"] == "" {
				t.Error("what somebody else wrote is gone")
			}
			if now.Custom["terdut-rotating"] != "" || !strings.HasPrefix(now.Custom["terdut-rotated"], "new@") {
				t.Errorf("the tags are %v", now.Custom)
			}
			if got := s.Status.AtProvider.RotationTrigger; got != "new" {
				t.Errorf("the status tells of trigger %q", got)
			}
			p.stays(t, s, xpv2.ReasonAvailable, now)
		})
	}
	for i := range calls {
		try("none", 0, i+1, false)
		try("none", 0, i+1, true)
		try("adds", i+1, 0, false)
		// Killed right after somebody else has written, and anywhere else.
		for k := i + 1; k <= len(calls); k++ {
			try("adds", i+1, k, false)
			try("adds", i+1, k, true)
		}
	}
	for i := range data {
		try("replaces", i+1, 0, false)
	}
	// Who drops the password before the pass has begun has lost it. Once it has, the rotation makes a new one anyway.
	for i := range data {
		try("drops", i+1, 0, false)
	}
}

// TestH22KilledCreate holds that a creation which is killed before or after any call ends in one version, with the password that was made first.
func TestH22KilledCreate(t *testing.T) {
	p := newProvider(t)
	s := record(t, "create/clean")
	p.apply(t, s)
	calls := callsOf(t, p, s)
	for i := range calls {
		for _, reached := range []bool{false, true} {
			path := fmt.Sprintf("create/%d-%t", i, reached)
			t.Run(path, func(t *testing.T) {
				p := newProvider(t)
				s := record(t, path)
				p.apply(t, s)
				p.wire.interrupt(i+1, reached)
				_, _ = p.pass(t.Context(), s)
				first := look(t, path)
				p.restart()
				now := p.ready(t, s)
				if now.Version != 1 {
					t.Errorf("the record is at version %d", now.Version)
				}
				if first != nil && first.Version == 1 && first.Data["password"] != now.Data["password"] {
					t.Error("the password that was made first is gone")
				}
				p.stays(t, s, xpv2.ReasonAvailable, now)
			})
		}
	}
}

// TestH22KilledDelete holds that a deletion which is killed before or after any call is finished, and deletes once.
func TestH22KilledDelete(t *testing.T) {
	for i := range 3 {
		for _, reached := range []bool{false, true} {
			path := fmt.Sprintf("delete/%d-%t", i, reached)
			p := newProvider(t)
			s := record(t, path)
			p.apply(t, s)
			p.ready(t, s)
			d := going(s, "Delete")
			p.wire.seen()
			p.wire.interrupt(i+1, reached)
			_, _ = p.pass(t.Context(), d)
			p.restart()
			gone := false
			for range 2 {
				var err error
				if gone, err = p.pass(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
			if !gone || look(t, path) != nil || admin(t, http.MethodGet, "kv/data/"+path+"?version=1", "") != nil {
				t.Errorf("%s: the object may go: %t, or something is left", path, gone)
			}
		}
	}
}
