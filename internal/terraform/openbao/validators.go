package openbao

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

const (
	maxSeconds = openbao.MaxSeconds
	// maxCount fits a server's int on every architecture.
	maxCount = math.MaxInt32
)

// The rules for texts. Those that the client has too are the client's: a call would be refused for the same reasons, only later.
var (
	policyName = textRule{"must be a policy name that the server keeps as it is", openbao.ValidatePolicyName}
	policyText = textRule{"must be the text of a policy", openbao.ValidatePolicyText}
	roleName   = textRule{"must be a role name that the server keeps as it is", openbao.ValidateRoleName}
	mountPath  = textRule{"must be the path of a mount", openbao.ValidateMount}

	assignablePolicy = textRule{"must be the name of a policy that a login can give", func(s string) error {
		if s == "default" {
			return nil // It is managed by nobody, and can be given by name.
		}
		return openbao.ValidatePolicyName(s)
	}}
	roleID = textRule{"must be a role id", func(s string) error {
		if s == "" || strings.TrimSpace(s) != s {
			return errors.New("a role id must not be empty, nor start or end with white space")
		}
		return nil
	}}
	// block is what the server takes for secret ids.
	block = textRule{"must be a block of addresses in CIDR notation", func(s string) error {
		if p, err := netip.ParsePrefix(s); err != nil || p.Addr().Is4In6() {
			return fmt.Errorf("%q is not a block of IPv4 or IPv6 addresses in CIDR notation, for example 192.0.2.0/24", s)
		}
		return nil
	}}
	// address is what the server takes for tokens.
	address = textRule{"must be an address or a block of addresses in CIDR notation", func(s string) error {
		if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" && !a.Is4In6() {
			return nil
		}
		return block.check(s)
	}}
)

// A textRule holds for a text.
type textRule struct {
	description string
	check       func(string) error
}

// Description implements validator.String.
func (r textRule) Description(context.Context) string { return r.description }

// MarkdownDescription implements validator.String.
func (r textRule) MarkdownDescription(context.Context) string { return r.description }

// ValidateString implements validator.String.
func (r textRule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := r.check(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid value", err.Error())
	}
}

func oneOf(values ...string) textRule {
	description := "must be one of " + strings.Join(values, ", ")
	return textRule{description, func(s string) error {
		if !slices.Contains(values, s) {
			return fmt.Errorf("%q %s", s, description)
		}
		return nil
	}}
}

// A setRule holds for a set of texts.
type setRule struct {
	description string
	check       func([]string) error
}

// each holds when a rule holds for each element.
func each(rule textRule) setRule {
	return setRule{"each " + rule.description, func(elements []string) error {
		var errs []error
		for _, e := range elements {
			errs = append(errs, rule.check(e))
		}
		return errors.Join(errs...)
	}}
}

// bound is what names and namespaces of service accounts must be.
var bound = setRule{"must have elements, and an asterisk only as the one", func(elements []string) error {
	if len(elements) == 0 {
		return errors.New("there must be at least one element")
	}
	if len(elements) > 1 && slices.Contains(elements, "*") {
		return errors.New("an asterisk stands for everything, and must be the only element")
	}
	for _, e := range elements {
		if e == "" || strings.ContainsFunc(e, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '*'
		}) {
			return fmt.Errorf("%q is not a name of Kubernetes, with or without asterisks", e)
		}
	}
	return nil
}}

// Description implements validator.Set.
func (r setRule) Description(context.Context) string { return r.description }

// MarkdownDescription implements validator.Set.
func (r setRule) MarkdownDescription(context.Context) string { return r.description }

// ValidateSet implements validator.Set. Elements that are not known yet are looked at when they are.
func (r setRule) ValidateSet(_ context.Context, req validator.SetRequest, resp *validator.SetResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	var elements []string
	for _, v := range req.ConfigValue.Elements() {
		s, ok := v.(types.String)
		if !ok || s.IsUnknown() {
			return
		}
		elements = append(elements, s.ValueString())
	}
	slices.Sort(elements)
	if err := r.check(elements); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid value", err.Error())
	}
}

// atMost holds for numbers from 0.
type atMost int64

// Description implements validator.Int64.
func (m atMost) Description(context.Context) string {
	return fmt.Sprintf("must be between 0 and %d", int64(m))
}

// MarkdownDescription implements validator.Int64.
func (m atMost) MarkdownDescription(ctx context.Context) string { return m.Description(ctx) }

// ValidateInt64 implements validator.Int64.
func (m atMost) ValidateInt64(ctx context.Context, req validator.Int64Request, resp *validator.Int64Response) {
	if v := req.ConfigValue; !v.IsNull() && !v.IsUnknown() && (v.ValueInt64() < 0 || v.ValueInt64() > int64(m)) {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid value", fmt.Sprintf("%d %s", v.ValueInt64(), m.Description(ctx)))
	}
}
