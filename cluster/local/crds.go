package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
)

// createCRDs creates CustomResourceDefinitions, all at the same time, and waits until they are served.
func (p *Plane) createCRDs(ctx context.Context, documents ...[]byte) error {
	names := make([]string, len(documents))
	g, gctx := errgroup.WithContext(ctx)
	for i, doc := range documents {
		g.Go(func() error {
			objects, err := parse(doc)
			if err != nil {
				return err
			}
			if len(objects) != 1 {
				return fmt.Errorf("cannot create CustomResourceDefinition: want one object in a document, got %d", len(objects))
			}
			names[i] = objects[0].GetName()
			if err := p.client.Create(gctx, objects[0]); err != nil {
				return fmt.Errorf("cannot create CustomResourceDefinition %q: %w", names[i], err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	// One after the other: the objects are large, and reading all of them again and again would slow down what is waited for.
	for _, name := range names {
		if err := p.waitForCRD(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// waitForCRD waits until the API server serves a CustomResourceDefinition.
func (p *Plane) waitForCRD(ctx context.Context, name string) error {
	return poll(ctx, func(ctx context.Context) error {
		crd := &extv1.CustomResourceDefinition{}
		if err := p.client.Get(ctx, types.NamespacedName{Name: name}, crd); err != nil {
			return fmt.Errorf("cannot get CustomResourceDefinition %q: %w", name, err)
		}
		for _, c := range crd.Status.Conditions {
			if c.Type == extv1.Established && c.Status == extv1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("CustomResourceDefinition %q is not established", name)
	})
}

// readDir returns the content of each YAML file of a folder.
func readDir(dir string) ([][]byte, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", dir, err)
	}
	docs := make([][]byte, 0, len(files))
	for _, f := range files {
		doc, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("cannot read CustomResourceDefinition: %w", err)
		}
		docs = append(docs, doc)
	}
	return docs, nil
}
