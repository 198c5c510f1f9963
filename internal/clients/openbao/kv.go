package openbao

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Data of one version of a record.
type Data struct {
	// Values by key, as JSON, exactly as the server sent them. The server itself reads numbers as 64 bit floating point before it
	// sends them, so a number with more digits has lost them on the way here, whoever reads it.
	Values map[string]json.RawMessage
	// Version that this is, from 1.
	Version int
	// Created is when the version was written.
	Created time.Time
	// CustomMetadata of the record.
	CustomMetadata map[string]string
}

// Format keeps values out of whatever a Data is printed into.
func (d Data) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "(data of version %d)", d.Version) }

// Text returns the value of a key that holds a string. It is false when the key is missing or holds something else.
func (d *Data) Text(key string) (string, bool) {
	raw, ok := d.Values[key]
	if !ok || len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// Text returns a string as the value of a key.
func Text(s string) json.RawMessage {
	b, err := encode(s)
	if err != nil {
		// Every string can be encoded.
		panic(err)
	}
	return b
}

// ReadData returns a version of a record, or the current one for version 0. IsNotFound is true for a record that has no such
// version, IsDeleted for one that was deleted or destroyed.
func (c *Client) ReadData(ctx context.Context, mount, path string, version int) (*Data, error) {
	r, err := recordRequest(opReadData, http.MethodGet, "data", mount, path, "read")
	if err != nil {
		return nil, err
	}
	if err := c.requireMount(ctx, kv2(mount), mount+"/config"); err != nil {
		return nil, err
	}
	if version > 0 {
		r.params = url.Values{"version": {strconv.Itoa(version)}}
	}
	var a struct {
		Data struct {
			Data     map[string]json.RawMessage `json:"data"`
			Metadata struct {
				Version        int               `json:"version"`
				Created        string            `json:"created_time"`
				CustomMetadata map[string]string `json:"custom_metadata"`
			} `json:"metadata"`
		} `json:"data"`
	}
	if err := c.do(ctx, r, &a); err != nil {
		return nil, c.absent(ctx, kv2(mount), mount+"/config", err)
	}
	m := a.Data.Metadata
	if m.Version == 0 {
		return nil, r.error(ReasonMountNotFound, kv2(mount).missing())
	}
	created, err := parseTime(m.Created)
	if err != nil {
		return nil, r.error(ReasonUnreachable, "the answer has no readable time")
	}
	return &Data{Values: a.Data.Data, Version: m.Version, Created: created, CustomMetadata: m.CustomMetadata}, nil
}

// WriteData writes a new version that holds exactly the given values, if the record's current version is cas, and returns the number of
// the new version. cas is the current version also when that is deleted or destroyed, and 0 for a record that has none. Otherwise
// IsCASMismatch is true and nothing was written.
func (c *Client) WriteData(ctx context.Context, mount, path string, data map[string]json.RawMessage, cas int) (int, error) {
	capability := "update"
	if cas == 0 {
		// The server asks for create when the record does not exist, and for update when it has only metadata.
		capability = "create and update"
	}
	r, err := recordRequest(opWriteData, http.MethodPost, "data", mount, path, capability)
	if err != nil {
		return 0, err
	}
	r.confidential = true
	if err := c.requireMount(ctx, kv2(mount), mount+"/config"); err != nil {
		return 0, err
	}
	if data == nil {
		data = map[string]json.RawMessage{}
	}
	r.body, err = encode(map[string]any{"options": map[string]int{"cas": cas}, "data": data})
	if err != nil {
		return 0, r.error(ReasonRejected, "a value is not JSON")
	}
	var a struct {
		Data struct {
			Version int `json:"version"`
		} `json:"data"`
	}
	if err := c.do(ctx, r, &a); err != nil {
		return 0, err
	}
	if a.Data.Version == 0 {
		return 0, r.error(ReasonUnreachable, "the answer has no version")
	}
	return a.Data.Version, nil
}

// encode v without changing more in raw values than white space between their parts.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// parseTime parses what the server has for times: empty for none.
func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339Nano, s)
}
