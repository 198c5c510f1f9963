package claims

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// TestTakeOver tries to come by a Tenant's data, with what people may write who have claims of their own and with what administrators may.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	ns, other := namespace(t), namespace(t)
	database := strings.ReplaceAll(ns, "-", "_") + "_orders"
	const manifest = "apiVersion: terdut.ryuvia.com/v1alpha1\nkind: Tenant\nmetadata: {namespace: %s, name: %s}\nspec: {deletionPolicy: Delete, database: %s%s}"
	apply(t, manifest, ns, "orders", database, "")
	claim := ready(t, tenantKind, ns, "orders")
	xr := composite(t, claim)
	first := outsideOf(t, ns, "orders", database)
	if first.OwnerUID != string(claim.GetUID()) || first.RecordOwner != string(claim.GetUID()) || first.OID == 0 {
		t.Fatalf("outside: %+v, want it to be of claim %s", first, claim.GetUID())
	}
	untouched := func(after string) {
		t.Helper()
		if diff := cmp.Diff(first, outsideOf(t, ns, "orders", database)); diff != "" {
			t.Errorf("outside, after %s: -want, +got:\n%s", after, diff)
		}
	}

	// A claim of another namespace names the composite.
	apply(t, manifest, other, "thief", database, fmt.Sprintf(", resourceRef: {apiVersion: terdut.ryuvia.com/v1alpha1, kind: XTenant, name: %s}", xr.GetName()))
	refused(t, object(tenantKind, other, "thief"), "refusing to operate on composite resource")
	// A composite made by hand names the claim: it composes nothing, and says why.
	forged := object(xr.GroupVersionKind(), "", ns+"-forged")
	forged.Object["spec"] = map[string]any{"deletionPolicy": "Delete", "database": database, "claimRef": xr.Object["spec"].(map[string]any)["claimRef"]}
	if err := p.Client.Create(t.Context(), forged); err != nil {
		t.Fatalf("cannot create composite: %v", err)
	}
	t.Cleanup(func() {
		if err := p.Client.Delete(context.Background(), forged); err != nil {
			t.Errorf("cannot delete composite: %v", err)
		}
	})
	refused(t, forged, "spec.resourceRef does not name this composite")
	databases := &postgresqlv1alpha1.PGDatabaseList{}
	if err := p.Client.List(t.Context(), databases, client.MatchingLabels{"crossplane.io/composite": forged.GetName()}); err != nil || len(databases.Items) > 0 {
		t.Errorf("the composite that was made by hand has %d PGDatabases: %v", len(databases.Items), err)
	}
	untouched("others named claim and composite")

	// The claim is replaced with a manifest that does not name its composite, as tools do. Crossplane makes another one, which stands behind the
	// claim from then on. The one before is nobody's, and an administrator deletes it.
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
		t.Fatal(err)
	}
	unstructured.RemoveNestedField(claim.Object, "spec", "resourceRef")
	if err := p.Client.Update(t.Context(), claim); err != nil {
		t.Fatalf("cannot replace claim: %v", err)
	}
	eventually(t, "the claim to have another composite", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(claim), claim); err != nil {
			return err
		}
		if name := field(claim, "spec", "resourceRef", "name"); name == "" || name == xr.GetName() {
			return fmt.Errorf("its composite is %q", name)
		}
		return nil
	})
	refused(t, xr, "spec.resourceRef does not name this composite")
	untouched("the claim forgot its composite")
	if err := p.Client.Delete(t.Context(), xr); err != nil {
		t.Fatal(err)
	}
	gone(t, xr)
	eventually(t, "the other composite to be Ready", func(context.Context) error {
		again := composite(t, claim)
		if status, reason := condition(again, "Ready"); status != "True" {
			return fmt.Errorf("it is not: %s", reason)
		}
		return nil
	})
	ready(t, tenantKind, ns, "orders")
	untouched("its first composite was deleted")

	// The claim is deleted, and one of the same name is made anew.
	if err := p.Client.Delete(t.Context(), object(tenantKind, other, "thief")); err != nil {
		t.Fatal(err)
	}
	patch(t, claim, `{"spec": {"deletionPolicy": "Retain"}}`)
	ready(t, tenantKind, ns, "orders")
	if err := p.Client.Delete(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	gone(t, claim)
	first.State, first.Retained = "retained", true
	eventually(t, "what is outside to be let go of", func(context.Context) error {
		if diff := cmp.Diff(first, outsideOf(t, ns, "orders", database)); diff != "" {
			return fmt.Errorf("-want, +got:\n%s", diff)
		}
		return nil
	})
	apply(t, manifest, ns, "orders", database, "")
	eventually(t, "the claim that was made anew to be refused", func(ctx context.Context) error {
		u := object(tenantKind, ns, "orders")
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return err
		}
		if phase := field(u, "status", "phase"); phase != "Conflict" {
			return fmt.Errorf("its phase is %s", phase)
		}
		return nil
	})
	untouched("a claim of the same name was made")
}

// refused waits until Crossplane says of a claim or composite why it does nothing about it.
func refused(t *testing.T, u *unstructured.Unstructured, why string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s %s to be refused", u.GetKind(), u.GetName()), func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return err
		}
		list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, c := range list {
			if m, ok := c.(map[string]any); ok && m["type"] == "Synced" && m["status"] == "False" && strings.Contains(fmt.Sprint(m["message"]), why) {
				return nil
			}
		}
		return fmt.Errorf("it says %v", list)
	})
}

// TestOtherFlavour installs the other Configuration too. The package manager refuses it, and what is there stays as it is.
func TestOtherFlavour(t *testing.T) {
	t.Parallel()
	installed := &pkgv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: product.ConfigurationClaims}}
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(installed), installed); err != nil {
		t.Fatal(err)
	}
	second := &pkgv1.Configuration{ObjectMeta: metav1.ObjectMeta{Name: product.Configuration}}
	second.Spec.Package = strings.ReplaceAll(installed.Spec.Package, product.ConfigurationClaims, product.Configuration)
	if err := p.Client.Create(t.Context(), second); err != nil {
		t.Fatalf("cannot create Configuration: %v", err)
	}
	eventually(t, "the second Configuration to be refused", func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(second), second); err != nil {
			return err
		}
		if c := second.GetCondition(pkgv1.TypeHealthy); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "already controlled by") {
			return fmt.Errorf("Healthy is %s: %s", c.Status, c.Message)
		}
		return nil
	})
	if err := p.Client.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	gone(t, second)
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(installed), installed); err != nil || installed.GetCondition(pkgv1.TypeHealthy).Status != corev1.ConditionTrue {
		t.Errorf("the first Configuration is not healthy any more: %v", errors.Join(err, errors.New(installed.GetCondition(pkgv1.TypeHealthy).Message)))
	}
}
