package render

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
)

// CompositeSuffix is what the name of a composite behind a claim ends with, after the claim's.
const CompositeSuffix = "-x7k2p"

// RenderClaim renders a step of the example, whose manifest is a claim then: what the composite of cluster scope behind it is composed of.
// The uid is the claim's.
func (r *Renderer) RenderClaim(ctx context.Context, step string, uid types.UID) ([]byte, error) {
	data, err := os.ReadFile(r.claim(step))
	if err != nil {
		return nil, fmt.Errorf("cannot read claim: %w", err)
	}
	claim := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &claim.Object); err != nil {
		return nil, fmt.Errorf("cannot parse claim: %w", err)
	}
	if err := r.setDefaults(claim); err != nil {
		return nil, err
	}
	claim.SetUID(uid)
	xr := claim.DeepCopy()
	xr.SetUID("")
	xr.SetNamespace("")
	xr.SetKind("X" + claim.GetKind())
	xr.SetName(claim.GetName() + CompositeSuffix)
	if err := errors.Join(
		refer(claim, "resourceRef", map[string]string{"apiVersion": xr.GetAPIVersion(), "kind": xr.GetKind(), "name": xr.GetName()}),
		refer(xr, "claimRef", map[string]string{
			"apiVersion": claim.GetAPIVersion(), "kind": claim.GetKind(), "namespace": claim.GetNamespace(), "name": claim.GetName(),
		}),
	); err != nil {
		return nil, fmt.Errorf("cannot bind claim and composite: %w", err)
	}

	dir, err := os.MkdirTemp(r.dir, "claim-")
	if err != nil {
		return nil, fmt.Errorf("cannot create folder: %w", err)
	}
	flags := r.given(step)
	required := filepath.Join(dir, "required")
	if from := flags[given["required"]]; from != "" {
		err = os.CopyFS(required, os.DirFS(from))
	} else {
		err = os.Mkdir(required, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot copy required resources: %w", err)
	}
	flags[given["required"]] = required
	composite := filepath.Join(dir, "composite.yaml")
	for path, o := range map[string]*unstructured.Unstructured{composite: xr, filepath.Join(required, "claim.yaml"): claim} {
		out, err := yaml.Marshal(o.Object)
		if err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", filepath.Base(path), err)
		}
		if err := os.WriteFile(path, out, 0o600); err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", filepath.Base(path), err)
		}
	}
	return r.render(ctx, composite, "configuration-claims", flags)
}

// setDefaults of a claim, as the API server does. The CLI does so for the composite.
func (r *Renderer) setDefaults(claim *unstructured.Unstructured) error {
	data, err := os.ReadFile(filepath.Join(r.root, "package", "configuration-claims", "definitions", r.example+"s.yaml"))
	if err != nil {
		return fmt.Errorf("cannot read definition: %w", err)
	}
	xrd := &xv1.CompositeResourceDefinition{}
	if err := yaml.Unmarshal(data, xrd); err != nil {
		return fmt.Errorf("cannot parse definition: %w", err)
	}
	crd, err := xcrd.ForCompositeResourceClaim(xrd)
	if err != nil {
		return fmt.Errorf("cannot derive the claim's kind: %w", err)
	}
	props := &apiextensions.JSONSchemaProps{}
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, props, nil); err != nil {
		return fmt.Errorf("cannot convert the claim's schema: %w", err)
	}
	s, err := structural.NewStructural(props)
	if err != nil {
		return fmt.Errorf("cannot read the claim's schema: %w", err)
	}
	defaulting.Default(claim.Object, s)
	return nil
}

// refer sets the reference of a claim to its composite, or the other way round.
func refer(o *unstructured.Unstructured, field string, to map[string]string) error {
	return unstructured.SetNestedStringMap(o.Object, to, "spec", field)
}
