package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// fieldOwner owns the fields that Apply sets.
const fieldOwner = client.FieldOwner("provider-terdut-local")

// Apply applies YAML documents in their order as the administrator, with server-side apply.
func (p *Plane) Apply(ctx context.Context, documents []byte) error {
	objects, err := parse(documents)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := p.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), fieldOwner, client.ForceOwnership); err != nil {
			return fmt.Errorf("cannot apply %s %q: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// parse YAML documents. Those without content are skipped.
func parse(documents []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(documents)))
	for {
		doc, err := r.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read YAML: %w", err)
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &o.Object); err != nil {
			return nil, fmt.Errorf("cannot parse YAML: %w", err)
		}
		if len(o.Object) > 0 {
			objects = append(objects, o)
		}
	}
}
