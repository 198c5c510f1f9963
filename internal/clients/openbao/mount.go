package openbao

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// authPrefix is where authentication methods are mounted.
const authPrefix = "auth/"

// An engine is what must be mounted at a path.
type engine struct {
	// path of the mount, with auth/ before it for an authentication method.
	path string
	// kind and version as the server names them, the latter only for engines that have several.
	kind, version string
}

func kv2(mount string) engine { return engine{path: mount, kind: "kv", version: "2"} }

// missing says what is wrong when the engine is not there.
func (e engine) missing() string {
	if mount, ok := strings.CutPrefix(e.path, authPrefix); ok {
		return fmt.Sprintf("there is no %s authentication method mounted at %q", e.kind, mount)
	}
	return fmt.Sprintf("there is no version 2 key-value engine mounted at %q", e.path)
}

// at says whether the server's name for a mount is the engine's. Authentication methods are named with and without their prefix.
func (e engine) at(path string) bool {
	return path == e.path+"/" || authPrefix+path == e.path+"/"
}

// absent looks again at an answer that says that a record or a role is not there: version 1 of the key-value engine, which has no metadata,
// says the same of every record that it is asked about in this way, and authentication methods say the same of each other's roles. Only
// what the engine of the right kind says is certain.
func (c *Client) absent(ctx context.Context, e engine, below string, err error) error {
	if !IsNotFound(err) {
		return err
	}
	if merr := c.checkMount(ctx, e, below); merr != nil {
		return merr
	}
	return err
}

// requireMount checks the mount before the first call that could do something else than it should: version 1 would take a write as data,
// a mount that goes on into the API's path would be a second spelling of another record, and one authentication method would make a
// role of another, without what it does not know. below is a path that the token may know of.
func (c *Client) requireMount(ctx context.Context, e engine, below string) error {
	c.mu.Lock()
	known := c.mounts[e]
	c.mu.Unlock()
	if known {
		return nil
	}
	return c.checkMount(ctx, e, below)
}

func (c *Client) setMount(e engine, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mounts[e] = ok
}

// checkMount asks the server what is mounted. Every token that may use something below a mount may ask; no rights to list mounts are
// needed.
func (c *Client) checkMount(ctx context.Context, e engine, below string) error {
	r := request{operation: opMount, method: http.MethodGet, path: "sys/internal/ui/mounts/" + e.path, capability: "any capability"}
	var a struct {
		Data struct {
			Type    string            `json:"type"`
			Path    string            `json:"path"`
			Options map[string]string `json:"options"`
		} `json:"data"`
	}
	err := c.do(ctx, r, &a)
	if IsPermissionDenied(err) {
		// It says so of a mount that does not exist to everybody. Below it, a token that may know is told.
		if berr := c.do(ctx, request{operation: opMount, method: http.MethodGet, path: below}, nil); IsMountNotFound(berr) {
			err = berr
		}
	}
	if err != nil {
		c.setMount(e, false)
		var failed *Error
		if errors.As(err, &failed) && failed.APIPath == r.path {
			failed.APIPath = e.path + "/"
		}
		return err
	}
	ok := a.Data.Type == e.kind && (e.version == "" || a.Data.Options["version"] == e.version) && e.at(a.Data.Path)
	c.setMount(e, ok)
	if !ok {
		return r.error(ReasonMountNotFound, e.missing())
	}
	return nil
}
