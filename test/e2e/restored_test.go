package e2e

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// TestRecordRestored gives a record other values under the number that it had, as a snapshot from before a rotation does. Role and Secret
// follow as they do upon a new version, and not only when External Secrets looks again by itself.
func TestRecordRestored(t *testing.T) {
	t.Parallel()
	u, _ := resting(t)
	path, c := kvPath(u), superuser(t, "postgres")
	before := outsideOf(t, c, u)
	kv := p.Plane.OpenBao.Root().Logical()
	record, err := kv.ReadWithContext(t.Context(), openbao.Mount+"/data/"+path)
	if err != nil || record == nil {
		t.Fatalf("cannot read record %q", path)
	}
	tags, _ := kvMetadata(t, path)["custom_metadata"].(map[string]any)
	data, _ := record.Data["data"].(map[string]any)
	old, _ := data["password"].(string)
	other, another := map[string]any{}, rand.Text()
	for key, value := range data {
		if text, ok := value.(string); ok && old != "" {
			value = strings.ReplaceAll(text, old, another)
		}
		other[key] = value
	}

	if _, err := kv.DeleteWithContext(t.Context(), openbao.Mount+"/metadata/"+path); err != nil {
		t.Fatalf("cannot delete record %q", path)
	}
	kvWrite(t, "metadata", path, map[string]any{"custom_metadata": tags})
	kvWrite(t, "data", path, map[string]any{"data": other})
	eventually(t, "the Secret has what the record has now, and logs in", func(ctx context.Context) error {
		return provenWith(ctx, u)
	})
	u = rotated(t, u, u.GetGeneration())
	now := outsideOf(t, c, u)
	if now.KVVersion != before.KVVersion || now.RoleOID != before.RoleOID || now.DatabaseOID != before.DatabaseOID || now.RoleRow == before.RoleRow {
		t.Errorf("want the role to change, and nothing else: %v, then %v", before, now)
	}
}
