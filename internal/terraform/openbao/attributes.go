package openbao

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
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

// tokenModel are the attributes that all roles have.
type tokenModel struct {
	TTL             types.Int64  `tfsdk:"token_ttl"`
	MaxTTL          types.Int64  `tfsdk:"token_max_ttl"`
	ExplicitMaxTTL  types.Int64  `tfsdk:"token_explicit_max_ttl"`
	Period          types.Int64  `tfsdk:"token_period"`
	Policies        types.Set    `tfsdk:"token_policies"`
	BoundCIDRs      types.Set    `tfsdk:"token_bound_cidrs"`
	NoDefaultPolicy types.Bool   `tfsdk:"token_no_default_policy"`
	NumUses         types.Int64  `tfsdk:"token_num_uses"`
	Type            types.String `tfsdk:"token_type"`
}

// tokenAttributes describes them.
func tokenAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"token_ttl":               seconds("How long a token lasts, in seconds. Default: 0, which leaves it to the server."),
		"token_max_ttl":           seconds("How long a token can be made to last, in seconds. Default: 0, which leaves it to the server."),
		"token_explicit_max_ttl":  seconds("How long a token can be made to last whatever the server allows, in seconds. Default: 0, for no such limit."),
		"token_period":            seconds("How long a token lasts from each renewal on, without an end, in seconds. Default: 0, for tokens that have an end."),
		"token_policies":          set("Policies that a token has, in lower case. Default: none but the server's default policy."),
		"token_bound_cidrs":       set("Addresses, or blocks of addresses, that may log in and use a token. Default: all."),
		"token_no_default_policy": boolean("Whether a token is without the server's default policy. Default: false.", false),
		"token_num_uses":          number("How often a token can be used. Default: 0, for no limit."),
		"token_type":              text("Type of the tokens: service, batch, default, default-service or default-batch. Default: default.", "default"),
	}
}

func (m *tokenModel) parameters(ctx context.Context, d *diag.Diagnostics) openbao.TokenParameters {
	return openbao.TokenParameters{
		TTL: m.TTL.ValueInt64(), MaxTTL: m.MaxTTL.ValueInt64(), ExplicitMaxTTL: m.ExplicitMaxTTL.ValueInt64(), Period: m.Period.ValueInt64(),
		Policies: strs(ctx, m.Policies, d), BoundCIDRs: strs(ctx, m.BoundCIDRs, d),
		NoDefaultPolicy: m.NoDefaultPolicy.ValueBool(), NumUses: m.NumUses.ValueInt64(), Type: m.Type.ValueString(),
	}
}

func (m *tokenModel) set(ctx context.Context, p openbao.TokenParameters, d *diag.Diagnostics) {
	m.TTL, m.MaxTTL = types.Int64Value(p.TTL), types.Int64Value(p.MaxTTL)
	m.ExplicitMaxTTL, m.Period = types.Int64Value(p.ExplicitMaxTTL), types.Int64Value(p.Period)
	m.Policies = merge(ctx, m.Policies, p.Policies, foldName, d)
	m.BoundCIDRs = merge(ctx, m.BoundCIDRs, p.BoundCIDRs, foldCIDR, d)
	m.NoDefaultPolicy, m.NumUses = types.BoolValue(p.NoDefaultPolicy), types.Int64Value(p.NumUses)
	if p.Type == "" {
		p.Type = "default"
	}
	m.Type = types.StringValue(p.Type)
}

// merge returns what the server has as a set. Where it means what the state says, in other words, the state's words stay.
func merge(ctx context.Context, state types.Set, got []string, fold func(string) string, d *diag.Diagnostics) types.Set {
	folded := func(in []string) []string {
		out := make([]string, 0, len(in))
		for _, s := range in {
			out = append(out, fold(s))
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	if !state.IsNull() && !state.IsUnknown() && slices.Equal(folded(strs(ctx, state, d)), folded(got)) {
		return state
	}
	v, ds := types.SetValueFrom(ctx, types.StringType, append([]string{}, got...))
	d.Append(ds...)
	return v
}

// same keeps words as they are.
func same(s string) string { return s }

// foldName is how the server keeps the name of a policy.
func foldName(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// foldCIDR is one form of an address or a block of addresses.
func foldCIDR(s string) string {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked().String()
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return netip.PrefixFrom(a, a.BitLen()).String()
	}
	return s
}

func strs(ctx context.Context, s types.Set, d *diag.Diagnostics) []string {
	out := []string{}
	if s.IsNull() || s.IsUnknown() {
		return out
	}
	d.Append(s.ElementsAs(ctx, &out, false)...)
	slices.Sort(out)
	return out
}

func idAttribute(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, Description: description, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}}
}

func seconds(description string) schema.Int64Attribute { return number(description) }

func number(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Optional: true, Computed: true, Description: description, Default: int64default.StaticInt64(0), Validators: []validator.Int64{notNegative{}}}
}

func boolean(description string, def bool) schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, Computed: true, Description: description, Default: booldefault.StaticBool(def)}
}

func text(description, def string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Computed: true, Description: description, Default: stringdefault.StaticString(def)}
}

func set(description string) schema.SetAttribute {
	return schema.SetAttribute{
		Optional: true, Computed: true, ElementType: types.StringType, Description: description,
		Default: setdefault.StaticValue(types.SetValueMust(types.StringType, []attr.Value{})),
	}
}

// apiOf a provider that was configured, nil before.
func apiOf(req resource.ConfigureRequest, resp *resource.ConfigureResponse) API {
	if req.ProviderData == nil {
		return nil
	}
	a, ok := req.ProviderData.(API)
	if !ok {
		resp.Diagnostics.AddError("Cannot use the provider's data", fmt.Sprintf("It is a %T.", req.ProviderData))
	}
	return a
}

// valid makes a validator of a function that says what is wrong.
func valid(f func(string) error) validator.String { return stringValidator{f} }

type stringValidator struct{ check func(string) error }

// Description implements validator.String.
func (v stringValidator) Description(context.Context) string {
	return "must be a name that OpenBao takes"
}

// MarkdownDescription implements validator.String.
func (v stringValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateString implements validator.String.
func (v stringValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := v.check(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid name", err.Error())
	}
}

type notNegative struct{}

// Description implements validator.Int64.
func (notNegative) Description(context.Context) string { return "must not be negative" }

// MarkdownDescription implements validator.Int64.
func (v notNegative) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateInt64 implements validator.Int64.
func (v notNegative) ValidateInt64(ctx context.Context, req validator.Int64Request, resp *validator.Int64Response) {
	if req.ConfigValue.ValueInt64() < 0 {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid number", v.Description(ctx))
	}
}
