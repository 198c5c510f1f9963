package baosecret

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// kv is a server with a version 2 key-value engine at kv/, as far as this package needs one. What a real one does is held by the tests of
// the client.
type kv struct {
	mu      sync.Mutex
	records map[string]*kvRecord
	// calls that wrote something, in order, as "METHOD path".
	writes []string
	// before, when set, is called before each request, without the lock.
	before func(method, path string)
	// down makes the server answer that it is sealed.
	down bool
	url  string
}

type kvRecord struct {
	versions []map[string]json.RawMessage // nil for one that was deleted.
	custom   map[string]string
	max      int
}

func newKV(t *testing.T) (*kv, *openbao.Client) {
	t.Helper()
	k := &kv{records: map[string]*kvRecord{}}
	s := httptest.NewServer(k)
	t.Cleanup(s.Close)
	k.url = s.URL
	c, err := openbao.New(openbao.Config{Address: s.URL, Auth: openbao.Auth{Token: "token"}})
	if err != nil {
		t.Fatal(err)
	}
	return k, c
}

// put makes a record with one version for each of the data given.
func (k *kv) put(path string, custom map[string]string, versions ...map[string]json.RawMessage) *kvRecord {
	r := &kvRecord{custom: custom, versions: versions}
	k.records[path] = r
	return r
}

func (k *kv) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	if k.before != nil {
		k.before(r.Method, path)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	answer := func(status int, v any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	failed := func(status int, texts ...string) {
		answer(status, map[string]any{"errors": append([]string{}, texts...)})
	}
	data := func(v any) { answer(http.StatusOK, map[string]any{"data": v}) }

	var body struct {
		Custom  map[string]string          `json:"custom_metadata"`
		Max     *int                       `json:"max_versions"`
		Data    map[string]json.RawMessage `json:"data"`
		Options struct {
			CAS int `json:"cas"`
		} `json:"options"`
	}
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			failed(http.StatusBadRequest, "not JSON")
			return
		}
	}
	if r.Method != http.MethodGet {
		k.writes = append(k.writes, r.Method+" "+path)
	}
	_, api, _ := strings.Cut(path, "kv/")
	name := strings.TrimPrefix(strings.TrimPrefix(api, "data/"), "metadata/")
	record := k.records[name]

	switch {
	case k.down:
		failed(http.StatusServiceUnavailable, "Vault is sealed")
	case strings.HasPrefix(path, "sys/internal/ui/mounts/"):
		data(map[string]any{"type": "kv", "path": "kv/", "options": map[string]string{"version": "2"}})
	case !strings.HasPrefix(path, "kv/"):
		failed(http.StatusForbidden, "permission denied")
	case r.Method == http.MethodPost && strings.HasPrefix(api, "metadata/"):
		if record == nil {
			record = k.put(name, nil)
		}
		if body.Custom != nil {
			record.custom = body.Custom
		}
		if body.Max != nil {
			record.max = *body.Max
		}
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPost:
		if record == nil {
			record = k.put(name, nil)
		}
		if body.Options.CAS != len(record.versions) {
			failed(http.StatusBadRequest, "check-and-set parameter did not match the current version")
			return
		}
		record.versions = append(record.versions, body.Data)
		data(map[string]any{"version": len(record.versions)})
	case r.Method == http.MethodDelete:
		delete(k.records, name)
		w.WriteHeader(http.StatusNoContent)
	case record == nil:
		failed(http.StatusNotFound)
	case strings.HasPrefix(api, "metadata/"):
		data(record.metadata())
	default:
		k.version(record, r.URL.Query().Get("version"), failed, data)
	}
}

const kvTime = "2026-01-02T03:04:05Z"

func (r *kvRecord) metadata() map[string]any {
	versions := map[string]any{}
	for i, v := range r.versions {
		deleted := ""
		if v == nil {
			deleted = kvTime
		}
		versions[strconv.Itoa(i+1)] = map[string]any{"created_time": kvTime, "deletion_time": deleted}
	}
	return map[string]any{
		"current_version": len(r.versions), "versions": versions, "custom_metadata": r.custom, "max_versions": r.max,
		"created_time": kvTime, "updated_time": kvTime,
	}
}

func (k *kv) version(r *kvRecord, query string, failed func(int, ...string), data func(any)) {
	n, err := strconv.Atoi(query)
	if err != nil || n == 0 {
		n = len(r.versions)
	}
	if n > len(r.versions) || r.versions[n-1] == nil {
		failed(http.StatusNotFound)
		return
	}
	data(map[string]any{
		"data":     r.versions[n-1],
		"metadata": map[string]any{"version": n, "created_time": kvTime, "custom_metadata": r.custom},
	})
}

// tags of a record that is mine, with changes.
func tags(changes map[string]string) map[string]string {
	return merge(&openbao.Metadata{CustomMetadata: me.tags()}, changes)
}

// world is what a test looks at before and after.
func (k *kv) world() map[string]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := map[string]string{}
	for name, r := range k.records {
		b, err := json.Marshal(map[string]any{"versions": r.versions, "custom": maps.Clone(r.custom), "max": r.max})
		if err != nil {
			panic(err)
		}
		w[name] = string(b)
	}
	return w
}
