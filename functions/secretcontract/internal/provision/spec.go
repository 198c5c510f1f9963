package provision

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// Defaults of a Provision. The API server sets them too; a rendered contract never passes one.
const (
	defaultConfig    = "default"
	defaultStoreKind = "ClusterSecretStore"
	defaultStoreName = "openbao"
	defaultLength    = 32
)

func setDefaults(s *v1alpha1.Provision) {
	s.BaoRef.Name = cmp.Or(s.BaoRef.Name, defaultConfig)
	s.SecretStoreRef.Kind = cmp.Or(s.SecretStoreRef.Kind, defaultStoreKind)
	s.SecretStoreRef.Name = cmp.Or(s.SecretStoreRef.Name, defaultStoreName)
	for i := range s.Keys {
		if g := s.Keys[i].Generate; g != nil {
			g.Length = cmp.Or(g.Length, defaultLength)
		}
	}
}

// validate what would otherwise end in a composed resource that the API server refuses, or worse, accepts.
func (p *Provision) validate(in v1alpha1.SecretContractSpec) error {
	if in.ExternalSecretRef != nil {
		return errors.New("spec.externalSecretRef: must not be set beside provision, which makes the ExternalSecret")
	}
	if k := p.spec.SecretStoreRef.Kind; k != defaultStoreKind && k != "SecretStore" {
		return errors.New("spec.provision.secretStoreRef.kind: must be ClusterSecretStore or SecretStore")
	}
	if len(p.spec.Keys) == 0 {
		return errors.New("spec.provision.keys: required")
	}
	for i, k := range p.spec.Keys {
		switch {
		case !p.named[k.Name]:
			return fmt.Errorf("spec.provision.keys[%d].name: must be one of requiredKeys", i)
		case (k.Value == nil) == (k.Generate == nil):
			return fmt.Errorf("spec.provision.keys[%d]: set exactly one of value and generate", i)
		}
	}
	return nil
}
