package openbao

import (
	"context"

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

// appRoleModel is an openbao_approle_role.
type appRoleModel struct {
	roleModel
	RoleID             types.String `tfsdk:"role_id"`
	BindSecretID       types.Bool   `tfsdk:"bind_secret_id"`
	SecretIDBoundCIDRs types.Set    `tfsdk:"secret_id_bound_cidrs"`
	SecretIDNumUses    types.Int64  `tfsdk:"secret_id_num_uses"`
	SecretIDTTL        types.Int64  `tfsdk:"secret_id_ttl"`
}

type appRoleResource struct{ configured }

func newAppRoleRole() resource.Resource { return &appRoleResource{} }

// Metadata implements resource.Resource.
func (r *appRoleResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = TypeName + "_approle_role"
}

// Schema implements resource.Resource.
func (r *appRoleResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "A role of the AppRole authentication method: how machines can log in with it, and what their tokens may do. " +
			"Secret ids are not managed: they are secrets, and are made by whoever hands them out.",
		Attributes: roleAttributes("AppRole", "approle", map[string]schema.Attribute{
			"role_id": schema.StringAttribute{
				Description: "Role id that logins name the role by, which no other role of the backend can have. It is not a secret by itself. " +
					"The server chooses one when it is not set, and it stays when it is not set any more.",
				Optional: true, Computed: true,
				PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
				Validators:    []validator.String{roleID},
			},
			"bind_secret_id": flag("Whether a login must present a secret id. When it need not, secret_id_bound_cidrs or token_bound_cidrs must be set. "+
				"Defaults to true.", true),
			"secret_id_bound_cidrs": stringSet("Blocks of addresses in CIDR notation from which a client can log in with a secret id. "+
				"All when it is empty.", each(block)),
			"secret_id_num_uses": count("How many logins a secret id that is made for the role is good for. Defaults to 0, with which there is no limit."),
			"secret_id_ttl":      seconds("How long a secret id that is made for the role lives. Defaults to 0, with which it does not end."),
		}),
	}
}

// write the planned role, and return it as the state.
func (r *appRoleResource) write(ctx context.Context, plan tfsdk.Plan, state *tfsdk.State, d *diag.Diagnostics, verb string) {
	var m appRoleModel
	if d.Append(plan.Get(ctx, &m)...); d.HasError() {
		return
	}
	if fail(d, verb, "AppRole role", m.identify()) {
		return
	}
	backend, name := m.Backend.ValueString(), m.Name.ValueString()
	if fail(d, verb, "AppRole role", r.api.WriteAppRoleRole(ctx, backend, name, openbao.AppRoleRole{
		RoleID:             m.RoleID.ValueString(),
		BindSecretID:       m.BindSecretID.ValueBool(),
		SecretIDBoundCIDRs: texts(m.SecretIDBoundCIDRs),
		SecretIDNumUses:    m.SecretIDNumUses.ValueInt64(),
		SecretIDTTL:        m.SecretIDTTL.ValueInt64(),
		TokenSettings:      m.settings(),
	})) {
		return
	}
	if m.RoleID.IsUnknown() {
		// Without its role id the role is there all the same, and the next read finds the id.
		m.RoleID = types.StringNull()
		got, err := r.api.ReadAppRoleRole(ctx, backend, name)
		if err != nil {
			d.AddWarning("Cannot read the role id of the AppRole role", err.Error())
		} else {
			m.RoleID = types.StringValue(got.RoleID)
		}
	}
	d.Append(state.Set(ctx, m)...)
}

// Create implements resource.Resource.
func (r *appRoleResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	r.write(ctx, req.Plan, &resp.State, &resp.Diagnostics, "create")
}

// Update implements resource.Resource.
func (r *appRoleResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	r.write(ctx, req.Plan, &resp.State, &resp.Diagnostics, "update")
}

// Read implements resource.Resource.
func (r *appRoleResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m appRoleModel
	if resp.Diagnostics.Append(req.State.Get(ctx, &m)...); resp.Diagnostics.HasError() {
		return
	}
	if fail(&resp.Diagnostics, "read", "AppRole role", m.identify()) {
		return
	}
	got, err := r.api.ReadAppRoleRole(ctx, m.Backend.ValueString(), m.Name.ValueString())
	if openbao.IsNotFound(err) {
		resp.State.RemoveResource(ctx)
		return
	}
	if fail(&resp.Diagnostics, "read", "AppRole role", err) {
		return
	}
	m.observe(got.TokenSettings)
	m.RoleID = types.StringValue(got.RoleID)
	m.BindSecretID = types.BoolValue(got.BindSecretID)
	m.SecretIDBoundCIDRs = observed(m.SecretIDBoundCIDRs, got.SecretIDBoundCIDRs)
	m.SecretIDNumUses = types.Int64Value(got.SecretIDNumUses)
	m.SecretIDTTL = types.Int64Value(got.SecretIDTTL)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// Delete implements resource.Resource.
func (r *appRoleResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m appRoleModel
	if resp.Diagnostics.Append(req.State.Get(ctx, &m)...); resp.Diagnostics.HasError() {
		return
	}
	if fail(&resp.Diagnostics, "delete", "AppRole role", m.identify()) {
		return
	}
	fail(&resp.Diagnostics, "delete", "AppRole role", gone(r.api.DeleteAppRoleRole(ctx, m.Backend.ValueString(), m.Name.ValueString())))
}

// ImportState implements resource.ResourceWithImportState.
func (r *appRoleResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}
