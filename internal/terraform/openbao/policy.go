package openbao

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// policyModel is an openbao_policy.
type policyModel struct {
	ID     types.String `tfsdk:"id"`
	Name   types.String `tfsdk:"name"`
	Policy types.String `tfsdk:"policy"`
}

// identify the policy by its id where the state has no more than that, as after an import.
func (m *policyModel) identify() {
	if m.Name.IsNull() {
		m.Name = m.ID
	}
	m.ID = m.Name
}

type policyResource struct{ configured }

func newPolicy() resource.Resource { return &policyResource{} }

// Metadata implements resource.Resource.
func (r *policyResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = TypeName + "_policy"
}

// Schema implements resource.Resource.
func (r *policyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "An ACL policy: which paths of the server a token that has it may use, and how.",
		Attributes: map[string]schema.Attribute{
			"id": idAttribute("Identifier of the policy, which is its name."),
			"name": schema.StringAttribute{
				Description: "Name of the policy, without slashes, commas and two dots in a row. It must be lower case, because the server knows names in lower case only. " +
					"The policies root, default, response-wrapping and control-group are the server's own and cannot be managed. " +
					"Another name makes another policy.",
				Required:      true,
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
				Validators:    []validator.String{policyName},
			},
			"policy": schema.StringAttribute{
				Description: "Text of the policy in HCL or JSON, as OpenBao documents it. It must not be empty, and not be encoded as base64. " +
					"White space around it is of no account.",
				Required:   true,
				Validators: []validator.String{policyText},
			},
		},
	}
}

// write the planned policy, and return it as the state.
func (r *policyResource) write(ctx context.Context, plan tfsdk.Plan, state *tfsdk.State, d *diag.Diagnostics, verb string) {
	var m policyModel
	if d.Append(plan.Get(ctx, &m)...); d.HasError() {
		return
	}
	if fail(d, verb, "policy", r.api.WritePolicy(ctx, m.Name.ValueString(), m.Policy.ValueString())) {
		return
	}
	m.identify()
	d.Append(state.Set(ctx, m)...)
}

// Create implements resource.Resource.
func (r *policyResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	r.write(ctx, req.Plan, &resp.State, &resp.Diagnostics, "create")
}

// Update implements resource.Resource.
func (r *policyResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	r.write(ctx, req.Plan, &resp.State, &resp.Diagnostics, "update")
}

// Read implements resource.Resource.
func (r *policyResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m policyModel
	if resp.Diagnostics.Append(req.State.Get(ctx, &m)...); resp.Diagnostics.HasError() {
		return
	}
	m.identify()
	got, err := r.api.ReadPolicy(ctx, m.Name.ValueString())
	if openbao.IsNotFound(err) {
		resp.State.RemoveResource(ctx)
		return
	}
	if fail(&resp.Diagnostics, "read", "policy", err) {
		return
	}
	// White space around a policy means nothing, and not every server keeps it.
	if m.Policy.IsNull() || strings.TrimSpace(got) != strings.TrimSpace(m.Policy.ValueString()) {
		m.Policy = types.StringValue(got)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// Delete implements resource.Resource.
func (r *policyResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m policyModel
	if resp.Diagnostics.Append(req.State.Get(ctx, &m)...); resp.Diagnostics.HasError() {
		return
	}
	m.identify()
	fail(&resp.Diagnostics, "delete", "policy", gone(r.api.DeletePolicy(ctx, m.Name.ValueString())))
}

// ImportState implements resource.ResourceWithImportState.
func (r *policyResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}
