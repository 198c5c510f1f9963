package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// Namespaces of what is applied.
const (
	namespaceFirst   = "bench-first"
	namespaceEvents  = "bench-events"
	namespaceSingles = "bench-singles"
	namespaceServers = "bench-servers"
	namespaceTenants = "bench-tenants"
	namespacePlain   = "bench-plain"
)

// newTenant is like the Tenant of the examples: defaults, and an extension. Its deletion takes everything with it.
func newTenant(namespace, name string) client.Object {
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"extensions": []any{map[string]any{"name": "pgcrypto"}}, "deletionPolicy": "Delete"},
	}}
	u.SetGroupVersionKind(terdutv1alpha1.TenantGroupVersionKind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

func (b *bench) applyTenants(ctx context.Context, namespace string, names ...string) ([]time.Duration, time.Duration, error) {
	objects := make([]client.Object, len(names))
	for i, n := range names {
		objects[i] = newTenant(namespace, n)
	}
	return b.apply(ctx, terdutv1alpha1.TenantGroupVersionKind, namespace, objects)
}

// warmStart ends with the first Tenant that is Ready.
func (b *bench) warmStart(ctx context.Context, start time.Time) error {
	if err := b.namespace(ctx, namespaceFirst); err != nil {
		return err
	}
	if _, _, err := b.applyTenants(ctx, namespaceFirst, "first"); err != nil {
		return err
	}
	b.table.rowf("warm start: everything built, from the start to a Ready Tenant", "%s", seconds(time.Since(start)))
	return nil
}

// singleTenants applies Tenants one after the other, each when the one before is Ready.
func (b *bench) singleTenants(ctx context.Context) error {
	progressf("Applying %d Tenants one after the other.", b.Singles)
	if err := b.namespace(ctx, namespaceSingles); err != nil {
		return err
	}
	var took []time.Duration
	for i := range b.Singles {
		_, d, err := b.applyTenants(ctx, namespaceSingles, fmt.Sprintf("single-%d", i))
		if err != nil {
			return err
		}
		took = append(took, d)
	}
	if len(took) > 0 {
		b.table.rowf(fmt.Sprintf("1 Tenant, from apply to Ready, median of %d", len(took)), "%s", seconds(median(took)))
	}
	return nil
}
