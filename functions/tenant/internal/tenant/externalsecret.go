package tenant

import (
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/ryuvia/provider-terdut/functions/internal/composite"
	"github.com/ryuvia/provider-terdut/functions/internal/delivery"
)

// delivery of the credential.
func (t *tenant) delivery() delivery.Delivery {
	d := delivery.Delivery{
		Store: t.spec.SecretStoreRef, Config: t.spec.BaoRef.Name, Path: t.names.path, Secret: t.names.secret,
		IfTaken:  "set another secretName in a new Tenant, or remove the other owner.",
		Observed: t.externalSecret,
	}
	return d.At(t.recordFacts().Version)
}

// renderExternalSecret renders the ExternalSecret.
func (t *tenant) renderExternalSecret() (*structpb.Struct, error) {
	return composite.Manifest(t.subject, delivery.APIVersion, delivery.Kind, t.names.externalSecretObject, nil, t.delivery().Spec())
}
