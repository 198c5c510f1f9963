package baosecret

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

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
