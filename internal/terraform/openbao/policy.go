package openbao

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

var (
	_ resource.ResourceWithConfigure   = &policyResource{}
	_ resource.ResourceWithImportState = &policyResource{}
)

// policyResource is openbao_policy.
type policyResource struct{ api API }

type policyModel struct {
	ID     types.String `tfsdk:"id"`
	Name   types.String `tfsdk:"name"`
	Policy types.String `tfsdk:"policy"`
}

// Metadata implements resource.Resource.
func (r *policyResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_policy"
}

// Schema implements resource.Resource.
func (r *policyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "An ACL policy.",
		Attributes: map[string]schema.Attribute{
			"id": idAttribute("The policy's name."),
			"name": schema.StringAttribute{
				Required:      true,
				Description:   "Name of the policy, in lower case.",
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
				Validators:    []validator.String{valid(openbao.ValidatePolicyName)},
			},
			"policy": schema.StringAttribute{
				Required:    true,
				Description: "Rules of the policy, in HCL or JSON as OpenBao reads them: path \"kv/data/shop\" { capabilities = [\"read\"] }.",
			},
		},
	}
}

// Configure implements resource.ResourceWithConfigure.
func (r *policyResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.api = apiOf(req, resp)
}

// Create implements resource.Resource.
func (r *policyResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m policyModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := r.api.WritePolicy(ctx, m.Name.ValueString(), m.Policy.ValueString()); err != nil {
		resp.Diagnostics.AddError("Cannot create policy", err.Error())
		return
	}
	m.ID = m.Name
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// Read implements resource.Resource.
func (r *policyResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m policyModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	text, err := r.api.ReadPolicy(ctx, m.Name.ValueString())
	if openbao.IsNotFound(err) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.AddError("Cannot read policy", err.Error())
		return
	}
	// Space around the text means nothing, and servers differ in whether they keep it.
	if strings.TrimSpace(text) != strings.TrimSpace(m.Policy.ValueString()) {
		m.Policy = types.StringValue(text)
	}
	m.ID = m.Name
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// Update implements resource.Resource.
func (r *policyResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m policyModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := r.api.WritePolicy(ctx, m.Name.ValueString(), m.Policy.ValueString()); err != nil {
		resp.Diagnostics.AddError("Cannot update policy", err.Error())
		return
	}
	m.ID = m.Name
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// Delete implements resource.Resource.
func (r *policyResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m policyModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := r.api.DeletePolicy(ctx, m.Name.ValueString()); err != nil && !openbao.IsNotFound(err) {
		resp.Diagnostics.AddError("Cannot delete policy", err.Error())
	}
}

// ImportState implements resource.ResourceWithImportState. The identifier is the policy's name.
func (r *policyResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("name"), req, resp)
}
