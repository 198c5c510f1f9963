// Package config says how the resources of the Terraform provider become managed resources: which, under what names, and what of their
// schema is particular to Kubernetes. The generator of the Go types and the controllers read the same configuration.
package config

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/upjet/v2/pkg/config"
	"github.com/crossplane/upjet/v2/pkg/registry"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"

	"github.com/ryuvia/provider-terdut/internal/terraform/openbao"
	"github.com/ryuvia/provider-terdut/internal/version"
)

const (
	// Group of the generated kinds.
	Group = "access.openbao.terdut.ryuvia.com"

	// modulePath is this module's.
	modulePath = "github.com/ryuvia/provider-terdut"
	// prefix of the resources' names.
	prefix = "openbao"
	// metadata that upjet would read from a registry's pages. Ours are with each kind.
	metadata = "name: ryuvia/openbao\nresources: {}\n"
)

// A kind is how a resource appears in Kubernetes.
type kind struct {
	name        string
	description string
	// external says how the external name and the resource's identifier follow from one another.
	external config.ExternalName
	// markers of fields, for the definitions.
	markers map[string][]string
}

// kinds by the names of their resources.
var kinds = map[string]kind{
	"openbao_policy": {
		name:        "Policy",
		description: "A Policy is an ACL policy of OpenBao. Its external name is the policy's.",
		external:    config.NameAsIdentifier,
		markers: map[string][]string{
			"policy": {
				"Here it must be HCL: whose a policy is stands in a comment in its first line, and JSON has none.",
				"+kubebuilder:validation:MinLength=1", "+kubebuilder:validation:MaxLength=65536",
				`+kubebuilder:validation:XValidation:rule="!self.matches('^[[:space:]]*[{]')",message="policy must be HCL, not JSON"`,
			},
		},
	},
	"openbao_kubernetes_auth_role": {
		name:        "KubernetesAuthRole",
		description: "A KubernetesAuthRole is a role of OpenBao's Kubernetes auth method: which ServiceAccounts may log in, and what they may do then. Its external name is the role's.",
		external:    roleName(),
		markers:     roleMarkers("kubernetes"),
	},
	"openbao_approle_role": {
		name:        "AppRole",
		description: "An AppRole is a role of OpenBao's AppRole auth method. Its external name is the role's. Secret ids are not made here.",
		external:    roleName(),
		markers:     roleMarkers("approle"),
	},
}

// roleName is how a role is identified: by the path of its auth method and its name, of which the latter is the external name.
func roleName() config.ExternalName {
	return config.TemplatedStringAsIdentifier("name", "{{ .parameters.backend }}/{{ .external_name }}")
}

// roleMarkers of the fields that roles have. What the server would refuse, or write in another way than it was sent, is refused here.
func roleMarkers(backend string) map[string][]string {
	return map[string][]string{
		"backend": {
			"+kubebuilder:default=" + backend,
			"+kubebuilder:validation:MinLength=1",
			"+kubebuilder:validation:MaxLength=128",
			`+kubebuilder:validation:XValidation:rule="self == oldSelf",message="backend is immutable"`,
			`+kubebuilder:validation:XValidation:rule="self.split('/').all(s, s.size() > 0 && s != '.' && s != '..')",message="backend must not have empty, . or .. segments, nor a leading or trailing slash"`,
		},
		"role_id":                          {"+kubebuilder:validation:MinLength=1", "+kubebuilder:validation:MaxLength=512"},
		"audience":                         {"+kubebuilder:validation:MaxLength=253"},
		"alias_name_source":                {"+kubebuilder:validation:Enum=serviceaccount_uid;serviceaccount_name"},
		"bound_service_account_names":      list(253, "+kubebuilder:validation:MinItems=1"),
		"bound_service_account_namespaces": list(63, "+kubebuilder:validation:MinItems=1"),
		"secret_id_bound_cidrs":            list(49),
		"token_bound_cidrs":                list(49),
		"token_policies": list(512,
			`+kubebuilder:validation:XValidation:rule="self.all(p, p.matches('^[^A-Z,[:space:]]+$') && p != 'root' && !p.startsWith('terdut-owner:'))",message="token policies must be in lower case, without commas and spaces, and must neither be root nor begin with terdut-owner:"`),
		"token_type": {"+kubebuilder:validation:Enum=default;service;batch"},
	}
}

// list of texts with a bound on each, in characters.
func list(length int, markers ...string) []string {
	return append(markers, "+kubebuilder:validation:MaxItems=64", "+kubebuilder:validation:items:MinLength=1", fmt.Sprintf("+kubebuilder:validation:items:MaxLength=%d", length))
}

// Provider returns the configuration.
func Provider(ctx context.Context) (*config.Provider, error) {
	tf := openbao.New(version.Version)()
	s, err := schemaOf(ctx, tf)
	if err != nil {
		return nil, fmt.Errorf("cannot read the Terraform provider: %w", err)
	}
	p := config.NewProvider(s, prefix, modulePath, []byte(metadata),
		config.WithRootGroup(Group),
		config.WithShortName("terdut"),
		config.WithIncludeList(nil),
		config.WithTerraformPluginFrameworkProvider(tf),
		config.WithTerraformPluginFrameworkIncludeList([]string{".+"}),
		config.WithDefaultResourceOptions(configure),
	)
	p.ConfigureResources()
	return p, nil
}

// configure a resource.
func configure(r *config.Resource) {
	k := kinds[r.Name]
	r.ShortGroup, r.Kind, r.Version = "", k.name, "v1alpha1"
	r.UseAsync = false
	r.ExternalName = k.external
	r.MetaResource = &registry.Resource{Name: r.Name, Description: k.description}
	for name, f := range r.TerraformResource.Schema {
		// What the server fills in is in the status. In the spec it would look as if somebody had asked for it.
		r.LateInitializer.IgnoredFields = append(r.LateInitializer.IgnoredFields, name)
		lines := append([]string{f.Description}, k.markers[name]...)
		if f.Type == schema.TypeFloat {
			f.Type = schema.TypeInt
			lines = append(lines, "+kubebuilder:validation:Minimum=0", "+kubebuilder:validation:Maximum=2147483647")
		}
		f.Description = strings.Join(lines, "\n")
	}
	slices.Sort(r.LateInitializer.IgnoredFields)
}
