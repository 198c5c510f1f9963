// Package openbao is a Terraform provider for access to OpenBao: ACL policies, and the roles of the Kubernetes and AppRole authentication
// methods. It is a plain provider of the Terraform Plugin Framework that could be served to Terraform. Here it is the source of the
// generated Crossplane kinds, whose fields and descriptions are the schemas of this package, and which call its resources in the same
// process.
//
// What it manages carries no secrets, and neither does its state: a secret id of an AppRole role is never made or read.
package openbao

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// TypeName of the provider, with which the names of its resources start.
const TypeName = "openbao"

// An Option of the provider.
type Option func(*baoProvider)

// WithAPI serves the resources with a client that the process has already. The provider's configuration is then not looked at.
func WithAPI(api API) Option {
	return func(p *baoProvider) { p.api = api }
}

// New returns what makes providers of the given version.
func New(version string, opts ...Option) func() provider.Provider {
	return func() provider.Provider {
		p := &baoProvider{version: version}
		for _, o := range opts {
			o(p)
		}
		return p
	}
}

type baoProvider struct {
	version string
	// api is set by WithAPI.
	api API
}

var _ provider.Provider = &baoProvider{}

// providerModel is the configuration of the provider.
type providerModel struct {
	Address   types.String `tfsdk:"address"`
	Namespace types.String `tfsdk:"namespace"`
	CACert    types.String `tfsdk:"ca_cert"`
	Token     types.String `tfsdk:"token"`
}

// Metadata implements provider.Provider.
func (p *baoProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = TypeName, p.version
}

// Schema implements provider.Provider.
func (p *baoProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "Manages access to an OpenBao server: ACL policies, and roles of the Kubernetes and AppRole authentication methods.",
		Attributes: map[string]schema.Attribute{
			"address": schema.StringAttribute{
				Description: "URL of the server, http or https, optionally with a path prefix, for example https://openbao.example:8200.",
				Optional:    true,
			},
			"namespace": schema.StringAttribute{
				Description: "Namespace of the server that everything is in. The root namespace when it is not set.",
				Optional:    true,
			},
			"ca_cert": schema.StringAttribute{
				Description: "Certificates in PEM that the server's certificate is verified with. Those of the system when it is not set.",
				Optional:    true,
			},
			"token": schema.StringAttribute{
				Description: "Token that the server is used with. It is renewed when it can be, and never replaced.",
				Optional:    true,
				Sensitive:   true,
			},
		},
	}
}

// Configure implements provider.Provider.
func (p *baoProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	if p.api != nil {
		resp.ResourceData = p.api
		return
	}
	var m providerModel
	if resp.Diagnostics.Append(req.Config.Get(ctx, &m)...); resp.Diagnostics.HasError() {
		return
	}
	for name, v := range map[string]types.String{"address": m.Address, "namespace": m.Namespace, "ca_cert": m.CACert, "token": m.Token} {
		if v.IsUnknown() {
			resp.Diagnostics.AddAttributeError(path.Root(name), "The configuration is not known yet", name+" must be known before the server can be used.")
		}
	}
	if resp.Diagnostics.HasError() {
		return
	}
	c, err := openbao.New(openbao.Config{
		Address:   m.Address.ValueString(),
		Namespace: m.Namespace.ValueString(),
		CABundle:  []byte(m.CACert.ValueString()),
		Auth:      openbao.Auth{Token: m.Token.ValueString()},
	})
	if err != nil {
		resp.Diagnostics.AddError("Cannot use the configuration", err.Error())
		return
	}
	resp.ResourceData = API(c)
}

// Resources implements provider.Provider.
func (p *baoProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newPolicy, newKubernetesAuthRole, newAppRoleRole}
}

// DataSources implements provider.Provider. There are none.
func (p *baoProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }
