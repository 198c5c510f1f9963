package openbao_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	server "github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// put writes a version without check-and-set, as a person would.
func put(t *testing.T, mount, path, value string) {
	t.Helper()
	admin(t, http.MethodPost, mount+"/data/"+path, map[string]any{"data": map[string]any{"k": value}, "options": map[string]any{}})
}

func versions(t *testing.T, api, path string, n ...int) {
	t.Helper()
	admin(t, http.MethodPost, server.Mount+"/"+api+"/"+path, map[string]any{"versions": n})
}

func text(s string) map[string]json.RawMessage {
	return map[string]json.RawMessage{"k": openbao.Text(s)}
}

// TestH19States holds that what is absent, deleted and destroyed is told apart, and that a record's tags survive all but removal.
func TestH19States(t *testing.T) {
	c := rootClient(t)
	ctx := t.Context()
	path := t.Name()
	tags := map[string]string{"owner": "somebody"}

	if _, err := c.ReadMetadata(ctx, server.Mount, path); !openbao.IsNotFound(err) {
		t.Errorf("absent: ReadMetadata(...): %v", err)
	}
	if _, err := c.ReadData(ctx, server.Mount, path, 0); !openbao.IsNotFound(err) {
		t.Errorf("absent: ReadData(...): %v", err)
	}

	if err := c.WriteMetadata(ctx, server.Mount, path, openbao.MetadataWrite{CustomMetadata: tags}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadData(ctx, server.Mount, path, 0); !openbao.IsNotFound(err) {
		t.Errorf("metadata only: ReadData(...): %v", err)
	}
	for cas := range 2 {
		if _, err := c.WriteData(ctx, server.Mount, path, text(strconv.Itoa(cas)), cas); err != nil {
			t.Fatal(err)
		}
	}

	state := func(what string, live, destroyed bool) {
		t.Helper()
		m, err := c.ReadMetadata(ctx, server.Mount, path)
		if err != nil {
			t.Fatalf("%s: ReadMetadata(...): %v", what, err)
		}
		if diff := cmp.Diff(tags, m.CustomMetadata); diff != "" {
			t.Errorf("%s: custom metadata: -want, +got:\n%s", what, diff)
		}
		v, ok := m.Current()
		if !ok || m.CurrentVersion != 2 || v.Live(time.Now()) != live || v.Destroyed != destroyed || v.Created.IsZero() || m.Updated.IsZero() {
			t.Errorf("%s: current version is %d, live %t, destroyed %t", what, m.CurrentVersion, v.Live(time.Now()), v.Destroyed)
		}
		_, err = c.ReadData(ctx, server.Mount, path, 0)
		if openbao.IsDeleted(err) == live || openbao.IsNotFound(err) || (err == nil) != live {
			t.Errorf("%s: ReadData(...): %v", what, err)
		}
		var e *openbao.Error
		if errors.As(err, &e) && e.Version != 2 {
			t.Errorf("%s: the error names version %d, want 2", what, e.Version)
		}
		if d, err := c.ReadData(ctx, server.Mount, path, 1); err != nil || d.Version != 1 {
			t.Errorf("%s: ReadData(..., 1): %v", what, err)
		}
		if _, err := c.ReadData(ctx, server.Mount, path, 7); !openbao.IsNotFound(err) {
			t.Errorf("%s: ReadData(..., 7): %v", what, err)
		}
	}
	state("live", true, false)
	versions(t, "delete", path, 2)
	state("deleted", false, false)
	versions(t, "undelete", path, 2)
	state("undeleted", true, false)
	versions(t, "destroy", path, 2)
	state("destroyed", false, true)

	for range 2 {
		if err := c.DeleteMetadata(ctx, server.Mount, path); err != nil {
			t.Errorf("DeleteMetadata(...): %v", err)
		}
	}
	if _, err := c.ReadMetadata(ctx, server.Mount, path); !openbao.IsNotFound(err) {
		t.Errorf("removed: ReadMetadata(...): %v", err)
	}
	if _, err := c.ReadData(ctx, server.Mount, path, 1); !openbao.IsNotFound(err) {
		t.Errorf("removed: ReadData(..., 1): %v", err)
	}
}

// TestDeleteLater holds that a version that will be deleted lives until then.
func TestDeleteLater(t *testing.T) {
	c := rootClient(t)
	path := t.Name()
	admin(t, http.MethodPost, server.Mount+"/metadata/"+path, map[string]any{"delete_version_after": "1h"})
	put(t, server.Mount, path, "v")
	m, err := c.ReadMetadata(t.Context(), server.Mount, path)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := m.Current()
	if v.Deleted.IsZero() || !v.Live(time.Now()) || v.Live(time.Now().Add(2*time.Hour)) {
		t.Errorf("a version with a deletion time in the future must live until then, and not beyond")
	}
}

// TestH24ForeignKeys holds that values of others survive a read and a write as the server shows them, byte for byte.
func TestH24ForeignKeys(t *testing.T) {
	const foreign = `{"big":12345678901234567890,"dec":1.10,"yes":true,"none":null,"html":"<a & b>\u2028","nested":{"z":[1,2.50,{"a":""}],"b":{}}}`
	c := rootClient(t)
	ctx := t.Context()
	path := t.Name()
	admin(t, http.MethodPost, server.Mount+"/data/"+path, map[string]any{"data": json.RawMessage(foreign), "options": map[string]any{}})

	before, err := c.ReadData(ctx, server.Mount, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	before.Values["ours"] = openbao.Text("new")
	if _, err := c.WriteData(ctx, server.Mount, path, before.Values, before.Version); err != nil {
		t.Fatal(err)
	}
	after, err := c.ReadData(ctx, server.Mount, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	show := func(d *openbao.Data) map[string]string {
		m := map[string]string{}
		for k, v := range d.Values {
			m[k] = string(v)
		}
		return m
	}
	if diff := cmp.Diff(show(before), show(after)); diff != "" {
		t.Errorf("-before, +after:\n%s", diff)
	}
	if _, ok := after.Text("big"); ok {
		t.Error("a number is not a text")
	}
	if got := fmt.Sprintf("%v %+v %#v %s", after, after, *after, *after); cmp.Diff("(data of version 2) (data of version 2) (data of version 2) (data of version 2)", got) != "" {
		t.Error("printing data shows more than its version")
	}
}

// TestH21CustomMetadata holds that the caller's merged map is written whole, and that what the server would refuse is refused before.
func TestH21CustomMetadata(t *testing.T) {
	c := rootClient(t)
	ctx := t.Context()
	path := t.Name()
	admin(t, http.MethodPost, server.Mount+"/metadata/"+path, map[string]any{"custom_metadata": map[string]string{"team": "x"}})

	m, err := c.ReadMetadata(ctx, server.Mount, path)
	if err != nil {
		t.Fatal(err)
	}
	m.CustomMetadata["owner"] = "us"
	five := 5
	if err := c.WriteMetadata(ctx, server.Mount, path, openbao.MetadataWrite{CustomMetadata: m.CustomMetadata, MaxVersions: &five}); err != nil {
		t.Fatal(err)
	}
	// What is not named is left alone.
	if err := c.WriteMetadata(ctx, server.Mount, path, openbao.MetadataWrite{MaxVersions: &five}); err != nil {
		t.Fatal(err)
	}
	m, err = c.ReadMetadata(ctx, server.Mount, path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"team": "x", "owner": "us"}, m.CustomMetadata); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if m.MaxVersions != five {
		t.Errorf("want %d versions, got %d", five, m.MaxVersions)
	}

	long := func(n int) string { return fmt.Sprintf("%0*d", n, 0) }
	many := map[string]string{}
	for i := range 65 {
		many[strconv.Itoa(i)] = "v"
	}
	for name, bad := range map[string]map[string]string{
		"ManyKeys": many, "EmptyKey": {"": "v"}, "EmptyValue": {"k": ""}, "LongKey": {long(129): "v"}, "LongValue": {"k": long(513)},
		"Unprintable": {"k": "a\nb"}, "InvalidUTF8": {"k": "\xff"},
	} {
		if err := c.WriteMetadata(ctx, server.Mount, path, openbao.MetadataWrite{CustomMetadata: bad}); openbao.ReasonOf(err) != openbao.ReasonRejected {
			t.Errorf("%s: WriteMetadata(...): want a rejection, got: %v", name, err)
		}
	}
	if err := c.WriteMetadata(ctx, server.Mount, path, openbao.MetadataWrite{CustomMetadata: map[string]string{long(128): long(512)}}); err != nil {
		t.Errorf("WriteMetadata(...): the largest key and value: %v", err)
	}
}
