package openbao

import (
	"context"
	"net/http"
)

// policyRequest returns a request about an ACL policy. Policies have no secrets: what the server says about them can be repeated.
func policyRequest(operation, method, name, capability string) (request, error) {
	r := request{operation: operation, method: method, path: "sys/policies/acl/" + name, object: name, capability: capability}
	if err := ValidatePolicyName(name); err != nil {
		return r, r.error(ReasonRejected, err.Error())
	}
	return r, nil
}

// ReadPolicy returns the text of an ACL policy. IsNotFound is true when there is none of the name.
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
		return "", r.error(ReasonUnreachable, "the answer has no policy")
	}
	return *a.Data.Policy, nil
}

// WritePolicy makes an ACL policy, or replaces the text of the one that is there, whoever made it: the server has no check-and-set here
// that all versions know. The text is kept as it is.
func (c *Client) WritePolicy(ctx context.Context, name, policy string) error {
	r, err := policyRequest(opWritePolicy, http.MethodPut, name, "create and update")
	if err != nil {
		return err
	}
	if err := ValidatePolicyText(policy); err != nil {
		return r.error(ReasonRejected, err.Error())
	}
	if r.body, err = encode(map[string]string{"policy": policy}); err != nil {
		return r.error(ReasonRejected, "the policy cannot be encoded")
	}
	return c.do(ctx, r, nil)
}

// DeletePolicy removes an ACL policy. It succeeds when there is none. Tokens that have the policy lose what it gave them at once.
func (c *Client) DeletePolicy(ctx context.Context, name string) error {
	r, err := policyRequest(opDeletePolicy, http.MethodDelete, name, "delete")
	if err != nil {
		return err
	}
	return c.do(ctx, r, nil)
}
