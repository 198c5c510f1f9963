package openbao

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// configured is the part of each resource that holds the server.
type configured struct{ api API }

// Configure implements resource.ResourceWithConfigure.
func (c *configured) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	if req.ProviderData == nil {
		return // The provider is not configured yet: nothing but validation will be asked for.
	}
	api, ok := req.ProviderData.(API)
	if !ok {
		resp.Diagnostics.AddError("Cannot use the provider", fmt.Sprintf("the provider handed on a %T.", req.ProviderData))
		return
	}
	c.api = api
}

var (
	_ resource.ResourceWithConfigure   = &policyResource{}
	_ resource.ResourceWithImportState = &policyResource{}
	_ resource.ResourceWithConfigure   = &kubernetesResource{}
	_ resource.ResourceWithImportState = &kubernetesResource{}
	_ resource.ResourceWithConfigure   = &appRoleResource{}
	_ resource.ResourceWithImportState = &appRoleResource{}
)

// fail adds what a call said to diagnostics, and says whether it failed.
func fail(d *diag.Diagnostics, verb, kind string, err error) bool {
	if err != nil {
		d.AddError(fmt.Sprintf("Cannot %s %s", verb, kind), err.Error())
	}
	return err != nil
}

// gone says whether a deletion has left nothing. Where the authentication method is not mounted there are no roles.
func gone(err error) error {
	if openbao.IsNotFound(err) || openbao.IsMountNotFound(err) {
		return nil
	}
	return err
}

// identify the role by its id where the state has no more than that, as after an import.
func (m *roleModel) identify() error {
	if !m.Backend.IsNull() && !m.Name.IsNull() {
		m.ID = types.StringValue(m.Backend.ValueString() + "/" + m.Name.ValueString())
		return nil
	}
	// The name has no slash, but the path of a mount can have some.
	id := m.ID.ValueString()
	i := strings.LastIndex(id, "/")
	if i < 0 {
		return fmt.Errorf("the id of a role must be its backend and its name with a slash between them, not %q", id)
	}
	m.Backend, m.Name = types.StringValue(id[:i]), types.StringValue(id[i+1:])
	if err := openbao.ValidateMount(id[:i]); err != nil {
		return err
	}
	return openbao.ValidateRoleName(id[i+1:])
}
