package owner

import (
	"context"
	"errors"
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

var (
	errBoom = errors.New("boom")
	gvk     = schema.GroupVersionKind{Group: "things.example.org", Version: "v1", Kind: "Thing"}
)

// thing is an object that somebody owns. Its controller is Tenant orders with the uid given; none without.
func thing(controller types.UID) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace("shop")
	o.SetName("orders-db")
	o.SetUID("thing")
	if controller != "" {
		yes := true
		o.SetOwnerReferences([]metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: "bystander", UID: "bystander"},
			{APIVersion: "terdut.example.org/v1", Kind: "Tenant", Name: "orders", UID: controller, Controller: &yes},
		})
	}
	return o
}

type mod func(*unstructured.Unstructured)

// tenant is a composite.
func tenant(mods ...mod) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion("terdut.example.org/v1")
	o.SetKind("Tenant")
	o.SetNamespace("shop")
	o.SetName("orders")
	o.SetUID("tenant")
	for _, m := range mods {
		m(o)
	}
	return o
}

// refers adds a reference to what the composite composes, with fields changed.
func refers(path []string, changes map[string]any) mod {
	ref := map[string]any{"apiVersion": "things.example.org/v1", "kind": "Thing", "name": "orders-db"}
	for k, v := range changes {
		ref[k] = v
	}
	return func(o *unstructured.Unstructured) {
		other := map[string]any{"apiVersion": "v1", "kind": "Other", "name": "first"}
		_ = unstructured.SetNestedSlice(o.Object, []any{other, ref}, path...)
	}
}

func clusterScoped(o *unstructured.Unstructured) { o.SetNamespace("") }

var (
	current = []string{"spec", "crossplane", "resourceRefs"}
	legacy  = []string{"spec", "resourceRefs"}
)

// api is an API server with one composite, or none, that counts reads. The namespace may be ending.
func api(composite *unstructured.Unstructured, ending *metav1.Time, err error, reads *int) client.Reader {
	return &test.MockClient{MockGet: func(_ context.Context, k client.ObjectKey, o client.Object) error {
		*reads++
		kind := o.GetObjectKind().GroupVersionKind()
		if kind.Kind == "Namespace" && k.Name == "shop" {
			o.SetDeletionTimestamp(ending)
			return nil
		}
		if err != nil {
			return err
		}
		if composite == nil || k.Name != composite.GetName() || k.Namespace != "shop" || kind != composite.GroupVersionKind() {
			return kerrors.NewNotFound(schema.GroupResource{}, k.Name)
		}
		switch o := o.(type) {
		case *metav1.PartialObjectMetadata:
			o.SetUID(composite.GetUID())
			o.SetDeletionTimestamp(composite.GetDeletionTimestamp())
		case *unstructured.Unstructured:
			o.Object = composite.DeepCopy().Object
		}
		return nil
	}}
}

func TestOf(t *testing.T) {
	ours := Identity{UID: "tenant", Namespace: "shop", Name: "orders"}
	type want struct {
		id  Identity
		err error
	}
	cases := map[string]struct {
		reason    string
		object    *unstructured.Unstructured
		composite *unstructured.Unstructured
		err       error
		want      want
	}{
		"Itself": {
			reason: "What nobody controls owns itself. Owner references that do not control are no matter.",
			object: thing(""),
			want:   want{id: Identity{UID: "thing", Namespace: "shop", Name: "orders-db"}},
		},
		"Composite": {
			reason:    "What a composite composes is the composite's.",
			object:    thing("tenant"),
			composite: tenant(refers(current, nil)),
			want:      want{id: ours},
		},
		"CompositeBehindClaim": {
			reason:    "Composites behind claims keep their references elsewhere, with namespaces.",
			object:    thing("tenant"),
			composite: tenant(clusterScoped, refers(legacy, map[string]any{"namespace": "shop"})),
			want:      want{id: Identity{UID: "tenant", Name: "orders"}},
		},
		"NotListed": {
			reason:    "An owner reference that the composite does not confirm was written by somebody else.",
			object:    thing("tenant"),
			composite: tenant(),
			want:      want{err: cmpopts.AnyError},
		},
		"OtherName": {
			reason:    "Another object of the kind is composed.",
			object:    thing("tenant"),
			composite: tenant(refers(current, map[string]any{"name": "billing-db"})),
			want:      want{err: cmpopts.AnyError},
		},
		"OtherKind": {
			reason:    "An object of another kind is composed.",
			object:    thing("tenant"),
			composite: tenant(refers(current, map[string]any{"kind": "Thong"})),
			want:      want{err: cmpopts.AnyError},
		},
		"OtherGroup": {
			reason:    "An object of another group is composed.",
			object:    thing("tenant"),
			composite: tenant(refers(current, map[string]any{"apiVersion": "things.example.com/v1"})),
			want:      want{err: cmpopts.AnyError},
		},
		"OtherNamespace": {
			reason:    "A cluster-scoped composite composes the object of this name in another namespace.",
			object:    thing("tenant"),
			composite: tenant(clusterScoped, refers(current, map[string]any{"namespace": "bank"})),
			want:      want{err: cmpopts.AnyError},
		},
		"NoNamespace": {
			reason:    "A cluster-scoped composite composes something that has no namespace.",
			object:    thing("tenant"),
			composite: tenant(clusterScoped, refers(current, nil)),
			want:      want{err: cmpopts.AnyError},
		},
		"BrokenReferences": {
			reason: "What is no reference confirms nothing.",
			object: thing("tenant"),
			composite: tenant(func(o *unstructured.Unstructured) {
				o.Object["spec"] = map[string]any{"resourceRefs": []any{"orders-db"}}
			}),
			want: want{err: cmpopts.AnyError},
		},
		"Gone": {
			reason: "A controller that is gone owns nothing.",
			object: thing("tenant"),
			want:   want{err: cmpopts.AnyError},
		},
		"Replaced": {
			reason:    "A composite of the same name that is another one is not the controller.",
			object:    thing("earlier"),
			composite: tenant(refers(current, nil)),
			want:      want{err: cmpopts.AnyError},
		},
		"CannotGet": {
			reason: "Without an answer nothing is known.",
			object: thing("tenant"),
			err:    errBoom,
			want:   want{err: errBoom},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reads := 0
			id, err := NewResolver(api(tc.composite, nil, tc.err, &reads)).Of(t.Context(), tc.object, gvk)
			if diff := cmp.Diff(tc.want, want{id, err}, cmp.AllowUnexported(want{}), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRemembered holds that a verified identity is not asked for again, that a refused one is, and that neither goes for another
// controller or after the object is gone.
func TestRemembered(t *testing.T) {
	reads := 0
	composite := tenant()
	r := NewResolver(api(composite, nil, nil, &reads))
	ask := func(reason string, o client.Object, wantReads int, wantOK bool) {
		t.Helper()
		reads = 0
		_, err := r.Of(t.Context(), o, gvk)
		if reads != wantReads || (err == nil) != wantOK {
			t.Errorf("%s: want %d reads and success %t, got %d and %v", reason, wantReads, wantOK, reads, err)
		}
	}
	ask("not listed", thing("tenant"), 2, false)
	refers(current, nil)(composite)
	ask("listed by now", thing("tenant"), 2, true)
	ask("known", thing("tenant"), 0, true)
	ask("another controller", thing("other"), 1, false)
	ask("nobody's", thing(""), 0, true)
	r.Forget(thing("tenant"))
	ask("forgotten", thing("tenant"), 2, true)
	other := thing("tenant")
	other.SetUID("another thing")
	ask("another object", other, 2, true)
	r.Forget(other)
	ask("still known", thing("tenant"), 0, true)
}

// TestNothingElseIsRead holds that an owner reference, which anybody may write, makes nothing read but composites: no object of Kubernetes'
// own, such as a Secret, and of others no content before the uid has proven to be the one that is meant.
func TestNothingElseIsRead(t *testing.T) {
	cases := map[string]struct {
		reason     string
		apiVersion string
		uid        types.UID
		metadata   int
	}{
		"Secret":     {"It is no composite, and its metadata may hold all of it.", "v1", "victim", 0},
		"Deployment": {"Nor is a workload.", "apps/v1", "victim", 0},
		"Lease":      {"Nor is anything else of Kubernetes.", "coordination.k8s.io/v1", "victim", 0},
		"Broken":     {"This names nothing.", "a/b/c", "victim", 0},
		"OtherUID":   {"The object of this name is another one.", "terdut.example.org/v1", "guessed", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			metadata, content := 0, 0
			live := &test.MockClient{MockGet: func(_ context.Context, _ client.ObjectKey, o client.Object) error {
				o.SetUID("victim")
				if _, ok := o.(*metav1.PartialObjectMetadata); ok {
					metadata++
				} else {
					content++
				}
				return nil
			}}
			yes := true
			o := thing("")
			o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: tc.apiVersion, Kind: name, Name: "victim", UID: tc.uid, Controller: &yes}})
			if _, err := NewResolver(live).Of(t.Context(), o, gvk); err == nil {
				t.Errorf("\n%s\nOf(...): want an error", tc.reason)
			}
			if metadata != tc.metadata || content != 0 {
				t.Errorf("\n%s\nOf(...): %d reads of metadata and %d of content, want %d and none", tc.reason, metadata, content, tc.metadata)
			}
			if alive, err := NewResolver(live).Alive(t.Context(), o); alive || err != nil || content != 0 {
				t.Errorf("\n%s\nAlive(...): got %t and %v, with %d reads of content", tc.reason, alive, err, content)
			}
		})
	}
}

func TestAlive(t *testing.T) {
	deleted := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	type want struct {
		alive bool
		err   error
	}
	cases := map[string]struct {
		reason    string
		object    *unstructured.Unstructured
		composite *unstructured.Unstructured
		ending    *metav1.Time
		err       error
		want      want
	}{
		"Itself":      {reason: "Nobody makes again what nobody controls.", object: thing("")},
		"Alive":       {reason: "The composite will make the object again.", object: thing("tenant"), composite: tenant(), want: want{alive: true}},
		"Terminating": {reason: "A composite that is being deleted makes nothing.", object: thing("tenant"), composite: tenant(func(o *unstructured.Unstructured) { o.SetDeletionTimestamp(&deleted) })},
		"Gone":        {reason: "A composite that is gone makes nothing.", object: thing("tenant")},
		"KindGone":    {reason: "A composite whose kind is gone is gone.", object: thing("tenant"), err: &apimeta.NoKindMatchError{}},
		"Ending":      {reason: "In a namespace that is being deleted nothing is made again.", object: thing("tenant"), composite: tenant(), ending: &deleted},
		"Replaced":    {reason: "Another composite of the same name does not make this object.", object: thing("earlier"), composite: tenant()},
		"CannotGet":   {reason: "Without an answer nothing is known.", object: thing("tenant"), err: errBoom, want: want{err: errBoom}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reads := 0
			alive, err := NewResolver(api(tc.composite, tc.ending, tc.err, &reads)).Alive(t.Context(), tc.object)
			if diff := cmp.Diff(tc.want, want{alive, err}, cmp.AllowUnexported(want{}), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nAlive(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
