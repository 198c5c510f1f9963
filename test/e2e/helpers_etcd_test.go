package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// etcdKeys are the keys of etcd, and their values, as they are stored. They are read through etcd's JSON gateway, with keys and values in
// base64, see https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/.
func etcdKeys(t *testing.T) map[string][]byte {
	t.Helper()
	_, args := commandLine(t, apiServerWords...)
	const flag = "--etcd-servers="
	i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, flag) })
	if i < 0 {
		t.Fatal("the API server does not say where its etcd is")
	}
	type kv struct{ Key, Value []byte }
	out := map[string][]byte{}
	from := []byte{0}
	for {
		// From a key on, to the end of all keys.
		body, err := json.Marshal(map[string]any{"key": from, "range_end": []byte{0}, "limit": "200"})
		if err != nil {
			t.Fatalf("cannot encode request: %v", err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimPrefix(args[i], flag)+"/v3/kv/range", bytes.NewReader(body))
		if err != nil {
			t.Fatalf("cannot ask etcd: %v", err)
		}
		rsp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("cannot ask etcd: %v", err)
		}
		var page struct {
			KVs  []kv
			More bool
		}
		err = json.NewDecoder(rsp.Body).Decode(&page)
		_ = rsp.Body.Close()
		if err != nil || rsp.StatusCode != http.StatusOK {
			t.Fatalf("cannot read etcd: status %d, %v", rsp.StatusCode, err)
		}
		for _, e := range page.KVs {
			out[string(e.Key)] = e.Value
			from = append(slices.Clone(e.Key), 0)
		}
		if !page.More {
			return out
		}
	}
}
