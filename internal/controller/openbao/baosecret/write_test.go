package baosecret

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

func TestRotate(t *testing.T) {
	trigger := func(s string) *v1alpha1.Rotation { return &v1alpha1.Rotation{Trigger: s} }
	marked := func(s string) *openbao.Metadata { return tagged(map[string]string{tagRotation: s}) }
	type want struct {
		marker string
		now    bool
	}
	cases := map[string]struct {
		reason   string
		rotation *v1alpha1.Rotation
		metadata *openbao.Metadata
		current  int
		want     want
	}{
		"None":            {"No rotation is asked for.", nil, marked("2026-10@3"), 3, want{}},
		"EmptyTrigger":    {"An empty trigger asks for none.", trigger(""), marked("2026-10@3"), 3, want{}},
		"First":           {"The first version belongs to the trigger. It is no rotation.", trigger("2026-11"), nil, 0, want{marker: "2026-11@1"}},
		"FirstAfterCrash": {"The marker of the first version is there already.", trigger("2026-11"), marked("2026-11@1"), 0, want{marker: "2026-11@1"}},
		"FirstTrigger":    {"A record from before there was a trigger is rotated.", trigger("2026-11"), tagged(nil), 4, want{marker: "2026-11@5", now: true}},
		"New":             {"A changed trigger rotates.", trigger("2026-11"), marked("2026-10@3"), 4, want{marker: "2026-11@5", now: true}},
		"Pending":         {"A marker without its version is a rotation that was interrupted.", trigger("2026-11"), marked("2026-11@5"), 4, want{marker: "2026-11@5", now: true}},
		"Done":            {"A marker with its version is a rotation that is done.", trigger("2026-11"), marked("2026-11@5"), 5, want{}},
		"DoneLongAgo":     {"Later versions change nothing about that.", trigger("2026-11"), marked("2026-11@5"), 9, want{}},
		"BackAgain":       {"An earlier trigger is as good as a new one.", trigger("2026-10"), marked("2026-11@5"), 5, want{marker: "2026-10@6", now: true}},
		"BrokenMarker":    {"A marker that cannot be read is none.", trigger("2026-11"), marked("2026-11"), 5, want{marker: "2026-11@6", now: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			marker, now := rotate(tc.rotation, tc.metadata, tc.current)
			if diff := cmp.Diff(tc.want, want{marker, now}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMetadataWrite(t *testing.T) {
	n := func(i int32) *int32 { return &i }
	limit := func(i int) *int { return &i }
	have := &openbao.Metadata{CustomMetadata: map[string]string{"team": "payments", "a": "1"}, MaxVersions: 5}
	cases := map[string]struct {
		reason   string
		metadata *openbao.Metadata
		changes  map[string]string
		max      *int32
		want     *openbao.MetadataWrite
	}{
		"New":             {"A new record is marked.", nil, map[string]string{"a": "1", "b": ""}, nil, &openbao.MetadataWrite{CustomMetadata: map[string]string{"a": "1"}}},
		"NewMaxVersions":  {"A new record is limited.", nil, map[string]string{"a": "1"}, n(3), &openbao.MetadataWrite{CustomMetadata: map[string]string{"a": "1"}, MaxVersions: limit(3)}},
		"Merged":          {"What others wrote is kept.", have, map[string]string{"b": "2"}, nil, &openbao.MetadataWrite{CustomMetadata: map[string]string{"team": "payments", "a": "1", "b": "2"}}},
		"Changed":         {"A changed mark is written.", have, map[string]string{"a": "2"}, nil, &openbao.MetadataWrite{CustomMetadata: map[string]string{"team": "payments", "a": "2"}}},
		"Removed":         {"A removed mark is written.", have, map[string]string{"a": ""}, nil, &openbao.MetadataWrite{CustomMetadata: map[string]string{"team": "payments"}}},
		"MaxVersions":     {"Another limit is written.", have, map[string]string{"a": "1"}, n(7), &openbao.MetadataWrite{CustomMetadata: map[string]string{"team": "payments", "a": "1"}, MaxVersions: limit(7)}},
		"Nothing":         {"What is there is not written.", have, map[string]string{"a": "1", "b": ""}, nil, nil},
		"NothingToLimit":  {"A limit that is there is not written.", have, map[string]string{"a": "1"}, n(5), nil},
		"LimitOfTheMount": {"Without a limit in the spec the record's own stays.", have, nil, nil, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, metadataWrite(tc.metadata, tc.changes, tc.max)); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLocks holds that two who work on the same record take turns, that others do not wait, and that nothing is kept afterwards.
func TestLocks(t *testing.T) {
	l := newLocks()
	defer l.acquire("kv/b")()

	var busy atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				release := l.acquire("kv/a")
				if busy.Add(1) != 1 {
					t.Error("two work on the same record")
				}
				runtime.Gosched()
				busy.Add(-1)
				release()
			}
		})
	}
	wg.Wait()
	if len(l.held) != 1 {
		t.Errorf("want the one lock that is held, got %d", len(l.held))
	}
}
