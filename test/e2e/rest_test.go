package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// restFor is how many polls nothing may be written in.
const restFor = 10

// ours are the objects of a namespace, and of the cluster, that a Tenant lives from: their resource versions by name.
func ours(t *testing.T, ns string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, k := range []struct {
		kind       schema.GroupVersionKind
		namespaced bool
		atLeast    int
	}{
		{kind: terdutv1alpha1.TenantGroupVersionKind, namespaced: true, atLeast: 1},
		{kind: postgresqlv1alpha1.PGDatabaseGroupVersionKind, namespaced: true, atLeast: 1},
		{kind: openbaov1alpha1.BaoSecretGroupVersionKind, namespaced: true, atLeast: 1},
		{kind: postgresqlv1alpha1.SchemeGroupVersion.WithKind("ProviderConfigUsage"), namespaced: true, atLeast: 1},
		{kind: openbaov1alpha1.SchemeGroupVersion.WithKind("ProviderConfigUsage"), namespaced: true, atLeast: 1},
		{kind: externalSecretKind, namespaced: true, atLeast: 1},
		{kind: accessv1alpha1.Policy_GroupVersionKind, namespaced: true, atLeast: 1},
		{kind: accessv1alpha1.KubernetesAuthRole_GroupVersionKind, namespaced: true, atLeast: 1},
		{kind: storeKind, namespaced: true, atLeast: 1},
		{kind: schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, namespaced: true, atLeast: 1},
		{kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, namespaced: true, atLeast: 1},
		{kind: schema.GroupVersionKind{Version: "v1", Kind: "Event"}, namespaced: true},
		{kind: postgresqlv1alpha1.SchemeGroupVersion.WithKind("ClusterProviderConfig"), atLeast: 1},
		{kind: openbaov1alpha1.SchemeGroupVersion.WithKind("ClusterProviderConfig"), atLeast: 1},
	} {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(k.kind)
		var opts []client.ListOption
		if k.namespaced {
			opts = append(opts, client.InNamespace(ns))
		}
		if err := p.Client.List(t.Context(), l, opts...); err != nil {
			t.Fatalf("cannot list %s: %v", k.kind.Kind, err)
		}
		if len(l.Items) < k.atLeast {
			t.Fatalf("there are %d objects of kind %s, not at least %d", len(l.Items), k.kind.Kind, k.atLeast)
		}
		for _, o := range l.Items {
			// Crossplane writes an event each time that it looks at a composite; those of the provider count.
			by, _, _ := unstructured.NestedString(o.Object, "source", "component")
			if k.kind.Kind == "Event" && !strings.HasPrefix(by, "managed/") {
				continue
			}
			out[k.kind.GroupKind().String()+" "+o.GetName()] = o.GetResourceVersion()
		}
	}
	return out
}

func TestH43AtRest(t *testing.T) {
	ns := namespace(t)
	db, path := named(ns), "tenants/"+ns+"/orders"
	create(t, newTenant(ns, "orders", byKubernetes(map[string]any{"database": db, "extensions": []any{map[string]any{"name": "pgcrypto"}}, "deletionPolicy": "Delete"})))
	tenantReady(t, ns, "orders")
	// A conflict that nobody resolves is at rest too: it costs looks, and no writes.
	create(t, newTenant(ns, "taken", map[string]any{"database": db}))
	conflict(t, ns, "taken")
	// What the last step of the creation still had to say is said by the next pass.
	passes(t, databases, 2)
	passes(t, credentials, 2)

	// To make a Tenant with access of its own can be more than Crossplane bears at once, and so can any behind a claim: docs/tenant.md and
	// docs/flavours.md. That is over by itself, and what is at rest does not bring it about.
	tenants := slices.DeleteFunc([]string{"orders", "taken"}, func(name string) bool {
		return (name == "orders" || flavour == product.FlavourClaims) && responsive(t, ns, name) != nil
	})
	objects, before, log := ours(t, ns), world(t, db, path), serverLogFrom(t)
	for range restFor {
		passes(t, databases, 1)
		for _, name := range tenants {
			if err := responsive(t, ns, name); err != nil {
				t.Error(err)
			}
		}
	}

	now := ours(t, ns)
	for name, was := range objects {
		if now[name] != was {
			t.Errorf("%s was written at rest", name)
		}
	}
	if len(now) != len(objects) {
		t.Errorf("there are %d objects after %d polls, %d before", len(now), restFor, len(objects))
	}
	if diff := before.changes(world(t, db, path)); len(diff) > 0 {
		t.Errorf("at rest, these changed: %q", diff)
	}
	if w := log.writes(t); len(w) > 0 {
		t.Errorf("at rest, the server was written to: %q", w)
	}
}

// responsive is an error when Crossplane does not listen to what becomes of a Tenant.
func responsive(t *testing.T, ns, name string) error {
	t.Helper()
	u := newTenant(ns, name, nil)
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
		t.Fatalf("cannot get Tenant: %v", err)
	}
	if c := condition(heard(t, u), "Responsive"); c["status"] == "False" {
		return fmt.Errorf("Tenant %s is not Responsive: %v %v", name, c["reason"], c["message"])
	}
	return nil
}
