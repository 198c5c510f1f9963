// Package declared translates contracts as the API holds them into what the validator takes, and says which of them ask for the same.
package declared

import (
	"cmp"
	"slices"
	"time"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract"
)

// RotatedAt is the annotation that tells when a Secret's content was made, unless a contract names another.
const RotatedAt = "terdut.ryuvia.com/rotated-at"

// Spec translates what the API holds for the validator, which looks at it again: not everything that must hold fits a schema.
func Spec(p v1alpha1.ContractParameters, versions []string) contract.Spec {
	s := contract.Spec{Secret: p.SecretRef.Name, SupportedExternalSecretVersions: versions}
	for _, k := range p.RequiredKeys {
		s.Rules = append(s.Rules, ruleOf(k))
	}
	if r := p.ExternalSecretRef; r != nil {
		s.ExternalSecret, s.ExternalSecretAPIVersion = r.Name, r.APIVersion
	}
	for _, w := range p.WorkloadRefs {
		s.Workloads = append(s.Workloads, contract.Workload{
			APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, Containers: w.Containers,
			IncludeInitContainers: w.IncludeInitContainers, Consumption: contract.Consumption(w.Consumption),
		})
	}
	if p.Injection != nil {
		s.InjectionMode = p.Injection.Mode
	}
	s.RotatedAtAnnotation = RotatedAt
	if r := p.Rotation; r != nil {
		s.RestartOnChange = r.RestartOnChange
		if r.RotatedAtAnnotation != "" {
			s.RotatedAtAnnotation = r.RotatedAtAnnotation
		}
		if r.MaxAge != nil {
			// One that cannot be read is zero, which the validator refuses.
			d, _ := time.ParseDuration(*r.MaxAge)
			s.MaxAge = &d
		}
	}
	if q := p.Policy; q != nil {
		s.Policy = contract.Policy(*q)
	}
	return s
}

func ruleOf(k v1alpha1.KeyRule) contract.Rule {
	r := contract.Rule{
		Name: k.Name, EnvName: k.EnvName, Required: k.Required, NonEmpty: k.NonEmpty, MinLength: k.MinLength, MaxLength: k.MaxLength,
		Pattern: k.Pattern, Format: contract.Format(k.Format), PlainText: k.PlainText,
	}
	if t := k.TLS; t != nil {
		r.TLS = &contract.TLS{Use: contract.TLSUse(t.Use), HostNames: t.HostNames, WarningDays: t.WarningDays}
		if t.Use != string(contract.TLSCA) {
			r.TLS.PrivateKey = t.PrivateKey
		}
	}
	return r
}

// Sorted returns a copy whose lists are in one order. The API holds them as sets and maps: their order says nothing, and server-side apply
// may keep another one than it is given.
func Sorted(p v1alpha1.ContractParameters) v1alpha1.ContractParameters {
	s := *p.DeepCopy()
	slices.SortStableFunc(s.RequiredKeys, func(a, b v1alpha1.KeyRule) int { return cmp.Compare(a.Name, b.Name) })
	for _, k := range s.RequiredKeys {
		if k.TLS != nil {
			slices.Sort(k.TLS.HostNames)
		}
	}
	slices.SortStableFunc(s.WorkloadRefs, func(a, b v1alpha1.WorkloadReference) int {
		return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	for _, w := range s.WorkloadRefs {
		slices.Sort(w.Containers)
	}
	return s
}
