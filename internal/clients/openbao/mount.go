package openbao

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// notKV2 says what is wrong with a mount.
func notKV2(mount string) string {
	return fmt.Sprintf("there is no version 2 key-value engine mounted at %q", mount)
}

// absent looks again at an answer that says that a record is not there: version 1 of the engine, which has no metadata, says the same
// of every record that it is asked about in this way. Only what the engine of the right version says is certain.
func (c *Client) absent(ctx context.Context, mount string, err error) error {
	if !IsNotFound(err) {
		return err
	}
	if merr := c.checkMount(ctx, mount); merr != nil {
		return merr
	}
	return err
}

// requireMount checks the mount before the first call that could do something else than it should: version 1 would take a write as data,
// and a mount that goes on into the API's path would be a second spelling of another record.
func (c *Client) requireMount(ctx context.Context, mount string) error {
	c.mu.Lock()
	known := c.mounts[mount]
	c.mu.Unlock()
	if known {
		return nil
	}
	return c.checkMount(ctx, mount)
}

func (c *Client) setMount(mount string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mounts[mount] = ok
}

// checkMount asks the server what is mounted. Every token that may use something below a mount may ask; no rights to list mounts are
// needed.
func (c *Client) checkMount(ctx context.Context, mount string) error {
	r := request{operation: opMount, method: http.MethodGet, path: "sys/internal/ui/mounts/" + mount, capability: "any capability"}
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
		below := request{operation: opMount, method: http.MethodGet, path: mount + "/config"}
		if berr := c.do(ctx, below, nil); IsMountNotFound(berr) {
			err = berr
		}
	}
	if err != nil {
		c.setMount(mount, false)
		var e *Error
		if errors.As(err, &e) && e.APIPath == r.path {
			e.APIPath = mount + "/"
		}
		return err
	}
	ok := a.Data.Type == "kv" && a.Data.Options["version"] == "2" && a.Data.Path == mount+"/"
	c.setMount(mount, ok)
	if !ok {
		return r.error(ReasonMountNotFound, notKV2(mount))
	}
	return nil
}
