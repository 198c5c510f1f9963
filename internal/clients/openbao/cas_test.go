package openbao_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"testing"

	server "github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// TestH19CheckAndSet holds that the current version, as the metadata tells it, is what a write has to replace in every state of a record.
func TestH19CheckAndSet(t *testing.T) {
	cases := map[string]struct {
		reason  string
		prepare func(t *testing.T, path string)
		// current is 0 also where there is no metadata.
		current int
	}{
		"Absent": {
			reason:  "A record that does not exist has version 0.",
			prepare: func(*testing.T, string) {},
		},
		"MetadataOnly": {
			reason: "A record that has only metadata has version 0.",
			prepare: func(t *testing.T, path string) {
				admin(t, http.MethodPost, server.Mount+"/metadata/"+path, map[string]any{"custom_metadata": map[string]string{"a": "b"}})
			},
		},
		"Live": {
			reason:  "A live record has its latest version.",
			prepare: func(t *testing.T, path string) { put(t, server.Mount, path, "1"); put(t, server.Mount, path, "2") },
			current: 2,
		},
		"Deleted": {
			reason: "A deleted version still counts.",
			prepare: func(t *testing.T, path string) {
				put(t, server.Mount, path, "1")
				admin(t, http.MethodDelete, server.Mount+"/data/"+path, nil)
			},
			current: 1,
		},
		"Destroyed": {
			reason:  "A destroyed version still counts.",
			prepare: func(t *testing.T, path string) { put(t, server.Mount, path, "1"); versions(t, "destroy", path, 1) },
			current: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := rootClient(t)
			path := t.Name()
			tc.prepare(t, path)

			current := 0
			m, err := c.ReadMetadata(t.Context(), server.Mount, path)
			if err == nil {
				current = m.CurrentVersion
			} else if !openbao.IsNotFound(err) {
				t.Fatalf("\n%s\nReadMetadata(...): %v", tc.reason, err)
			}
			if current != tc.current {
				t.Errorf("\n%s\nReadMetadata(...): want current version %d, got %d", tc.reason, tc.current, current)
			}

			for _, wrong := range []int{current + 1, current + 2, max(0, current-1)} {
				if wrong == current {
					continue
				}
				if _, err := c.WriteData(t.Context(), server.Mount, path, text("lost"), wrong); !openbao.IsCASMismatch(err) {
					t.Errorf("\n%s\nWriteData(..., %d): want a mismatch, got: %v", tc.reason, wrong, err)
				}
			}
			got, err := c.WriteData(t.Context(), server.Mount, path, text("won"), current)
			if err != nil || got != current+1 {
				t.Errorf("\n%s\nWriteData(..., %d): want version %d, got %d, %v", tc.reason, current, current+1, got, err)
			}
			d, err := c.ReadData(t.Context(), server.Mount, path, 0)
			if err != nil {
				t.Fatalf("\n%s\nReadData(...): %v", tc.reason, err)
			}
			if v, ok := d.Text("k"); !ok || v != "won" || d.Version != current+1 {
				t.Errorf("\n%s\nReadData(...): not what was written", tc.reason)
			}
		})
	}
}

// TestH19CASRequired holds that engines that demand check-and-set are served.
func TestH19CASRequired(t *testing.T) {
	if err := bao.MountKV(t.Context(), "strict", 2); err != nil {
		t.Fatal(err)
	}
	admin(t, http.MethodPost, "strict/config", map[string]any{"cas_required": true})
	c := rootClient(t)
	for cas := range 2 {
		if _, err := c.WriteData(t.Context(), "strict", "x", text("v"), cas); err != nil {
			t.Errorf("WriteData(..., %d): %v", cas, err)
		}
	}
}

// TestH19ParallelWriters holds that writers who re-read after a mismatch lose nothing of each other's.
func TestH19ParallelWriters(t *testing.T) {
	const writers = 8
	path := t.Name()
	c := rootClient(t)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for {
				values, cas := map[string]json.RawMessage{}, 0
				d, err := c.ReadData(t.Context(), server.Mount, path, 0)
				if err == nil {
					values, cas = d.Values, d.Version
				} else if !openbao.IsNotFound(err) {
					t.Errorf("ReadData(...): %v", err)
					return
				}
				values["w"+strconv.Itoa(i)] = openbao.Text("x")
				_, err = c.WriteData(t.Context(), server.Mount, path, values, cas)
				if openbao.IsCASMismatch(err) {
					continue
				}
				if err != nil {
					t.Errorf("WriteData(...): %v", err)
				}
				return
			}
		})
	}
	wg.Wait()
	d, err := c.ReadData(t.Context(), server.Mount, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Values) != writers || d.Version != writers {
		t.Errorf("want %d keys and versions, got %d and %d", writers, len(d.Values), d.Version)
	}
}
