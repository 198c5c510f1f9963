package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

// address of the provider among those of a schema.
const address = "registry.terraform.io/ryuvia/openbao"

// schemaOf a provider, as "terraform providers schema -json" prints it. The provider is asked over its own protocol, in this process.
func schemaOf(ctx context.Context, p provider.Provider) ([]byte, error) {
	answer, err := providerserver.NewProtocol6(p)().GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, fmt.Errorf("cannot get schema: %w", err)
	}
	for _, d := range answer.Diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return nil, fmt.Errorf("cannot get schema: %s: %s", d.Summary, d.Detail)
		}
	}

	resources := map[string]*tfjson.Schema{}
	for name, s := range answer.ResourceSchemas {
		if len(s.Block.BlockTypes) > 0 {
			return nil, fmt.Errorf("cannot convert %s: %w", name, errors.New("nested blocks are not used here"))
		}
		attributes := map[string]*tfjson.SchemaAttribute{}
		for _, a := range s.Block.Attributes {
			if attributes[a.Name], err = attribute(a); err != nil {
				return nil, fmt.Errorf("cannot convert %s.%s: %w", name, a.Name, err)
			}
		}
		resources[name] = &tfjson.Schema{
			Version: uint64(s.Version),
			Block:   &tfjson.SchemaBlock{Attributes: attributes, Description: s.Block.Description},
		}
	}
	out, err := json.Marshal(tfjson.ProviderSchemas{
		FormatVersion: "1.0",
		Schemas:       map[string]*tfjson.ProviderSchema{address: {ResourceSchemas: resources}},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot encode schema: %w", err)
	}
	return out, nil
}

// attribute converts one attribute.
func attribute(a *tfprotov6.SchemaAttribute) (*tfjson.SchemaAttribute, error) {
	t, err := typeOf(a.Type)
	if err != nil {
		return nil, err
	}
	return &tfjson.SchemaAttribute{
		AttributeType: t,
		Description:   a.Description,
		Required:      a.Required,
		Optional:      a.Optional,
		Computed:      a.Computed,
		Sensitive:     a.Sensitive,
	}, nil
}

// typeOf an attribute, of those that are used here.
func typeOf(t tftypes.Type) (cty.Type, error) {
	switch {
	case t.Is(tftypes.String):
		return cty.String, nil
	case t.Is(tftypes.Bool):
		return cty.Bool, nil
	case t.Is(tftypes.Number):
		return cty.Number, nil
	}
	if s, ok := t.(tftypes.Set); ok {
		e, err := typeOf(s.ElementType)
		if err != nil {
			return cty.NilType, err
		}
		return cty.Set(e), nil
	}
	return cty.NilType, fmt.Errorf("cannot convert type %s", t)
}
