package openbao

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
)

// An AppRoleRole of the AppRole authentication method. Lists have no order. Secret ids of a role are no part of it.
type AppRoleRole struct {
	// RoleID that logins name the role by. A write leaves an empty one to the server: a role that is there keeps its own.
	RoleID string `json:"role_id,omitempty"`
	// BindSecretID makes logins present a secret id. Without it, one of the lists of CIDRs must not be empty.
	BindSecretID bool `json:"bind_secret_id"`
	// SecretIDBoundCIDRs are the blocks of addresses that logins can come from. Empty is anywhere. They are written in their shortest
	// spelling.
	SecretIDBoundCIDRs []string `json:"secret_id_bound_cidrs"`
	// SecretIDNumUses is how many logins a secret id is good for. 0 is any number.
	SecretIDNumUses int64 `json:"secret_id_num_uses"`
	// SecretIDTTL is how long a secret id lives, in whole seconds. 0 is for ever.
	SecretIDTTL int64 `json:"secret_id_ttl"`
	TokenSettings
}

// ReadAppRoleRole returns a role with its role id. The mount is without auth/. IsNotFound is true when the mount has no role of the name,
// and IsMountNotFound when no such method is mounted there.
func (c *Client) ReadAppRoleRole(ctx context.Context, mount, name string) (*AppRoleRole, error) {
	r := roleOf(kindAppRole, mount, name)
	var a struct {
		Data *AppRoleRole `json:"data"`
	}
	if err := c.readRole(ctx, opReadAppRole, r, &a); err != nil {
		return nil, err
	}
	req, err := r.request(opReadAppRole, http.MethodGet, "read")
	if err != nil {
		return nil, err
	}
	if a.Data == nil {
		return nil, req.error(ReasonUnreachable, "the answer has no role")
	}
	req.path += "/role-id"
	var id struct {
		Data struct {
			RoleID string `json:"role_id"`
		} `json:"data"`
	}
	if err := c.absent(ctx, r.method, r.path(), c.do(ctx, req, &id)); err != nil {
		return nil, err
	}
	if id.Data.RoleID == "" {
		return nil, req.error(ReasonUnreachable, "the answer has no role id")
	}
	a.Data.RoleID = id.Data.RoleID
	return a.Data, nil
}

// WriteAppRoleRole makes a role, or sets all its settings when it is there, whoever made it.
func (c *Client) WriteAppRoleRole(ctx context.Context, mount, name string, role AppRoleRole) error {
	role.SecretIDBoundCIDRs = shortest(role.SecretIDBoundCIDRs)
	return c.writeRole(ctx, opWriteAppRole, roleOf(kindAppRole, mount, name), role)
}

// DeleteAppRoleRole removes a role and its secret ids. It succeeds when there is none, but not when the method is not mounted: whether that
// is fine the caller knows.
func (c *Client) DeleteAppRoleRole(ctx context.Context, mount, name string) error {
	return c.deleteRole(ctx, opDeleteAppRole, roleOf(kindAppRole, mount, name))
}

// shortest returns blocks of addresses in their shortest spelling: of some others, for example 2001:db8:0::/48, the server reads back
// what is no block any more, so that no login could ever come from there.
func shortest(cidrs []string) []string {
	l := make([]string, 0, len(cidrs))
	for _, s := range cidrs {
		if p, err := netip.ParsePrefix(s); err == nil {
			s = p.String()
		}
		l = append(l, s) // What is no block the server refuses.
	}
	return l
}

func (r AppRoleRole) validate() error {
	return errors.Join(validateSeconds(map[string]int64{"secret_id_ttl": r.SecretIDTTL}), r.TokenSettings.validate())
}
