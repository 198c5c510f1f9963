package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/upjet/v2/pkg/types/name"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// validate what an object asks for by the resource's own rules, before anything is written. Terraform's command does that before it plans, and
// upjet does not: a value that the server keeps in another way than it was sent would be sent again at each poll.
func (e *external[T]) validate(ctx context.Context, mg T) error {
	params, err := mg.GetMergedParameters(true)
	if err != nil {
		return fmt.Errorf("cannot read the parameters: %w", err)
	}
	e.resource.ExternalName.SetIdentifierArgumentFn(params, meta.GetExternalName(mg))
	config, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("cannot encode the parameters: %w", err)
	}
	answer, err := providerserver.NewProtocol6(e.tf)().ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{
		TypeName: e.resource.Name,
		Config:   &tfprotov6.DynamicValue{JSON: config},
	})
	if err != nil {
		return fmt.Errorf("cannot validate the parameters: %w", err)
	}
	var errs []error
	for _, d := range answer.Diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			errs = append(errs, fmt.Errorf("%s: %s", field(d.Attribute), d.Detail))
		}
	}
	return connect.WithReason(errors.Join(errs...), v1alpha1.ReasonFailed)
}

// field of a managed resource that stands for an attribute.
func field(attribute *tftypes.AttributePath) string {
	steps := attribute.Steps()
	if len(steps) == 0 {
		return "spec.forProvider"
	}
	a, _ := steps[0].(tftypes.AttributeName)
	if a == "name" {
		return "the external name"
	}
	return "spec.forProvider." + name.NewFromSnake(string(a)).LowerCamelComputed
}
