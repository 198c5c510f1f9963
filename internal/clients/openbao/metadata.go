package openbao

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
	"unicode"
)

// Bounds that the server sets to custom metadata, in keys and bytes.
const (
	maxCustomKeys  = 64
	maxCustomKey   = 128
	maxCustomValue = 512
)

// Metadata of a record.
type Metadata struct {
	// CurrentVersion is the latest version, also when that is deleted or destroyed; 0 when there never was one.
	CurrentVersion int
	// Versions by number, as far as the server keeps them.
	Versions map[int]Version
	// CustomMetadata holds everybody's keys.
	CustomMetadata map[string]string
	// MaxVersions that are kept; 0 leaves it to the engine.
	MaxVersions int
	Created     time.Time
	Updated     time.Time
}

// A Version in a record's metadata.
type Version struct {
	Created time.Time
	// Deleted is when the version was deleted, or when it will be. Zero for never.
	Deleted time.Time
	// Destroyed versions have no data any more.
	Destroyed bool
}

// Live says whether the version has data that can be read.
func (v Version) Live(now time.Time) bool {
	return !v.Destroyed && (v.Deleted.IsZero() || v.Deleted.After(now))
}

// Current returns the current version. It is false when the record has none.
func (m *Metadata) Current() (Version, bool) {
	v, ok := m.Versions[m.CurrentVersion]
	return v, ok
}

// MetadataWrite is what WriteMetadata sets.
type MetadataWrite struct {
	// CustomMetadata replaces all custom metadata of the record: the caller merges what others have put there. Nil leaves it.
	CustomMetadata map[string]string
	// MaxVersions to keep, 0 for the engine's own. Nil leaves it.
	MaxVersions *int
}

// ValidateCustomMetadata says whether the server would take custom metadata: at most 64 keys of 1 to 128 bytes, with values of 1 to 512
// bytes, all printable.
func ValidateCustomMetadata(m map[string]string) error {
	if len(m) > maxCustomKeys {
		return fmt.Errorf("custom metadata must have at most %d keys, not %d", maxCustomKeys, len(m))
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		switch v := m[k]; {
		case k == "" || len(k) > maxCustomKey:
			return fmt.Errorf("custom metadata key %q must have 1 to %d bytes", printable(k), maxCustomKey)
		case v == "" || len(v) > maxCustomValue:
			return fmt.Errorf("custom metadata value of key %q must have 1 to %d bytes", printable(k), maxCustomValue)
		case !isPrintable(k) || !isPrintable(v):
			return fmt.Errorf("custom metadata key %q and its value must be printable", printable(k))
		}
	}
	return nil
}

func isPrintable(s string) bool {
	for _, r := range s {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// ReadMetadata returns the metadata of a record. IsNotFound is true only when the engine is there and says that the record is not.
func (c *Client) ReadMetadata(ctx context.Context, mount, path string) (*Metadata, error) {
	r, err := recordRequest(opReadMetadata, http.MethodGet, "metadata", mount, path, "read")
	if err != nil {
		return nil, err
	}
	var a struct {
		Data struct {
			CurrentVersion *int `json:"current_version"`
			Versions       map[int]struct {
				Created   string `json:"created_time"`
				Deleted   string `json:"deletion_time"`
				Destroyed bool   `json:"destroyed"`
			} `json:"versions"`
			CustomMetadata map[string]string `json:"custom_metadata"`
			MaxVersions    int               `json:"max_versions"`
			Created        string            `json:"created_time"`
			Updated        string            `json:"updated_time"`
		} `json:"data"`
	}
	if err := c.do(ctx, r, &a); err != nil {
		return nil, c.absent(ctx, kv2(mount), mount+"/config", err)
	}
	d := a.Data
	if d.CurrentVersion == nil {
		// A record of version 1 at this path, or a mount that is spelled with a part of the API's path.
		return nil, r.error(ReasonMountNotFound, kv2(mount).missing())
	}
	c.setMount(kv2(mount), true)

	m := &Metadata{
		CurrentVersion: *d.CurrentVersion,
		Versions:       make(map[int]Version, len(d.Versions)),
		CustomMetadata: d.CustomMetadata,
		MaxVersions:    d.MaxVersions,
	}
	t := times{}
	m.Created, m.Updated = t.parse(d.Created), t.parse(d.Updated)
	for n, v := range d.Versions {
		m.Versions[n] = Version{Created: t.parse(v.Created), Deleted: t.parse(v.Deleted), Destroyed: v.Destroyed}
	}
	if t.err != nil {
		return nil, r.error(ReasonUnreachable, "the answer has no readable time")
	}
	return m, nil
}

// times parses times and remembers a failure.
type times struct{ err error }

func (t *times) parse(s string) time.Time {
	v, err := parseTime(s)
	if err != nil {
		t.err = err
	}
	return v
}

// WriteMetadata sets metadata of a record, which is made when it does not exist. The server has no check-and-set for it: whoever writes
// reads first, and keeps other writers of its own away.
func (c *Client) WriteMetadata(ctx context.Context, mount, path string, w MetadataWrite) error {
	r, err := recordRequest(opWriteMetadata, http.MethodPost, "metadata", mount, path, "create and update")
	if err != nil {
		return err
	}
	if err := ValidateCustomMetadata(w.CustomMetadata); err != nil {
		return r.error(ReasonRejected, err.Error())
	}
	if err := c.requireMount(ctx, kv2(mount), mount+"/config"); err != nil {
		return err
	}
	body := map[string]any{}
	if w.CustomMetadata != nil {
		body["custom_metadata"] = w.CustomMetadata
	}
	if w.MaxVersions != nil {
		body["max_versions"] = *w.MaxVersions
	}
	if r.body, err = encode(body); err != nil {
		return r.error(ReasonRejected, "custom metadata cannot be encoded")
	}
	return c.do(ctx, r, nil)
}

// DeleteMetadata removes a record with all its versions. It succeeds when there is none.
func (c *Client) DeleteMetadata(ctx context.Context, mount, path string) error {
	r, err := recordRequest(opDeleteMetadata, http.MethodDelete, "metadata", mount, path, "delete")
	if err != nil {
		return err
	}
	if err := c.requireMount(ctx, kv2(mount), mount+"/config"); err != nil {
		return err
	}
	return c.do(ctx, r, nil)
}
