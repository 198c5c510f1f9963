package openbao

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// Types of auth methods.
const (
	typeKubernetes = "kubernetes"
	typeAppRole    = "approle"
)

// roleName is what auth methods take for a role's name. They keep it in lower case.
var roleName = regexp.MustCompile(`^\w(([\w.-]+)?\w)?$`)

// TokenParameters say what a token is that a role logs in with. Times are in seconds, and 0 leaves them to the server.
type TokenParameters struct {
	TTL             int64    `json:"token_ttl"`
	MaxTTL          int64    `json:"token_max_ttl"`
	ExplicitMaxTTL  int64    `json:"token_explicit_max_ttl"`
	Period          int64    `json:"token_period"`
	Policies        []string `json:"token_policies"`
	BoundCIDRs      []string `json:"token_bound_cidrs"`
	NoDefaultPolicy bool     `json:"token_no_default_policy"`
	// NumUses of a token; 0 is no limit.
	NumUses int64  `json:"token_num_uses"`
	Type    string `json:"token_type"`
}

// A KubernetesAuthRole says which ServiceAccounts may log in, and with what.
type KubernetesAuthRole struct {
	ServiceAccountNames      []string `json:"bound_service_account_names"`
	ServiceAccountNamespaces []string `json:"bound_service_account_namespaces"`
	// Audience that tokens must be for, empty for any.
	Audience        string `json:"audience"`
	AliasNameSource string `json:"alias_name_source"`

	TokenParameters
}

// An AppRole says what who has its role id, and a secret id where one is asked for, logs in with.
type AppRoleRole struct {
	// RoleID is chosen by the server when it is empty in a write.
	RoleID             string   `json:"role_id,omitempty"`
	BindSecretID       bool     `json:"bind_secret_id"`
	SecretIDBoundCIDRs []string `json:"secret_id_bound_cidrs"`
	// SecretIDNumUses of a secret id; 0 is no limit.
	SecretIDNumUses int64 `json:"secret_id_num_uses"`
	// SecretIDTTL in seconds; 0 for ever.
	SecretIDTTL int64 `json:"secret_id_ttl"`

	TokenParameters
}

// ReadKubernetesAuthRole returns a role of the Kubernetes auth method at a mount below auth/.
func (c *Client) ReadKubernetesAuthRole(ctx context.Context, mount, name string) (KubernetesAuthRole, error) {
	var role KubernetesAuthRole
	return role, c.readRole(ctx, typeKubernetes, mount, name, &role)
}

// WriteKubernetesAuthRole creates or replaces a role.
func (c *Client) WriteKubernetesAuthRole(ctx context.Context, mount, name string, role KubernetesAuthRole) error {
	return c.writeRole(ctx, typeKubernetes, mount, name, role)
}

// DeleteKubernetesAuthRole deletes a role. It succeeds when there is none.
func (c *Client) DeleteKubernetesAuthRole(ctx context.Context, mount, name string) error {
	return c.deleteRole(ctx, typeKubernetes, mount, name)
}

// ReadAppRoleRole returns a role of the AppRole auth method at a mount below auth/.
func (c *Client) ReadAppRoleRole(ctx context.Context, mount, name string) (AppRoleRole, error) {
	var role AppRoleRole
	if err := c.readRole(ctx, typeAppRole, mount, name, &role); err != nil {
		return role, err
	}
	r, err := roleRequest(opReadRole, http.MethodGet, mount, name, "read")
	if err != nil {
		return role, err
	}
	r.path += "/role-id"
	var a struct {
		Data struct {
			RoleID string `json:"role_id"`
		} `json:"data"`
	}
	err = c.do(ctx, r, &a)
	role.RoleID = a.Data.RoleID
	return role, err
}

// WriteAppRoleRole creates or replaces a role.
func (c *Client) WriteAppRoleRole(ctx context.Context, mount, name string, role AppRoleRole) error {
	return c.writeRole(ctx, typeAppRole, mount, name, role)
}

// DeleteAppRoleRole deletes a role. It succeeds when there is none.
func (c *Client) DeleteAppRoleRole(ctx context.Context, mount, name string) error {
	return c.deleteRole(ctx, typeAppRole, mount, name)
}

func (c *Client) readRole(ctx context.Context, method, mount, name string, into any) error {
	r, err := roleRequest(opReadRole, http.MethodGet, mount, name, "read")
	if err != nil {
		return err
	}
	err = c.do(ctx, r, &struct {
		Data any `json:"data"`
	}{into})
	if IsNotFound(err) {
		// A mount of another kind has no such role either, and would take one that means something else.
		if merr := c.requireMethod(ctx, method, mount); merr != nil {
			return merr
		}
	}
	return err
}

func (c *Client) writeRole(ctx context.Context, method, mount, name string, role any) error {
	r, err := roleRequest(opWriteRole, http.MethodPost, mount, name, "create and update")
	if err != nil {
		return err
	}
	if err := c.requireMethod(ctx, method, mount); err != nil {
		return err
	}
	if r.body, err = encode(role); err != nil {
		return r.error(ReasonRejected, "the role cannot be encoded")
	}
	return c.do(ctx, r, nil)
}

func (c *Client) deleteRole(ctx context.Context, method, mount, name string) error {
	r, err := roleRequest(opDeleteRole, http.MethodDelete, mount, name, "delete")
	if err != nil {
		return err
	}
	if err := c.requireMethod(ctx, method, mount); err != nil {
		return err
	}
	return c.do(ctx, r, nil)
}

// requireMethod checks what kind of auth method is at a mount: others have roles too, and take no notice of parameters that they do not know.
func (c *Client) requireMethod(ctx context.Context, method, mount string) error {
	key := method + " at auth/" + mount
	c.mu.Lock()
	known := c.mounts[key]
	c.mu.Unlock()
	if known {
		return nil
	}
	r := request{operation: opMount, method: http.MethodGet, path: "sys/internal/ui/mounts/auth/" + mount, capability: "any capability"}
	var a struct {
		Data struct {
			Type string `json:"type"`
			Path string `json:"path"`
		} `json:"data"`
	}
	if err := c.do(ctx, r, &a); err != nil {
		return err
	}
	ok := a.Data.Type == method && strings.Trim(strings.TrimPrefix(a.Data.Path, "auth/"), "/") == mount
	c.setMount(key, ok)
	if !ok {
		return r.error(ReasonMountNotFound, fmt.Sprintf("there is no auth method of type %s at %q", method, "auth/"+mount))
	}
	return nil
}

func roleRequest(operation, method, mount, name, capability string) (request, error) {
	r := request{operation: operation, method: method, path: "auth/" + mount + "/role/" + name, mount: "auth/" + mount + "/role", record: name, capability: capability}
	if err := validateMount(mount); err != nil {
		return r, r.error(ReasonRejected, err.Error())
	}
	if err := ValidateRoleName(name); err != nil {
		return r, r.error(ReasonRejected, err.Error())
	}
	return r, nil
}

// ValidateRoleName says whether a role may have a name.
func ValidateRoleName(name string) error {
	if !roleName.MatchString(name) || strings.ToLower(name) != name {
		return fmt.Errorf("role name %q must be lower case letters, digits, _, - and ., and begin and end with a letter or digit", name)
	}
	return nil
}
