package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// manyTenants applies Tenants at once and deletes them again, and counts the connections to PostgreSQL meanwhile.
func (b *bench) manyTenants(ctx context.Context) error {
	progressf("Applying %d Tenants at once.", b.Tenants)
	cfg := &postgresqlv1alpha1.ClusterProviderConfig{}
	if err := b.p.Client.Get(ctx, types.NamespacedName{Name: "default"}, cfg); err != nil {
		return fmt.Errorf("cannot get the provider config of PostgreSQL: %w", err)
	}
	if err := b.namespace(ctx, namespaceTenants); err != nil {
		return err
	}
	before, err := b.outside(ctx)
	if err != nil {
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
	r, err := b.record(ctx, namespaceTenants)
	if err != nil {
		return err
	}
	defer r.end()
	measured := func() error {
		took, all, err := b.applyTenants(ctx, namespaceTenants, names...)
		if err != nil {
			return err
		}
		if len(took) > 0 {
			b.table.rowf(fmt.Sprintf("%d Tenants at once, from apply until all are Ready", b.Tenants), "%s (median of one: %s)", seconds(all), seconds(median(took)))
		}
		if err := b.conditionsLeft(ctx); err != nil {
			return err
		}
		b.wavered(r)
		return b.deleteTenants(ctx, before)
	}()
	most, err := connections()
	if measured != nil {
		return measured
	}
	if err != nil {
		return err
	}
	b.table.rowf("PostgreSQL connections held by the provider meanwhile, at most", "%d (bound of the config: %d, max_connections: %d)",
		most, cfg.Spec.MaxConnections, maxConnections)
	return nil
}

// wavered says how often a Tenant was not Ready again.
func (b *bench) wavered(r *recorder) {
	r.end()
	b.table.rowf("  Tenants that were not Ready again after they had been", "%s", &r.tenants)
	if !b.Trace {
		return
	}
	for _, n := range r.tenants.composites() {
		for _, l := range r.about(n) {
			progressf("  %s", l)
		}
	}
}

// conditionsLeft counts the conditions of Tenants, and of what they are composed of, that are not True in a quiet moment.
func (b *bench) conditionsLeft(ctx context.Context) error {
	left := map[string]int{}
	look := func() (bool, error) {
		left = map[string]int{}
		for _, gvk := range watched {
			l := &unstructured.UnstructuredList{}
			l.SetGroupVersionKind(gvk)
			if err := b.p.Client.List(ctx, l, client.InNamespace(namespaceTenants)); err != nil {
				return false, fmt.Errorf("cannot list %s: %w", gvk.Kind, err)
			}
			for i := range l.Items {
				conditions, _, _ := unstructured.NestedSlice(l.Items[i].Object, "status", "conditions")
				for _, c := range conditions {
					if m, ok := c.(map[string]any); ok && m["status"] != string(corev1.ConditionTrue) {
						left[fmt.Sprintf("%s %v=%v %v", gvk.Kind, m["type"], m["status"], m["reason"])]++
					}
				}
			}
		}
		return len(left) == 0, nil
	}
	// What was Ready a moment ago may be written once more.
	quiet, cancel := context.WithTimeout(ctx, quietFor)
	defer cancel()
	if err := until(quiet, 500*time.Millisecond, look); err != nil && quiet.Err() == nil {
		return err
	}
	n := 0
	for _, k := range slices.Sorted(maps.Keys(left)) {
		progressf("  %d x %s", left[k], k)
		n += left[k]
	}
	b.table.rowf("  conditions that are not True then", "%d", n)
	return nil
}

// deleteTenants deletes all Tenants at once and waits until they and what they were composed of are gone.
func (b *bench) deleteTenants(ctx context.Context, before leftovers) error {
	progressf("Deleting %d Tenants at once.", b.Tenants)
	start := time.Now()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(terdutv1alpha1.TenantGroupVersionKind)
	if err := b.p.Client.DeleteAllOf(ctx, u, client.InNamespace(namespaceTenants)); err != nil {
		return fmt.Errorf("cannot delete Tenants: %w", err)
	}
	said := time.Now()
	err := until(ctx, 500*time.Millisecond, func() (bool, error) {
		var left []string
		for _, gvk := range watched {
			l := &unstructured.UnstructuredList{}
			l.SetGroupVersionKind(gvk)
			if err := b.p.Client.List(ctx, l, client.InNamespace(namespaceTenants)); err != nil {
				return false, fmt.Errorf("cannot list %s: %w", gvk.Kind, err)
			}
			if len(l.Items) > 0 {
				left = append(left, fmt.Sprintf("%d %s", len(l.Items), gvk.Kind))
			}
		}
		if time.Since(said) > progressEvery {
			said = time.Now()
			progressf("  left: %s", strings.Join(left, ", "))
		}
		return len(left) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("cannot see Tenants go: %w", err)
	}
	b.table.rowf(fmt.Sprintf("%d Tenants at once, from delete until all are gone", b.Tenants), "%s", seconds(time.Since(start)))
	after, err := b.outside(ctx)
	if err != nil {
		return err
	}
	b.table.rowf("  databases, roles that are left of them", "%d, %d", after.databases-before.databases, after.roles-before.roles)
	return nil
}

// leftovers are what there is on the PostgreSQL server.
type leftovers struct{ databases, roles int }

func (b *bench) outside(ctx context.Context) (leftovers, error) {
	l := leftovers{}
	conn, err := b.p.Plane.Postgres.Connect(ctx, "postgres")
	if err != nil {
		return l, fmt.Errorf("cannot connect to PostgreSQL as superuser: %w", err)
	}
	defer conn.Close(ctx) // Nothing is left to do with it.
	err = conn.QueryRow(ctx, "SELECT (SELECT count(*) FROM pg_database), (SELECT count(*) FROM pg_roles)").Scan(&l.databases, &l.roles)
	if err != nil {
		return l, fmt.Errorf("cannot count databases and roles: %w", err)
	}
	return l, nil
}
