package openbao_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	server "github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// everyCall makes each call about a record, and returns its error by the call's name.
func everyCall(ctx context.Context, c *openbao.Client, mount, path string) map[string]error {
	errs := map[string]error{}
	_, errs["ReadMetadata"] = c.ReadMetadata(ctx, mount, path)
	_, errs["ReadData"] = c.ReadData(ctx, mount, path, 0)
	errs["WriteMetadata"] = c.WriteMetadata(ctx, mount, path, openbao.MetadataWrite{CustomMetadata: map[string]string{"a": "b"}})
	_, errs["WriteData"] = c.WriteData(ctx, mount, path, text("v"), 0)
	errs["DeleteMetadata"] = c.DeleteMetadata(ctx, mount, path)
	return errs
}

// TestH20WrongMount holds that no call takes a mount that is not what it should be for a record that is not there, and that none writes to it.
func TestH20WrongMount(t *testing.T) {
	ctx := t.Context()
	if err := bao.MountKV(ctx, "version1", 1); err != nil {
		t.Fatal(err)
	}
	limited := tokenWith(t, `path "kv/*" { capabilities = ["create", "read", "update", "delete"] }`)
	put(t, server.Mount, "data/spelled", "v")

	cases := map[string]struct {
		reason      string
		token       string
		mount, path string
		want        openbao.Reason
	}{
		"Missing": {
			reason: "A mount that does not exist is named as such to a token that may know.",
			token:  bao.RootToken, mount: "nowhere", path: "x", want: openbao.ReasonMountNotFound,
		},
		"MissingForLimited": {
			reason: "A token that has nothing to do with a mount is not told that it does not exist.",
			token:  limited, mount: "nowhere", path: "x", want: openbao.ReasonPermissionDenied,
		},
		"Version1": {
			reason: "Version 1 answers as if records were absent, and takes writes as data.",
			token:  bao.RootToken, mount: "version1", path: "x", want: openbao.ReasonMountNotFound,
		},
		"PartOfPath": {
			reason: "A mount that goes on into the API's path would be a second spelling of another record.",
			token:  bao.RootToken, mount: "kv/data", path: "spelled", want: openbao.ReasonMountNotFound,
		},
		"OtherEngine": {
			reason: "The server's own mounts are never written to.",
			token:  bao.RootToken, mount: "cubbyhole", path: "x", want: openbao.ReasonRejected,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, _ := newClient(t, openbao.Auth{Token: tc.token})
			for call, err := range everyCall(ctx, c, tc.mount, tc.path) {
				if got := openbao.ReasonOf(err); got != tc.want {
					t.Errorf("\n%s\n%s(...): want %s, got %s: %v", tc.reason, call, tc.want, got, err)
				}
			}
		})
	}

	if s, err := bao.Root().Logical().ListWithContext(ctx, "version1"); err != nil || s != nil {
		t.Errorf("the engine of version 1 must be empty still: %v", err)
	}
	d, err := rootClient(t).ReadData(ctx, server.Mount, "data/spelled", 0)
	if err != nil || d.Version != 1 {
		t.Errorf("the record behind the other spelling was written to: %v", err)
	}
}

// TestH26Paths holds that every legal path reaches a record of its own, that others are refused before anything is sent, and that the server
// stores the path as it was given.
func TestH26Paths(t *testing.T) {
	ctx := t.Context()
	c, n := newClient(t, openbao.Auth{Token: bao.RootToken})
	if err := bao.MountKV(ctx, "a/b", 2); err != nil {
		t.Fatal(err)
	}

	good := []string{"data/x", "datax", "metadata/x", "x y", "x%2fy", "x%252fy", "x#y", "x?y", "x&y=z", "x+y", "x;y", "x:y", "x@y", "x*", "é/日本", "~", "a..b", "...", "x/y/z"}
	for _, p := range good {
		if _, err := c.WriteData(ctx, "a/b", p, text(p), 0); err != nil {
			t.Errorf("WriteData(%q): %v", p, err)
			continue
		}
		if err := c.WriteMetadata(ctx, "a/b", p, openbao.MetadataWrite{CustomMetadata: map[string]string{"path": p}}); err != nil {
			t.Errorf("WriteMetadata(%q): %v", p, err)
		}
	}
	for _, p := range good {
		d, err := c.ReadData(ctx, "a/b", p, 0)
		if err != nil {
			t.Errorf("ReadData(%q): %v", p, err)
			continue
		}
		if v, _ := d.Text("k"); v != p || d.CustomMetadata["path"] != p {
			t.Errorf("ReadData(%q): reached another record", p)
		}
	}
	// The names are as they were given: nothing in them was taken for something else.
	keys := map[string]bool{}
	for _, dir := range []string{"", "data/", "metadata/", "é/", "x/", "x/y/"} {
		s := admin(t, "LIST", "a/b/metadata/"+dir, nil)
		for _, k := range s.Data["keys"].([]any) {
			if s := k.(string); s[len(s)-1] != '/' {
				keys[dir+s] = true
			}
		}
	}
	want := map[string]bool{}
	for _, p := range good {
		want[p] = true
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("names on the server: -want, +got:\n%s", diff)
	}

	sent := n.of("read data") + n.of("write data")
	bad := []string{"", "/x", "x/", "x//y", ".", "..", "../x", "x/../y", "x/./y", "x\ny", "x\x00y", "x\x7fy", "x\u200by", "x\xffy", "/"}
	for _, p := range bad {
		for call, err := range everyCall(ctx, c, "a/b", p) {
			if openbao.ReasonOf(err) != openbao.ReasonRejected {
				t.Errorf("%s(%q): want a rejection, got: %v", call, p, err)
			}
		}
		for call, err := range everyCall(ctx, c, p, "x") {
			if openbao.ReasonOf(err) != openbao.ReasonRejected {
				t.Errorf("%s(mount %q): want a rejection, got: %v", call, p, err)
			}
		}
	}
	for _, mount := range []string{"sys", "auth/token", "identity", "cubbyhole"} { // No engine for records can be there.
		for call, err := range everyCall(ctx, c, mount, "x") {
			if openbao.ReasonOf(err) != openbao.ReasonRejected {
				t.Errorf("%s(mount %q): want a rejection, got: %v", call, mount, err)
			}
		}
	}
	if now := n.of("read data") + n.of("write data"); now != sent {
		t.Error("a refused path was sent")
	}
}

// TestPermissionDenied holds that a denial names the capability and the path that a policy needs.
func TestPermissionDenied(t *testing.T) {
	ctx := t.Context()
	put(t, server.Mount, "denied/x", "v")
	c, _ := newClient(t, openbao.Auth{Token: tokenWith(t, `path "kv/data/other" { capabilities = ["read"] }`)})

	want := map[string]string{
		"ReadMetadata":   `cannot read metadata of "kv/denied/x": permission denied: needs read on "kv/metadata/denied/x"`,
		"ReadData":       `cannot read data of "kv/denied/x": permission denied: needs read on "kv/data/denied/x"`,
		"WriteMetadata":  `cannot write metadata of "kv/denied/x": permission denied: needs create and update on "kv/metadata/denied/x"`,
		"WriteData":      `cannot write data of "kv/denied/x": permission denied: needs create and update on "kv/data/denied/x"`,
		"DeleteMetadata": `cannot delete metadata of "kv/denied/x": permission denied: needs delete on "kv/metadata/denied/x"`,
	}
	for call, err := range everyCall(ctx, c, server.Mount, "denied/x") {
		if !openbao.IsPermissionDenied(err) {
			t.Errorf("%s(...): want a denial, got: %v", call, err)
			continue
		}
		if got := err.Error(); len(got) < len(want[call]) || got[:len(want[call])] != want[call] {
			t.Errorf("%s(...): want an error that starts with %q, got %q", call, want[call], got)
		}
	}
	admin(t, http.MethodGet, "kv/data/denied/x", nil)
}

// TestH20Sealed holds that a sealed server is neither empty nor gone, for a token that is held and for one that is not.
func TestH20Sealed(t *testing.T) {
	ctx := t.Context()
	held := rootClient(t)
	if _, err := held.ReadMetadata(ctx, server.Mount, "x"); !openbao.IsNotFound(err) {
		t.Fatal(err)
	}
	if err := bao.Seal(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := bao.Unseal(context.WithoutCancel(ctx)); err != nil {
			t.Fatal(err)
		}
	}()
	role, _ := newClient(t, openbao.Auth{AppRole: &openbao.AppRole{RoleID: "r", SecretID: "s"}})
	for name, c := range map[string]*openbao.Client{"held": held, "static": rootClient(t), "login": role} {
		for call, err := range everyCall(ctx, c, server.Mount, "x") {
			if !openbao.IsSealed(err) {
				t.Errorf("%s: %s(...): want sealed, got: %v", name, call, err)
			}
		}
		h, err := c.Health(ctx)
		if err != nil || !h.Sealed || !h.Initialized {
			t.Errorf("%s: Health(...): want a sealed server, got %+v, %v", name, h, err)
		}
	}
}
