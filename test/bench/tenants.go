package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// Namespaces of what is applied.
const (
	namespaceFirst   = "bench-first"
	namespaceSingles = "bench-singles"
	namespaceTenants = "bench-tenants"
	namespacePlain   = "bench-plain"
)

// newTenant is like the Tenant of the examples: defaults, and an extension.
func newTenant(namespace, name string) client.Object {
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"extensions": []any{map[string]any{"name": "pgcrypto"}}},
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

// manyTenants applies Tenants at once, and counts the connections to PostgreSQL meanwhile.
func (b *bench) manyTenants(ctx context.Context) error {
	progressf("Applying %d Tenants at once.", b.Tenants)
	cfg := &postgresqlv1alpha1.ClusterProviderConfig{}
	if err := b.p.Client.Get(ctx, types.NamespacedName{Name: "default"}, cfg); err != nil {
		return fmt.Errorf("cannot get the provider config of PostgreSQL: %w", err)
	}
	if err := b.namespace(ctx, namespaceTenants); err != nil {
		return err
	}
	names := make([]string, b.Tenants)
	for i := range names {
		names[i] = fmt.Sprintf("tenant-%03d", i)
	}
	connections, err := sampleConnections(ctx, b.p.Plane.Postgres)
	if err != nil {
		return err
	}
	took, all, err := b.applyTenants(ctx, namespaceTenants, names...)
	most, sampled := connections()
	if err != nil {
		return err
	}
	if sampled != nil {
		return sampled
	}
	if len(took) > 0 {
		b.table.rowf(fmt.Sprintf("%d Tenants at once, from apply until all are Ready", b.Tenants), "%s (median of one: %s)", seconds(all), seconds(median(took)))
	}
	b.table.rowf("PostgreSQL connections held by the provider meanwhile, at most", "%d (bound of the config: %d)", most, cfg.Spec.MaxConnections)
	return nil
}
