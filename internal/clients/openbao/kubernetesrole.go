package openbao

import (
	"context"
)

// What the server knows a service account by that logs in.
const (
	// AliasNameSourceUID is the uid of the service account.
	AliasNameSourceUID = "serviceaccount_uid"
	// AliasNameSourceName is its namespace and name.
	AliasNameSourceName = "serviceaccount_name"
)

// A KubernetesAuthRole of the Kubernetes authentication method. Lists have no order.
type KubernetesAuthRole struct {
	// BoundServiceAccountNames and BoundServiceAccountNamespaces are those that can log in. An asterisk stands for any characters, and
	// neither can be empty.
	BoundServiceAccountNames      []string `json:"bound_service_account_names"`
	BoundServiceAccountNamespaces []string `json:"bound_service_account_namespaces"`
	// Audience that tokens of service accounts must be for. Empty is any.
	Audience string `json:"audience"`
	// AliasNameSource is one of the constants. Empty leaves what the role has, which for a new one is the uid.
	AliasNameSource string `json:"alias_name_source,omitempty"`
	TokenSettings
}

// ReadKubernetesAuthRole returns a role. The mount is without auth/. IsNotFound is true when the mount has no role of the name, and
// IsMountNotFound when no such method is mounted there.
func (c *Client) ReadKubernetesAuthRole(ctx context.Context, mount, name string) (*KubernetesAuthRole, error) {
	r := roleOf(kindKubernetes, mount, name)
	var a struct {
		Data *KubernetesAuthRole `json:"data"`
	}
	if err := c.readRole(ctx, opReadKubernetesRole, r, &a); err != nil {
		return nil, err
	}
	if a.Data == nil {
		return nil, request{operation: opReadKubernetesRole, path: r.path()}.error(ReasonUnreachable, "the answer has no role")
	}
	return a.Data, nil
}

// WriteKubernetesAuthRole makes a role, or sets all its settings when it is there, whoever made it.
func (c *Client) WriteKubernetesAuthRole(ctx context.Context, mount, name string, role KubernetesAuthRole) error {
	return c.writeRole(ctx, opWriteKubernetesRole, roleOf(kindKubernetes, mount, name), role)
}

// DeleteKubernetesAuthRole removes a role. It succeeds when there is none, but not when the method is not mounted: whether that is fine
// the caller knows. Tokens that were issued stay.
func (c *Client) DeleteKubernetesAuthRole(ctx context.Context, mount, name string) error {
	return c.deleteRole(ctx, opDeleteKubernetesRole, roleOf(kindKubernetes, mount, name))
}
