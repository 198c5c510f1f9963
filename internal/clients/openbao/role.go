package openbao

import (
	"context"
	"net/http"
)

// Kinds of authentication methods, as the server names them.
const (
	kindKubernetes = "kubernetes"
	kindAppRole    = "approle"
)

// A role of an authentication method, to make requests about. Roles have no secrets: what the server says about them can be repeated.
type role struct {
	method engine
	name   string
}

func roleOf(kind, mount, name string) role {
	return role{method: engine{path: authPrefix + mount, kind: kind}, name: name}
}

func (r role) path() string { return r.method.path + "/role/" + r.name }

// request returns a request about the role, after it looked at the names.
func (r role) request(operation, method, capability string) (request, error) {
	mount := r.method.path[len(authPrefix):]
	req := request{operation: operation, method: method, path: r.path(), object: mount + "/" + r.name, capability: capability}
	if err := ValidateMount(mount); err != nil {
		return req, req.error(ReasonRejected, err.Error())
	}
	if err := ValidateRoleName(r.name); err != nil {
		return req, req.error(ReasonRejected, err.Error())
	}
	return req, nil
}

// readRole decodes a role into out.
func (c *Client) readRole(ctx context.Context, operation string, r role, out any) error {
	req, err := r.request(operation, http.MethodGet, "read")
	if err != nil {
		return err
	}
	if err := c.requireMount(ctx, r.method, r.path()); err != nil {
		return err
	}
	return c.absent(ctx, r.method, r.path(), c.do(ctx, req, out))
}

// writeRole makes a role, or sets everything that is in settings of the one that is there.
func (c *Client) writeRole(ctx context.Context, operation string, r role, settings interface{ validate() error }) error {
	req, err := r.request(operation, http.MethodPost, "create and update")
	if err != nil {
		return err
	}
	if err := settings.validate(); err != nil {
		return req.error(ReasonRejected, err.Error())
	}
	if req.body, err = encode(settings); err != nil {
		return req.error(ReasonRejected, "the role cannot be encoded")
	}
	if err := c.requireMount(ctx, r.method, r.path()); err != nil {
		return err
	}
	return c.do(ctx, req, nil)
}

// deleteRole removes a role.
func (c *Client) deleteRole(ctx context.Context, operation string, r role) error {
	req, err := r.request(operation, http.MethodDelete, "delete")
	if err != nil {
		return err
	}
	if err := c.requireMount(ctx, r.method, r.path()); err != nil {
		return err
	}
	return c.do(ctx, req, nil)
}
