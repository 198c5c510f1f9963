package openbao

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// roleModel is what roles of all authentication methods have in common.
type roleModel struct {
	ID      types.String `tfsdk:"id"`
	Backend types.String `tfsdk:"backend"`
	Name    types.String `tfsdk:"name"`

	TokenTTL             types.Int64  `tfsdk:"token_ttl"`
	TokenMaxTTL          types.Int64  `tfsdk:"token_max_ttl"`
	TokenExplicitMaxTTL  types.Int64  `tfsdk:"token_explicit_max_ttl"`
	TokenPeriod          types.Int64  `tfsdk:"token_period"`
	TokenPolicies        types.Set    `tfsdk:"token_policies"`
	TokenBoundCIDRs      types.Set    `tfsdk:"token_bound_cidrs"`
	TokenNoDefaultPolicy types.Bool   `tfsdk:"token_no_default_policy"`
	TokenNumUses         types.Int64  `tfsdk:"token_num_uses"`
	TokenType            types.String `tfsdk:"token_type"`
}

// roleAttributes returns the attributes that roles of all authentication methods have, and those of one method.
func roleAttributes(method, backend string, own map[string]schema.Attribute) map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{
		"id": idAttribute("Identifier of the role: its backend and its name with a slash between them."),
		"backend": schema.StringAttribute{
			Description: "Path at which the " + method + " authentication method is mounted, without auth/ and without a slash at either end. " +
				"It must be mounted already. Another backend makes another role. Defaults to " + backend + ".",
			Optional: true, Computed: true,
			Default:       stringdefault.StaticString(backend),
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			Validators:    []validator.String{mountPath},
		},
		"name": schema.StringAttribute{
			Description: "Name of the role: letters, digits, underscores, and between them also single dots and dashes, at most 4096. It must be lower case, " +
				"because the server knows names in lower case only. Another name makes another role.",
			Required:      true,
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			Validators:    []validator.String{roleName},
		},
		"token_ttl": seconds("How long a token lives before it must be renewed. It must not be more than token_max_ttl when that is set. " +
			"Defaults to 0, with which the backend and the server decide."),
		"token_max_ttl": seconds("How long a token can live at most, with all renewals. The backend and the server can set a lower limit. " +
			"Defaults to 0, with which they alone decide."),
		"token_explicit_max_ttl": seconds("How long a token can live at most, fixed when it is issued: later changes of the role, of the backend " +
			"and of the server do not matter to it. Defaults to 0, with which there is no such limit."),
		"token_period": seconds("Makes periodic tokens: they can be renewed for ever, each time for this long. It must not be more than the " +
			"backend's longest time to live, and cannot be set for tokens of type batch. Defaults to 0, with which tokens are not periodic."),
		"token_policies": stringSet("Names of the policies that tokens have, besides the policy default. They must be lower case and without commas, "+
			"and root is not among them, because no login can give it. A policy that does not exist gives no rights.", each(assignablePolicy)),
		"token_bound_cidrs": stringSet("Addresses and blocks of addresses in CIDR notation from which a client can log in and use its tokens. "+
			"All when it is empty.", each(address)),
		"token_no_default_policy": flag("Keeps the policy default from tokens. Defaults to false.", false),
		"token_num_uses": count("How many requests a token is good for. It cannot be set for tokens of type batch. " +
			"Defaults to 0, with which there is no limit."),
		"token_type": schema.StringAttribute{
			Description: "Type of the tokens: service, batch, or default, with which the backend decides. Batch tokens are not stored by the server and can " +
				"be neither renewed nor revoked. Defaults to default.",
			Optional: true, Computed: true,
			Default:    stringdefault.StaticString(openbao.TokenTypeDefault),
			Validators: []validator.String{oneOf(openbao.TokenTypeDefault, openbao.TokenTypeService, openbao.TokenTypeBatch)},
		},
	}
	maps.Copy(attributes, own)
	return attributes
}

func idAttribute(description string) schema.Attribute {
	return schema.StringAttribute{
		Description:   description,
		Computed:      true,
		PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
}

// seconds returns an attribute that is a duration.
func seconds(description string) schema.Attribute {
	return schema.Int64Attribute{
		Description: description + " In whole seconds, at most 9223372036.",
		Optional:    true, Computed: true,
		Default:    int64default.StaticInt64(0),
		Validators: []validator.Int64{atMost(maxSeconds)},
	}
}

// count returns an attribute that is a number of things.
func count(description string) schema.Attribute {
	return schema.Int64Attribute{
		Description: description + " At most 2147483647.",
		Optional:    true, Computed: true,
		Default:    int64default.StaticInt64(0),
		Validators: []validator.Int64{atMost(maxCount)},
	}
}

func flag(description string, def bool) schema.Attribute {
	return schema.BoolAttribute{Description: description, Optional: true, Computed: true, Default: booldefault.StaticBool(def)}
}

// stringSet returns an attribute that is empty when it is not set. So a plan says what is taken away from what the server has, also to
// those who pass over what a plan leaves null.
func stringSet(description string, validators ...validator.Set) schema.Attribute {
	return schema.SetAttribute{
		Description: description,
		ElementType: types.StringType,
		Optional:    true, Computed: true,
		Default:    setdefault.StaticValue(set(nil)),
		Validators: validators,
	}
}
