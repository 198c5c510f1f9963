package openbao

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// Policies that every server has, which cannot be deleted and give more, or something to everybody.
var builtInPolicies = map[string]bool{"root": true, "default": true}

// ValidatePolicyName says whether a policy may have a name: printable, in lower case because the server keeps it so, without a comma, which
// parts names in lists, and not that of a policy which every server has.
func ValidatePolicyName(name string) error {
	if err := validateSegments(name); err != nil {
		return fmt.Errorf("policy name %q %w", name, err)
	}
	switch {
	case strings.ToLower(name) != name:
		return fmt.Errorf("policy name %q must be in lower case", name)
	case strings.TrimSpace(name) != name || strings.Contains(name, ","):
		return fmt.Errorf("policy name %q must not have a comma, nor spaces around it", name)
	case builtInPolicies[name]:
		return fmt.Errorf("policy %q is the server's own", name)
	}
	return nil
}

// ReadPolicy returns the text of an ACL policy.
func (c *Client) ReadPolicy(ctx context.Context, name string) (string, error) {
	r, err := policyRequest(opReadPolicy, http.MethodGet, name, "read")
	if err != nil {
		return "", err
	}
	var a struct {
		Data struct {
			Policy *string `json:"policy"`
		} `json:"data"`
	}
	if err := c.do(ctx, r, &a); err != nil {
		return "", err
	}
	if a.Data.Policy == nil {
		return "", r.error(ReasonUnreachable, "the answer is not what OpenBao would say")
	}
	return *a.Data.Policy, nil
}

// WritePolicy creates or replaces an ACL policy. The server has no check-and-set for it.
func (c *Client) WritePolicy(ctx context.Context, name, text string) error {
	r, err := policyRequest(opWritePolicy, http.MethodPut, name, "create and update")
	if err != nil {
		return err
	}
	if r.body, err = encode(map[string]any{"policy": text}); err != nil {
		return r.error(ReasonRejected, "the policy cannot be encoded")
	}
	return c.do(ctx, r, nil)
}

// DeletePolicy deletes an ACL policy. It succeeds when there is none.
func (c *Client) DeletePolicy(ctx context.Context, name string) error {
	r, err := policyRequest(opDeletePolicy, http.MethodDelete, name, "delete")
	if err != nil {
		return err
	}
	return c.do(ctx, r, nil)
}

func policyRequest(operation, method, name, capability string) (request, error) {
	r := request{operation: operation, method: method, path: "sys/policies/acl/" + name, mount: "sys/policies/acl", record: name, capability: capability}
	if err := ValidatePolicyName(name); err != nil {
		return r, r.error(ReasonRejected, err.Error())
	}
	return r, nil
}
