package openbao

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// kubernetesModel is an openbao_kubernetes_auth_role.
type kubernetesModel struct {
	roleModel
	BoundServiceAccountNames      types.Set    `tfsdk:"bound_service_account_names"`
	BoundServiceAccountNamespaces types.Set    `tfsdk:"bound_service_account_namespaces"`
	Audience                      types.String `tfsdk:"audience"`
	AliasNameSource               types.String `tfsdk:"alias_name_source"`
}

type kubernetesResource struct{ configured }

func newKubernetesAuthRole() resource.Resource { return &kubernetesResource{} }

// Metadata implements resource.Resource.
func (r *kubernetesResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = TypeName + "_kubernetes_auth_role"
}

// Schema implements resource.Resource.
func (r *kubernetesResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "A role of the Kubernetes authentication method: which service accounts can log in with it, and what their tokens may do.",
		Attributes: roleAttributes("Kubernetes", "kubernetes", map[string]schema.Attribute{
			"bound_service_account_names": schema.SetAttribute{
				Description: "Names of the service accounts that can log in. An asterisk in a name stands for any characters, " +
					"and an asterisk alone, which must then be the only element, for all names. At least one.",
				ElementType: types.StringType,
				Required:    true,
				Validators:  []validator.Set{bound},
			},
			"bound_service_account_namespaces": schema.SetAttribute{
				Description: "Kubernetes namespaces whose service accounts can log in. An asterisk in a name stands for any characters, " +
					"and an asterisk alone, which must then be the only element, for all namespaces. At least one.",
				ElementType: types.StringType,
				Required:    true,
				Validators:  []validator.Set{bound},
			},
			"audience": schema.StringAttribute{
				Description: "Audience that the service account's token must be for. Any when it is not set.",
				Optional:    true, Computed: true,
				Default: stringdefault.StaticString(""),
			},
			"alias_name_source": schema.StringAttribute{
				Description: "What the server knows a service account by: serviceaccount_uid, its uid, with which a service account that is deleted and made " +
					"again is another; or serviceaccount_name, its namespace and name. Defaults to serviceaccount_uid.",
				Optional: true, Computed: true,
				Default:    stringdefault.StaticString(openbao.AliasNameSourceUID),
				Validators: []validator.String{oneOf(openbao.AliasNameSourceUID, openbao.AliasNameSourceName)},
			},
		}),
	}
}

// write the planned role, and return it as the state.
func (r *kubernetesResource) write(ctx context.Context, plan tfsdk.Plan, state *tfsdk.State, d *diag.Diagnostics, verb string) {
	var m kubernetesModel
	if d.Append(plan.Get(ctx, &m)...); d.HasError() {
		return
	}
	if fail(d, verb, "Kubernetes auth role", m.identify()) {
		return
	}
	if fail(d, verb, "Kubernetes auth role", r.api.WriteKubernetesAuthRole(ctx, m.Backend.ValueString(), m.Name.ValueString(), openbao.KubernetesAuthRole{
		BoundServiceAccountNames:      texts(m.BoundServiceAccountNames),
		BoundServiceAccountNamespaces: texts(m.BoundServiceAccountNamespaces),
		Audience:                      m.Audience.ValueString(),
		AliasNameSource:               m.AliasNameSource.ValueString(),
		TokenSettings:                 m.settings(),
	})) {
		return
	}
	d.Append(state.Set(ctx, m)...)
}

// Create implements resource.Resource.
func (r *kubernetesResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	r.write(ctx, req.Plan, &resp.State, &resp.Diagnostics, "create")
}

// Update implements resource.Resource.
func (r *kubernetesResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	r.write(ctx, req.Plan, &resp.State, &resp.Diagnostics, "update")
}

// Read implements resource.Resource.
func (r *kubernetesResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m kubernetesModel
	if resp.Diagnostics.Append(req.State.Get(ctx, &m)...); resp.Diagnostics.HasError() {
		return
	}
	if fail(&resp.Diagnostics, "read", "Kubernetes auth role", m.identify()) {
		return
	}
	got, err := r.api.ReadKubernetesAuthRole(ctx, m.Backend.ValueString(), m.Name.ValueString())
	if openbao.IsNotFound(err) {
		resp.State.RemoveResource(ctx)
		return
	}
	if fail(&resp.Diagnostics, "read", "Kubernetes auth role", err) {
		return
	}
	m.observe(got.TokenSettings)
	m.BoundServiceAccountNames = observed(m.BoundServiceAccountNames, got.BoundServiceAccountNames)
	m.BoundServiceAccountNamespaces = observed(m.BoundServiceAccountNamespaces, got.BoundServiceAccountNamespaces)
	m.Audience = types.StringValue(got.Audience)
	m.AliasNameSource = types.StringValue(got.AliasNameSource)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// Delete implements resource.Resource.
func (r *kubernetesResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m kubernetesModel
	if resp.Diagnostics.Append(req.State.Get(ctx, &m)...); resp.Diagnostics.HasError() {
		return
	}
	if fail(&resp.Diagnostics, "delete", "Kubernetes auth role", m.identify()) {
		return
	}
	fail(&resp.Diagnostics, "delete", "Kubernetes auth role", gone(r.api.DeleteKubernetesAuthRole(ctx, m.Backend.ValueString(), m.Name.ValueString())))
}

// ImportState implements resource.ResourceWithImportState.
func (r *kubernetesResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}
