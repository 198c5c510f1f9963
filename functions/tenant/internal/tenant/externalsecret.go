package tenant

import (
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/ryuvia/provider-terdut/functions/internal/delivery"
)

// delivery of the credential.
func (t *tenant) delivery() delivery.Delivery {
	d := delivery.Delivery{
		Store: t.store, Config: t.spec.BaoRef.Name, Path: t.names.path, Secret: t.names.secret,
		IfTaken:  "set another secretName in a new Tenant, or remove the other owner.",
		Observed: t.externalSecret,
	}
	return d.At(t.recordFacts())
}

// renderExternalSecret renders the ExternalSecret.
func (t *tenant) renderExternalSecret() (*structpb.Struct, error) {
	return t.delivery().Manifest(t.subject, t.names.externalSecretObject)
}
