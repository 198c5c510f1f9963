package openbao

import (
	"context"
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// A roleKind is what differs between the roles of auth methods.
type roleKind[M any] interface {
	// suffix of the resource's name.
	suffix() string
	description() string
	// backend is the default path of the auth method.
	backend() string
	// attributes that are not those of every role.
	attributes() map[string]schema.Attribute
	// names of the role in a model.
	names(m *M) *roleNames
	// read the server's role into a model, which holds what is known of it.
	read(ctx context.Context, a API, m *M, d *diag.Diagnostics) error
	// write a model.
	write(ctx context.Context, a API, m *M, d *diag.Diagnostics) error
	remove(ctx context.Context, a API, mount, name string) error
}

// roleNames are the attributes that identify a role.
type roleNames struct {
	ID      types.String `tfsdk:"id"`
	Backend types.String `tfsdk:"backend"`
	Name    types.String `tfsdk:"name"`
}

func (n roleNames) at() (mount, name string) { return n.Backend.ValueString(), n.Name.ValueString() }

// setID of a role, which follows from its names.
func (n *roleNames) setID() {
	n.ID = types.StringValue(n.Backend.ValueString() + "/" + n.Name.ValueString())
}

// roleResource is a role of some kind.
type roleResource[M any] struct {
	kind roleKind[M]
	api  API
}

func newRole[M any](k roleKind[M]) resource.ResourceWithImportState { return &roleResource[M]{kind: k} }

// Metadata implements resource.Resource.
func (r *roleResource[M]) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.kind.suffix()
}

// Schema implements resource.Resource.
func (r *roleResource[M]) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"id": idAttribute("Path of the auth method and name of the role, with a slash between them."),
		"backend": schema.StringAttribute{
			Optional: true, Computed: true, Default: stringdefault.StaticString(r.kind.backend()),
			Description:   "Path at which the auth method is mounted, without auth/. Default: " + r.kind.backend() + ".",
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
		},
		"name": schema.StringAttribute{
			Required:      true,
			Description:   "Name of the role, in lower case.",
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			Validators:    []validator.String{valid(openbao.ValidateRoleName)},
		},
	}
	maps.Copy(attributes, tokenAttributes())
	maps.Copy(attributes, r.kind.attributes())
	resp.Schema = schema.Schema{Description: r.kind.description(), Attributes: attributes}
}

// Configure implements resource.ResourceWithConfigure.
func (r *roleResource[M]) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.api = apiOf(req, resp)
}

// Create implements resource.Resource.
func (r *roleResource[M]) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m M
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if r.write(ctx, "create", &m, &resp.Diagnostics) {
		resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
	}
}

// Update implements resource.Resource.
func (r *roleResource[M]) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m M
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if r.write(ctx, "update", &m, &resp.Diagnostics) {
		resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
	}
}

// write a model, and read what the server filled in. It is false when something failed.
func (r *roleResource[M]) write(ctx context.Context, verb string, m *M, d *diag.Diagnostics) bool {
	if d.HasError() {
		return false
	}
	if err := r.kind.write(ctx, r.api, m, d); err != nil {
		d.AddError("Cannot "+verb+" role", err.Error())
		return false
	}
	if err := r.kind.read(ctx, r.api, m, d); err != nil {
		d.AddError("Cannot read role", err.Error())
		return false
	}
	r.kind.names(m).setID()
	return !d.HasError()
}

// Read implements resource.Resource.
func (r *roleResource[M]) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m M
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	err := r.kind.read(ctx, r.api, &m, &resp.Diagnostics)
	if openbao.IsNotFound(err) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.AddError("Cannot read role", err.Error())
		return
	}
	r.kind.names(&m).setID()
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// Delete implements resource.Resource.
func (r *roleResource[M]) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m M
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	mount, name := r.kind.names(&m).at()
	if err := r.kind.remove(ctx, r.api, mount, name); err != nil && !openbao.IsNotFound(err) {
		resp.Diagnostics.AddError("Cannot delete role", err.Error())
	}
}

// ImportState implements resource.ResourceWithImportState. The identifier is <backend>/<name>; a name holds no slash.
func (r *roleResource[M]) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	i := strings.LastIndex(req.ID, "/")
	if i <= 0 || i == len(req.ID)-1 {
		resp.Diagnostics.AddError("Invalid identifier", "It must be <backend>/<name>, for example "+r.kind.backend()+"/shop.")
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("backend"), req.ID[:i])...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("name"), req.ID[i+1:])...)
}
