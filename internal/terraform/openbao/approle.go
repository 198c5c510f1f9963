package openbao

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// appRole is openbao_approle_role.
type appRole struct{}

type appRoleModel struct {
	roleNames
	tokenModel

	RoleID             types.String `tfsdk:"role_id"`
	BindSecretID       types.Bool   `tfsdk:"bind_secret_id"`
	SecretIDBoundCIDRs types.Set    `tfsdk:"secret_id_bound_cidrs"`
	SecretIDNumUses    types.Int64  `tfsdk:"secret_id_num_uses"`
	SecretIDTTL        types.Int64  `tfsdk:"secret_id_ttl"`
}

func (appRole) suffix() string      { return "approle_role" }
func (appRole) description() string { return "A role of the AppRole auth method." }
func (appRole) backend() string     { return "approle" }

func (appRole) attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"role_id": schema.StringAttribute{
			Optional: true, Computed: true,
			Description:   "Identifier that logs in, together with a secret id where one is asked for. It is no secret. Default: the server chooses one.",
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"bind_secret_id":        boolean("Whether a secret id is asked for. Default: true.", true),
		"secret_id_bound_cidrs": set("Addresses, or blocks of addresses, that may log in with a secret id. Default: all."),
		"secret_id_num_uses":    number("How often a secret id can log in. Default: 0, for no limit."),
		"secret_id_ttl":         seconds("How long a secret id can be used, in seconds. Default: 0, for ever."),
	}
}

func (appRole) names(m *appRoleModel) *roleNames { return &m.roleNames }

func (appRole) read(ctx context.Context, a API, m *appRoleModel, d *diag.Diagnostics) error {
	mount, name := m.at()
	role, err := a.ReadAppRoleRole(ctx, mount, name)
	if err != nil {
		return err
	}
	m.RoleID, m.BindSecretID = types.StringValue(role.RoleID), types.BoolValue(role.BindSecretID)
	m.SecretIDBoundCIDRs = merge(ctx, m.SecretIDBoundCIDRs, role.SecretIDBoundCIDRs, foldCIDR, d)
	m.SecretIDNumUses, m.SecretIDTTL = types.Int64Value(role.SecretIDNumUses), types.Int64Value(role.SecretIDTTL)
	m.set(ctx, role.TokenParameters, d)
	return nil
}

func (appRole) write(ctx context.Context, a API, m *appRoleModel, d *diag.Diagnostics) error {
	role := openbao.AppRoleRole{
		RoleID:             m.RoleID.ValueString(),
		BindSecretID:       m.BindSecretID.ValueBool(),
		SecretIDBoundCIDRs: strs(ctx, m.SecretIDBoundCIDRs, d),
		SecretIDNumUses:    m.SecretIDNumUses.ValueInt64(),
		SecretIDTTL:        m.SecretIDTTL.ValueInt64(),
		TokenParameters:    m.parameters(ctx, d),
	}
	if d.HasError() {
		return nil
	}
	mount, name := m.at()
	return a.WriteAppRoleRole(ctx, mount, name, role)
}

func (appRole) remove(ctx context.Context, a API, mount, name string) error {
	return a.DeleteAppRoleRole(ctx, mount, name)
}
