package main

import (
	"encoding/json"
	"errors"
	"fmt"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	xv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	xv2 "github.com/crossplane/crossplane/apis/v2/apiextensions/v2"
)

// A Definition is a CompositeResourceDefinition as it is written: without status.
type Definition struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       any      `json:"spec"`
}

// Metadata of a Definition.
type Metadata struct {
	Name string `json:"name"`
}

// What the names of a composite begin with that stands behind a claim.
const (
	claimPrefix      = "X"
	claimPrefixLower = "x"
)

const kind = "CompositeResourceDefinition"

// Namespaced returns the definition of namespaced composite resources. The Composition of the same name is their default.
func Namespaced(crd *extv1.CustomResourceDefinition) (*Definition, error) {
	if crd.Spec.Scope != extv1.NamespaceScoped {
		return nil, errors.New("the composite resource must be namespaced")
	}
	spec := xv2.CompositeResourceDefinitionSpec{
		Group:                 crd.Spec.Group,
		Names:                 crd.Spec.Names,
		Scope:                 xv2.CompositeResourceScopeNamespaced,
		DefaultCompositionRef: &xv2.CompositionReference{Name: crd.GetName()},
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		s, err := schema(v)
		if err != nil {
			return nil, err
		}
		spec.Versions = append(spec.Versions, xv2.CompositeResourceDefinitionVersion{
			Name:                     v.Name,
			Referenceable:            v.Storage,
			Served:                   v.Served,
			Schema:                   &xv2.CompositeResourceValidation{OpenAPIV3Schema: s},
			AdditionalPrinterColumns: v.AdditionalPrinterColumns,
		})
	}
	return &Definition{APIVersion: xv2.SchemeGroupVersion.String(), Kind: kind, Metadata: Metadata{Name: crd.GetName()}, Spec: spec}, nil
}

// Claims returns the definition of composite resources of cluster scope, named with a leading x, that the kind is the claim of.
func Claims(crd *extv1.CustomResourceDefinition) (*Definition, error) {
	if crd.Spec.Scope != extv1.NamespaceScoped {
		return nil, errors.New("the claim must be namespaced")
	}
	claim := crd.Spec.Names
	name := claimPrefixLower + claim.Plural + "." + crd.Spec.Group
	spec := xv1.CompositeResourceDefinitionSpec{
		Group: crd.Spec.Group,
		Names: extv1.CustomResourceDefinitionNames{
			Plural:     claimPrefixLower + claim.Plural,
			Singular:   claimPrefixLower + claim.Singular,
			Kind:       claimPrefix + claim.Kind,
			ListKind:   claimPrefix + claim.ListKind,
			Categories: claim.Categories,
		},
		ClaimNames:            &claim,
		DefaultCompositionRef: &xv1.CompositionReference{Name: name},
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		s, err := schema(v)
		if err != nil {
			return nil, err
		}
		spec.Versions = append(spec.Versions, xv1.CompositeResourceDefinitionVersion{
			Name:                     v.Name,
			Referenceable:            v.Storage,
			Served:                   v.Served,
			Schema:                   &xv1.CompositeResourceValidation{OpenAPIV3Schema: s},
			AdditionalPrinterColumns: v.AdditionalPrinterColumns,
		})
	}
	return &Definition{APIVersion: xv1.SchemeGroupVersion.String(), Kind: kind, Metadata: Metadata{Name: name}, Spec: spec}, nil
}

// schema of a version without what Crossplane adds by itself.
func schema(v *extv1.CustomResourceDefinitionVersion) (runtime.RawExtension, error) {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return runtime.RawExtension{}, fmt.Errorf("version %q has no schema", v.Name)
	}
	s := v.Schema.OpenAPIV3Schema.DeepCopy()
	for _, p := range []string{"apiVersion", "kind", "metadata"} {
		delete(s.Properties, p)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return runtime.RawExtension{}, fmt.Errorf("cannot marshal schema of version %q: %w", v.Name, err)
	}
	return runtime.RawExtension{Raw: raw}, nil
}
