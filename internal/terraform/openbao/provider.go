// Package openbao is a Terraform provider for access to OpenBao: ACL policies, and roles of the Kubernetes and AppRole auth methods.
//
// It is a conventional provider of Terraform's Plugin Framework. A process that has a client of its own gives it with WithAPI; otherwise the
// provider's configuration says how to reach the server.
package openbao

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// TypeName of the provider, which the names of its resources begin with.
const TypeName = "openbao"

// API is what the resources call. An absent object is an error for which openbao.IsNotFound is true; deleting one is none.
type API interface {
	ReadPolicy(ctx context.Context, name string) (string, error)
	WritePolicy(ctx context.Context, name, text string) error
	DeletePolicy(ctx context.Context, name string) error

	ReadKubernetesAuthRole(ctx context.Context, mount, name string) (openbao.KubernetesAuthRole, error)
	WriteKubernetesAuthRole(ctx context.Context, mount, name string, role openbao.KubernetesAuthRole) error
	DeleteKubernetesAuthRole(ctx context.Context, mount, name string) error

	ReadAppRoleRole(ctx context.Context, mount, name string) (openbao.AppRoleRole, error)
	WriteAppRoleRole(ctx context.Context, mount, name string, role openbao.AppRoleRole) error
	DeleteAppRoleRole(ctx context.Context, mount, name string) error
}

var (
	_ API               = &openbao.Client{}
	_ provider.Provider = &terraformProvider{}
)

// An Option of a provider.
type Option func(*terraformProvider)

// WithAPI has the resources call an API that is there already. The provider's configuration is not used then.
func WithAPI(a API) Option {
	return func(p *terraformProvider) { p.api = a }
}

// New returns what makes the provider.
func New(version string, opts ...Option) func() provider.Provider {
	return func() provider.Provider {
		p := &terraformProvider{version: version}
		for _, o := range opts {
			o(p)
		}
		return p
	}
}

type terraformProvider struct {
	version string
	api     API
}

// configuration of the provider.
type configuration struct {
	Address   types.String `tfsdk:"address"`
	Namespace types.String `tfsdk:"namespace"`
	CACert    types.String `tfsdk:"ca_cert"`
	Token     types.String `tfsdk:"token"`
}

// Metadata implements provider.Provider.
func (p *terraformProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = TypeName, p.version
}

// Schema implements provider.Provider.
func (p *terraformProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "Access to OpenBao: policies and the roles that log in with them.",
		Attributes: map[string]schema.Attribute{
			"address":   schema.StringAttribute{Optional: true, Description: "URL of the server, http or https."},
			"namespace": schema.StringAttribute{Optional: true, Description: "Namespace of OpenBao that all calls go to. Default: the root namespace."},
			"ca_cert":   schema.StringAttribute{Optional: true, Description: "PEM bundle of CA certificates that the server is verified with. Default: the system's."},
			"token":     schema.StringAttribute{Optional: true, Sensitive: true, Description: "Token that the provider authenticates with."},
		},
	}
}

// Configure implements provider.Provider.
func (p *terraformProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	if p.api != nil {
		resp.ResourceData = p.api
		return
	}
	var c configuration
	resp.Diagnostics.Append(req.Config.Get(ctx, &c)...)
	if resp.Diagnostics.HasError() {
		return
	}
	client, err := openbao.New(openbao.Config{
		Address:   c.Address.ValueString(),
		Namespace: c.Namespace.ValueString(),
		CABundle:  []byte(c.CACert.ValueString()),
		Auth:      openbao.Auth{Token: c.Token.ValueString()},
	})
	if err != nil {
		resp.Diagnostics.AddError("Cannot use the provider's configuration", err.Error())
		return
	}
	resp.ResourceData = client
}

// DataSources implements provider.Provider. There are none.
func (p *terraformProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }

// Resources implements provider.Provider.
func (p *terraformProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		func() resource.Resource { return &policyResource{} },
		func() resource.Resource { return newRole(kubernetesRole{}) },
		func() resource.Resource { return newRole(appRole{}) },
	}
}
