package owner

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cluster is an API server with objects by kind. Names are unique within a kind here. A kind that is not there does not exist.
func cluster(kinds map[string]*unstructured.Unstructured) client.Reader {
	return &test.MockClient{MockGet: func(_ context.Context, k client.ObjectKey, o client.Object) error {
		kind := o.GetObjectKind().GroupVersionKind().Kind
		if kind == "Namespace" {
			return nil
		}
		found, served := kinds[kind]
		switch {
		case !served:
			return &apimeta.NoKindMatchError{}
		case found == nil || found.GetName() != k.Name:
			return kerrors.NewNotFound(schema.GroupResource{}, k.Name)
		}
		switch o := o.(type) {
		case *metav1.PartialObjectMetadata:
			o.SetUID(found.GetUID())
			o.SetDeletionTimestamp(found.GetDeletionTimestamp())
		case *unstructured.Unstructured:
			o.Object = found.DeepCopy().Object
		}
		return nil
	}}
}

// composed is thing, composed by XTenant orders-x of a uid.
func composed(controller types.UID, mods ...mod) *unstructured.Unstructured {
	o := thing("")
	yes := true
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "terdut.example.org/v1", Kind: "XTenant", Name: "orders-x", UID: controller, Controller: &yes}})
	o.SetLabels(map[string]string{"crossplane.io/claim-name": "orders", "crossplane.io/claim-namespace": "shop"})
	made(1)(o)
	for _, m := range mods {
		m(o)
	}
	return o
}

// behind is a composite behind claim orders.
func behind(mods ...mod) *unstructured.Unstructured {
	o := tenant(clusterScoped, refers(legacy, map[string]any{"namespace": "shop"}))
	o.SetKind("XTenant")
	o.SetName("orders-x")
	o.SetUID("composite")
	_ = unstructured.SetNestedStringMap(o.Object, map[string]string{
		"apiVersion": "terdut.example.org/v1", "kind": "Tenant", "namespace": "shop", "name": "orders",
	}, "spec", "claimRef")
	for _, m := range mods {
		m(o)
	}
	return o
}

// claim orders, with behind behind it.
func claim(mods ...mod) *unstructured.Unstructured {
	o := tenant()
	o.SetUID("claim")
	made(0)(o)
	refersBack("XTenant", "orders-x")(o)
	for _, m := range mods {
		m(o)
	}
	return o
}

func refersBack(kind, name string) mod { return refersBackOf("terdut.example.org/v1", kind, name) }

func refersBackOf(apiVersion, kind, name string) mod {
	return func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedStringMap(o.Object, map[string]string{"apiVersion": apiVersion, "kind": kind, "name": name}, "spec", "resourceRef")
	}
}

func forgets(o *unstructured.Unstructured) {
	unstructured.RemoveNestedField(o.Object, "spec", "resourceRef")
}

// claims sets a field of the reference to a claim.
func claims(field, value string) mod {
	return func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, value, "spec", "claimRef", field)
	}
}

// made says when an object was, in seconds.
func made(second int) mod {
	return func(o *unstructured.Unstructured) {
		o.SetCreationTimestamp(metav1.NewTime(time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC)))
	}
}

func deleted(o *unstructured.Unstructured) {
	at := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	o.SetDeletionTimestamp(&at)
}

// TestOfClaim holds that what is composed behind a claim is the claim's, and only as long as claim and composite name each other.
func TestOfClaim(t *testing.T) {
	ours := Identity{UID: "claim", Namespace: "shop", Name: "orders"}
	type want struct {
		id  Identity
		err error
	}
	cases := map[string]struct {
		reason    string
		composite *unstructured.Unstructured
		claim     *unstructured.Unstructured
		want      want
	}{
		"Claim":   {reason: "The claim owns it.", composite: behind(), claim: claim(), want: want{id: ours}},
		"Deleted": {reason: "It is so until the end.", composite: behind(), claim: claim(deleted), want: want{id: ours}},
		"Gone":    {reason: "Nobody owns what a claim owned that is gone.", composite: behind(), want: want{err: cmpopts.AnyError}},
		"NotBack": {reason: "A claim that was made anew has another composite.", composite: behind(), claim: claim(refersBack("XTenant", "orders-y")), want: want{err: cmpopts.AnyError}},
		"OtherKind": {
			reason: "A composite of another kind stands behind the claim.", composite: behind(), claim: claim(refersBack("XThing", "orders-x")),
			want: want{err: cmpopts.AnyError},
		},
		"OtherNamespace": {
			reason: "A claim of another namespace has nothing here.", claim: claim(),
			composite: behind(claims("namespace", "bank")), want: want{err: cmpopts.AnyError},
		},
		"OtherGroup": {
			reason: "No claim is of another group than its composite: it may be anything, and is not read.", claim: claim(),
			composite: behind(claims("apiVersion", "v1")), want: want{err: cmpopts.AnyError},
		},
		"BackToOtherGroup": {
			reason: "A composite of the same name and kind, and another group, stands behind the claim.", composite: behind(),
			claim: claim(refersBackOf("things.example.org/v1", "XTenant", "orders-x")), want: want{err: cmpopts.AnyError},
		},
		"Namespaced": {
			reason: "A namespaced composite is nobody's but its own, whatever fields its kind has.", claim: claim(),
			composite: behind(func(o *unstructured.Unstructured) {
				o.SetNamespace("shop")
				_ = unstructured.SetNestedField(o.Object, "orders", "spec", "claimRef")
			}),
			want: want{id: Identity{UID: "composite", Namespace: "shop", Name: "orders-x"}},
		},
		"Broken": {
			reason: "What is no reference is not followed.", claim: claim(),
			composite: behind(func(o *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(o.Object, "orders", "spec", "claimRef")
			}),
			want: want{err: cmpopts.AnyError},
		},
		"NoClaim": {
			reason: "A composite of cluster scope without a claim is its own.", claim: claim(),
			composite: behind(func(o *unstructured.Unstructured) { unstructured.RemoveNestedField(o.Object, "spec", "claimRef") }),
			want:      want{id: Identity{UID: "composite", Name: "orders-x"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			id, err := NewResolver(cluster(map[string]*unstructured.Unstructured{"XTenant": tc.composite, "Tenant": tc.claim})).Of(t.Context(), composed("composite"), gvk)
			if diff := cmp.Diff(tc.want, want{id, err}, cmp.AllowUnexported(want{}), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOfClaimIsLive holds that a composite which is made anew behind its claim has the same owner, and one that another claim takes over has
// another.
func TestOfClaimIsLive(t *testing.T) {
	kinds := map[string]*unstructured.Unstructured{"XTenant": behind(), "Tenant": claim()}
	r := NewResolver(cluster(kinds))
	ask := func(reason string, controller types.UID, want types.UID) {
		t.Helper()
		id, err := r.Of(t.Context(), composed(controller), gvk)
		if err != nil || id.UID != want {
			t.Errorf("%s: want owner %s, got %s and %v", reason, want, id.UID, err)
		}
	}
	ask("first", "composite", "claim")
	kinds["XTenant"] = behind(func(o *unstructured.Unstructured) { o.SetUID("composite anew") })
	ask("a composite that was made anew", "composite anew", "claim")
	kinds["Tenant"] = claim(func(o *unstructured.Unstructured) { o.SetUID("claim anew") })
	ask("a claim that was made anew and took over the composite", "composite anew", "claim anew")

	kinds["XTenant"] = behind(func(o *unstructured.Unstructured) { unstructured.RemoveNestedField(o.Object, "spec", "claimRef") })
	ask("a composite that no claim has taken", "composite", "composite")
	kinds["XTenant"] = behind()
	ask("when one has", "composite", "claim anew")
}

// TestAliveBehindClaim holds that nothing is deleted outside because a composite went whose claim will make it anew.
func TestAliveBehindClaim(t *testing.T) {
	cases := map[string]struct {
		reason    string
		object    *unstructured.Unstructured
		composite *unstructured.Unstructured
		claim     *unstructured.Unstructured
		noClaims  bool
		want      bool
	}{
		"Alive":              {reason: "The composite will make the object again.", object: composed("composite"), composite: behind(), claim: claim(), want: true},
		"CompositeGone":      {reason: "The claim will make the composite again.", object: composed("composite"), claim: claim(), want: true},
		"CompositeDeleted":   {reason: "So it will when it is gone.", object: composed("composite"), composite: behind(deleted), claim: claim(), want: true},
		"CompositeMadeAnew":  {reason: "So it has.", object: composed("earlier"), composite: behind(), claim: claim(), want: true},
		"ClaimDeleted":       {reason: "A claim that is being deleted makes nothing.", object: composed("composite"), composite: behind(deleted), claim: claim(deleted)},
		"ClaimGone":          {reason: "Nor does one that is gone.", object: composed("composite")},
		"ClaimMadeAnew":      {reason: "One that was made anew has a composite of its own.", object: composed("composite"), claim: claim(made(2), refersBack("XTenant", "orders-y"))},
		"ClaimMadeAnewNow":   {reason: "Or none yet.", object: composed("composite"), claim: claim(made(2), forgets)},
		"ClaimTookOver":      {reason: "Or it took over the composite of the one before.", object: composed("composite"), composite: behind(deleted), claim: claim(made(2)), want: true},
		"Replaced":           {reason: "A claim that forgot its composite has another make the object again.", object: composed("composite"), composite: behind(deleted), claim: claim(refersBack("XTenant", "orders-y")), want: true},
		"ReplacedNow":        {reason: "Or will have.", object: composed("composite"), claim: claim(forgets), want: true},
		"AllOfOneSecond":     {reason: "Times are whole seconds. When in doubt nothing is deleted.", object: composed("composite"), claim: claim(made(1), forgets), want: true},
		"NoLabel":            {reason: "Nothing is behind a claim that does not say so.", object: composed("composite", func(o *unstructured.Unstructured) { o.SetLabels(nil) }), claim: claim()},
		"ClaimsAreNotServed": {reason: "Without its kind there is no claim.", object: composed("composite"), noClaims: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kinds := map[string]*unstructured.Unstructured{"XTenant": tc.composite, "Tenant": tc.claim}
			if tc.noClaims {
				delete(kinds, "Tenant")
			}
			alive, err := NewResolver(cluster(kinds)).Alive(t.Context(), tc.object)
			if err != nil || alive != tc.want {
				t.Errorf("\n%s\nAlive(...): want %t, got %t and %v", tc.reason, tc.want, alive, err)
			}
		})
	}
}
