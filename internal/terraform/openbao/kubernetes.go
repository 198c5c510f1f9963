package openbao

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// kubernetesRole is openbao_kubernetes_auth_role.
type kubernetesRole struct{}

type kubernetesModel struct {
	roleNames
	tokenModel

	ServiceAccountNames      types.Set    `tfsdk:"bound_service_account_names"`
	ServiceAccountNamespaces types.Set    `tfsdk:"bound_service_account_namespaces"`
	Audience                 types.String `tfsdk:"audience"`
	AliasNameSource          types.String `tfsdk:"alias_name_source"`
}

func (kubernetesRole) suffix() string      { return "kubernetes_auth_role" }
func (kubernetesRole) description() string { return "A role of the Kubernetes auth method." }
func (kubernetesRole) backend() string     { return "kubernetes" }

func (kubernetesRole) attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"bound_service_account_names": schema.SetAttribute{
			Required: true, ElementType: types.StringType,
			Description: "Names of the ServiceAccounts that may log in. * is all of the namespaces.",
		},
		"bound_service_account_namespaces": schema.SetAttribute{
			Required: true, ElementType: types.StringType,
			Description: "Namespaces of the ServiceAccounts that may log in. * is all namespaces.",
		},
		"audience":          text("Audience that a ServiceAccount's token must be for. Default: any.", ""),
		"alias_name_source": text("What an identity is named after: serviceaccount_uid or serviceaccount_name. Default: serviceaccount_uid.", "serviceaccount_uid"),
	}
}

func (kubernetesRole) names(m *kubernetesModel) *roleNames { return &m.roleNames }

func (kubernetesRole) read(ctx context.Context, a API, m *kubernetesModel, d *diag.Diagnostics) error {
	mount, name := m.at()
	role, err := a.ReadKubernetesAuthRole(ctx, mount, name)
	if err != nil {
		return err
	}
	m.ServiceAccountNames = merge(ctx, m.ServiceAccountNames, role.ServiceAccountNames, same, d)
	m.ServiceAccountNamespaces = merge(ctx, m.ServiceAccountNamespaces, role.ServiceAccountNamespaces, same, d)
	m.Audience, m.AliasNameSource = types.StringValue(role.Audience), types.StringValue(role.AliasNameSource)
	m.set(ctx, role.TokenParameters, d)
	return nil
}

func (kubernetesRole) write(ctx context.Context, a API, m *kubernetesModel, d *diag.Diagnostics) error {
	role := openbao.KubernetesAuthRole{
		ServiceAccountNames:      strs(ctx, m.ServiceAccountNames, d),
		ServiceAccountNamespaces: strs(ctx, m.ServiceAccountNamespaces, d),
		Audience:                 m.Audience.ValueString(),
		AliasNameSource:          m.AliasNameSource.ValueString(),
		TokenParameters:          m.parameters(ctx, d),
	}
	if d.HasError() {
		return nil
	}
	mount, name := m.at()
	return a.WriteKubernetesAuthRole(ctx, mount, name, role)
}

func (kubernetesRole) remove(ctx context.Context, a API, mount, name string) error {
	return a.DeleteKubernetesAuthRole(ctx, mount, name)
}
