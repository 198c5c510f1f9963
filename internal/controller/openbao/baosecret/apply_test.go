package baosecret

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

const (
	writeMetadata = "POST kv/metadata/orders"
	writeData     = "POST kv/data/orders"
)

// nth calls f before the n-th request of its kind.
func nth(n int, call string, f func()) func(method, path string) {
	return func(method, path string) {
		if method+" "+path == call {
			if n--; n == 0 {
				f()
			}
		}
	}
}

// TestApply holds in which order a record is written, that what changed meanwhile is noticed, and that nothing is written then.
func TestApply(t *testing.T) {
	complete := raw("user", `"shop"`, "pass", `"secret"`, "theirs", `1.10`)
	drifted := raw("user", `"changed"`, "pass", `"secret"`, "theirs", `1.10`)
	three := int32(3)
	noted := tags(map[string]string{tagGenerated: keyMark("pass")})
	type want struct {
		writes []string
		reason xpv2.ConditionReason
		custom map[string]string
		data   map[string]string
		max    int
	}
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.BaoSecret
		server func(*kv)
		want   want
	}{
		"New": {
			reason: "A record is marked before its data is written, and tells of generated keys afterwards.",
			mg:     mine(func(s *v1alpha1.BaoSecret) { s.Spec.ForProvider.MaxVersions = &three }),
			server: func(*kv) {},
			want: want{
				writes: []string{writeMetadata, writeData, writeMetadata}, custom: noted, max: 3,
				data: map[string]string{"user": `"shop"`, "pass": "generated"},
			},
		},
		"Marked": {
			reason: "What was marked before needs no mark.", mg: mine(),
			server: func(k *kv) { k.put("orders", tags(nil)) },
			want:   want{writes: []string{writeData, writeMetadata}, custom: noted, data: map[string]string{"user": `"shop"`, "pass": "generated"}},
		},
		"Repaired": {
			reason: "Data is repaired. What others put into the record and its metadata stays.", mg: mine(),
			server: func(k *kv) {
				k.put("orders", tags(map[string]string{"team": "payments", tagGenerated: keyMark("pass")}), drifted)
			},
			want: want{
				writes: []string{writeData}, custom: tags(map[string]string{"team": "payments", tagGenerated: keyMark("pass")}),
				data: map[string]string{"user": `"shop"`, "pass": `"secret"`, "theirs": `1.10`},
			},
		},
		"TakenOver": {
			reason: "The owner's new object becomes the holder. Data that is as it should be is not written.", mg: mine(),
			server: func(k *kv) {
				k.put("orders", tags(map[string]string{tagHolder: "earlier", tagRetained: "true"}), complete)
			},
			want: want{writes: []string{writeMetadata}, custom: noted, data: shown(complete)},
		},
		"ForeignMeanwhile": {
			reason: "Somebody else made the record after it was observed.", mg: mine(),
			server: func(k *kv) { k.put("orders", map[string]string{"team": "payments"}, complete) },
			want:   want{reason: v1alpha1.ReasonConflict, custom: map[string]string{"team": "payments"}, data: shown(complete)},
		},
		"VanishedMeanwhile": {
			reason: "The record vanished after it was observed.", mg: mine(observed(2)),
			server: func(*kv) {},
			want:   want{reason: v1alpha1.ReasonDataLost},
		},
		"DeletedMeanwhile": {
			reason: "The current version was deleted after it was observed: no password is made anew.", mg: mine(observed(1)),
			server: func(k *kv) { k.put("orders", tags(nil), nil) },
			want:   want{reason: v1alpha1.ReasonDataLost, custom: tags(nil)},
		},
		"OtherMark": {
			reason: "Of two who mark a record at the same time, the one whose mark is gone yields.", mg: mine(),
			server: func(k *kv) {
				k.before = nth(2, "GET kv/metadata/orders", func() { k.records["orders"].custom = tags(map[string]string{tagControlPlane: "there"}) })
			},
			want: want{writes: []string{writeMetadata}, reason: v1alpha1.ReasonConflict, custom: tags(map[string]string{tagControlPlane: "there"})},
		},
		"OtherVersion": {
			reason: "Who finds another version after marking looks anew, and finds nothing left to do but to tell of it.", mg: mine(),
			server: func(k *kv) {
				k.before = nth(2, "GET kv/metadata/orders", func() { k.records["orders"].versions = append(k.records["orders"].versions, complete) })
			},
			want: want{writes: []string{writeMetadata, writeMetadata}, custom: noted, data: shown(complete)},
		},
		"OtherData": {
			reason: "Data that somebody else wrote at the same time is not overwritten: it is kept, and repaired.", mg: mine(),
			server: func(k *kv) {
				r := k.put("orders", tags(nil), drifted)
				k.before = nth(1, writeData, func() { r.versions = append(r.versions, raw("user", `"other"`, "pass", `"secret"`, "new", `2.50`)) })
			},
			want: want{
				writes: []string{writeData, writeData, writeMetadata}, custom: noted,
				data: map[string]string{"user": `"shop"`, "pass": `"secret"`, "new": `2.50`},
			},
		},
		"AlwaysOtherData": {
			reason: "Who never gets a turn says so in the end.", mg: mine(),
			server: func(k *kv) {
				r := k.put("orders", tags(nil), drifted)
				k.before = func(method, path string) {
					if method+" "+path == writeData {
						r.versions = append(r.versions, drifted)
					}
				}
			},
			want: want{
				writes: []string{writeData, writeData, writeData}, reason: v1alpha1.ReasonCASMismatch, custom: tags(nil), data: shown(drifted),
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, c := newKV(t)
			tc.server(k)
			_, err := view(t, c).Create(t.Context(), tc.mg)
			got := want{writes: k.writes, reason: connect.ReasonOf(err, "")}
			if r := k.records["orders"]; r != nil {
				got.custom, got.max = r.custom, r.max
				if n := len(r.versions); n > 0 && r.versions[n-1] != nil {
					got.data = shown(r.versions[n-1])
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nCreate(...): error %v, -want, +got:\n%s", tc.reason, err, diff)
			}
			if err == nil && tc.mg.Status.AtProvider.Version != int64(len(k.records["orders"].versions)) {
				t.Errorf("\n%s\nthe status must name the version that was written, not %d", tc.reason, tc.mg.Status.AtProvider.Version)
			}
		})
	}
}

// TestRotation holds that a changed trigger makes one new version with new generated values, also when it was interrupted, and that nothing
// happens afterwards.
func TestRotation(t *testing.T) {
	old := raw("user", `"shop"`, "pass", `"secret"`)
	cases := map[string]struct {
		reason string
		custom map[string]string
		down   string
	}{
		"New":         {"A changed trigger rotates.", tags(map[string]string{tagRotated: "2026-10@1"}), ""},
		"Interrupted": {"A rotation that was marked and not made is made.", tags(map[string]string{tagRotating: "2026-11@2"}), ""},
		"Fails":       {"A rotation whose data cannot be written is made the next time.", tags(nil), writeData},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, c := newKV(t)
			k.put("orders", tc.custom, old)
			e := view(t, c)
			mg := mine(func(s *v1alpha1.BaoSecret) { s.Spec.ForProvider.Rotation = &v1alpha1.Rotation{Trigger: "2026-11"} })
			pass := func() error {
				o, err := e.Observe(t.Context(), mg)
				if err != nil || o.ResourceUpToDate {
					return err
				}
				if got := mg.Status.AtProvider.RotationTrigger; got == "2026-11" {
					t.Errorf("\n%s\na rotation that was not made must not be reported", tc.reason)
				}
				_, err = e.Update(t.Context(), mg)
				return err
			}
			if tc.down != "" {
				k.before = nth(1, tc.down, func() { k.down = true })
				if err := pass(); connect.ReasonOf(err, "") != v1alpha1.ReasonSealed {
					t.Fatalf("want reason %s, got %v", v1alpha1.ReasonSealed, err)
				}
				k.down, k.before = false, nil
			}
			for range 3 {
				if err := pass(); err != nil {
					t.Fatal(err)
				}
			}
			r := k.records["orders"]
			if len(r.versions) != 2 || r.custom[tagRotated] != "2026-11@2" || r.custom[tagRotating] != "" {
				t.Fatalf("\n%s\nwant version 2 and a note of it, got %d versions and %q", tc.reason, len(r.versions), r.custom)
			}
			if diff := cmp.Diff(map[string]string{"user": `"shop"`, "pass": "generated"}, shown(r.versions[1])); diff != "" {
				t.Errorf("\n%s\nvalues: -want, +got:\n%s", tc.reason, diff)
			}
			if s := mg.Status.AtProvider; s.RotationTrigger != "2026-11" || s.RotatedTime == nil || s.Version != 2 {
				t.Errorf("\n%s\nthe status must tell of the rotation: %v", tc.reason, s)
			}
			if got := mg.GetCondition(xpv2.TypeReady).Reason; got != xpv2.ReasonAvailable {
				t.Errorf("\n%s\nwant Ready, got %s", tc.reason, got)
			}
		})
	}
}

// TestApplyTakesTurns holds that two who work on the same record in this process do it one after the other: metadata has no check-and-set.
func TestApplyTakesTurns(t *testing.T) {
	k, c := newKV(t)
	e, done := view(t, c), make(chan error, 1)
	release := e.records.acquire(e.name)
	go func() {
		_, err := e.Create(context.Background(), mine())
		done <- err
	}()
	waits := func() bool {
		e.records.mu.Lock()
		defer e.records.mu.Unlock()
		return e.records.held[e.name].users == 2
	}
	for !waits() {
		select {
		case err := <-done:
			t.Fatalf("the record was written although somebody else works on it, error %v", err)
		default:
			runtime.Gosched()
		}
	}
	if len(k.world()) > 0 {
		t.Error("the record was written although somebody else works on it")
	}
	release()
	if err := <-done; err != nil || len(k.world()) != 1 {
		t.Errorf("want the record to be written, error %v", err)
	}
}

// TestErrorsHoldNoValue holds that no error or condition of a record that cannot be written repeats what was to be written.
func TestErrorsHoldNoValue(t *testing.T) {
	k, c := newKV(t)
	k.put("orders", tags(nil), raw("user", `"changed"`, "pass", `"`+sentinel+`"`))
	mg := mine(func(s *v1alpha1.BaoSecret) {
		s.Spec.ForProvider.Data = append(s.Spec.ForProvider.Data, rendered("uri", "{{ .pass }}"))
	})
	k.before = nth(1, writeData, func() { k.down = true })
	_, err := view(t, c).Update(t.Context(), mg)
	if err == nil || strings.Contains(err.Error(), sentinel) {
		t.Error("want an error without a value")
	}
	for _, cond := range mg.Status.Conditions {
		if strings.Contains(cond.Message, sentinel) {
			t.Errorf("condition %s holds a value", cond.Type)
		}
	}
}

// TestSteadyReason holds that why a create fails is said all the time until one succeeds, and not only between two attempts.
func TestSteadyReason(t *testing.T) {
	k, c := newKV(t)
	e, mg := view(t, c), mine()
	k.before = func(method, _ string) { k.down = method != http.MethodGet }
	for range 3 {
		if o, err := e.Observe(t.Context(), mg); err != nil || o.ResourceExists {
			t.Fatalf("Observe(...): %v, %v", o, err)
		}
		want := v1alpha1.ReasonSealed
		if len(k.writes) == 0 {
			want = xpv2.ReasonCreating
		}
		if got := mg.GetCondition(v1alpha1.TypeRecordReady).Reason; got != want {
			t.Errorf("after %d writes the reason is %s, want %s", len(k.writes), got, want)
		}
		if _, err := e.Create(t.Context(), mg); err == nil {
			t.Fatal("want an error")
		}
	}
	k.before, k.down = nil, false
	if _, err := e.Create(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Observe(t.Context(), mg); err != nil || mg.GetCondition(v1alpha1.TypeRecordReady).Reason != v1alpha1.ReasonStored {
		t.Errorf("a create that succeeded must be told, error %v", err)
	}
}
