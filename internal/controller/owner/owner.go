// Package owner finds out whose a managed resource is. Ownership records outside the cluster name that identity, so it is never taken from
// a field that somebody could write into a spec or a status: it is the object itself or, for a composed resource, the composite that
// controls it and that says so itself. Where a claim stands before the composite it is the claim, which survives a composite that is made
// anew behind it.
package owner

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An Identity is who owns an external object.
type Identity struct {
	// UID of the claim or composite, or of the managed resource where no composite controls it.
	UID types.UID
	// Namespace and Name of the same object.
	Namespace string
	Name      string
}

// String returns namespace/name (uid).
func (i Identity) String() string { return fmt.Sprintf("%s/%s (%s)", i.Namespace, i.Name, i.UID) }

// A Resolver resolves identities. It remembers those it has seen, but not those of composites of cluster scope, which claims may take or leave:
// the composite behind a controller reference never changes.
type Resolver struct {
	live client.Reader

	mu   sync.Mutex
	seen map[key]Identity
}

// key of a remembered identity: the object and the controller that was verified for it.
type key struct{ object, controller types.UID }

// NewResolver returns a Resolver that reads live objects, not cached ones.
func NewResolver(live client.Reader) *Resolver {
	return &Resolver{live: live, seen: map[key]Identity{}}
}

// Of returns the identity that owns what the object manages. The object's kind must be set.
//
// It fails when the controller is gone, is another object than the reference means, or does not list the object among those it composes:
// owner references are writable by whoever may write the object, a composite's list is written by Crossplane.
func (r *Resolver) Of(ctx context.Context, o client.Object, gvk schema.GroupVersionKind) (Identity, error) {
	ref := metav1.GetControllerOf(o)
	if ref == nil {
		return Identity{UID: o.GetUID(), Namespace: o.GetNamespace(), Name: o.GetName()}, nil
	}

	k := key{object: o.GetUID(), controller: ref.UID}
	r.mu.Lock()
	id, ok := r.seen[k]
	r.mu.Unlock()
	if ok {
		return id, nil
	}

	c, err := Composite(ctx, r.live, o, gvk)
	if err != nil {
		return Identity{}, err
	}
	if id, err = Behind(ctx, r.live, o, c); err != nil || c.GetNamespace() == "" {
		return id, err
	}

	r.mu.Lock()
	r.seen[k] = id
	r.mu.Unlock()
	return id, nil
}

// Composite returns the composite that controls an object, as it is now, or nil when nothing does. It fails as Of does.
func Composite(ctx context.Context, live client.Reader, o client.Object, gvk schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	ref := metav1.GetControllerOf(o)
	if ref == nil {
		return nil, nil
	}
	there, err := exists(ctx, live, o.GetNamespace(), ref)
	switch {
	case err != nil:
		return nil, err
	case !composes(ref):
		return nil, fmt.Errorf("the controlling %s %q is no composite: remove the owner reference", ref.Kind, ref.Name)
	case there == nil:
		return nil, fmt.Errorf("the controlling %s %q is gone, so this object will be garbage collected", ref.Kind, ref.Name)
	}
	c := &unstructured.Unstructured{}
	if err := get(ctx, live, o.GetNamespace(), ref, c); err != nil {
		return nil, err
	}
	if c.GetUID() != ref.UID || !lists(c, o, gvk) {
		return nil, fmt.Errorf("the controlling %s %q does not compose this object: remove the owner reference", ref.Kind, ref.Name)
	}
	return c, nil
}

// Forget what was remembered of an object that is gone.
func (r *Resolver) Forget(o client.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := range r.seen {
		if k.object == o.GetUID() {
			delete(r.seen, k)
		}
	}
}

// Alive is true when a composite controls the object, exists and is not being deleted itself, or a claim will make it anew. Nothing that such
// an object manages may be deleted outside, because the composite will make the object again. In a namespace that is being deleted it will
// not: that cannot be undone, and everything in it goes in no particular order.
func (r *Resolver) Alive(ctx context.Context, o client.Object) (bool, error) {
	ref := metav1.GetControllerOf(o)
	if ref == nil {
		return false, nil
	}
	c, err := exists(ctx, r.live, o.GetNamespace(), ref)
	if err != nil {
		return false, err
	}
	if c == nil || c.GetDeletionTimestamp() != nil {
		if claimed, err := claimed(ctx, r.live, o, ref); err != nil || !claimed {
			return false, err
		}
	}
	terminating, err := NamespaceTerminating(ctx, r.live, o.GetNamespace())
	return !terminating && err == nil, err
}

// NamespaceTerminating is true while a namespace is being deleted.
func NamespaceTerminating(ctx context.Context, live client.Reader, name string) (bool, error) {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := live.Get(ctx, types.NamespacedName{Name: name}, ns); err != nil {
		return false, fmt.Errorf("cannot get namespace %q: %w", name, err)
	}
	return ns.GetDeletionTimestamp() != nil, nil
}

// composes says whether a reference may be to a composite. Kubernetes' own kinds are none, Secrets among them. Those whose groups have no
// dot and those of k8s.io are its own; a group of custom resources has one.
func composes(ref *metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && strings.Contains(gv.Group, ".") && gv.Group != "k8s.io" && !strings.HasSuffix(gv.Group, ".k8s.io")
}

// exists returns the metadata of the composite that the reference means, or nil when there is none. An owner reference can be written by
// whoever may write the object, and name anything: what it names is not read before it is known to be the right object.
func exists(ctx context.Context, live client.Reader, namespace string, ref *metav1.OwnerReference) (*metav1.PartialObjectMetadata, error) {
	if !composes(ref) {
		return nil, nil
	}
	c := &metav1.PartialObjectMetadata{}
	err := get(ctx, live, namespace, ref, c)
	switch {
	case kerrors.IsNotFound(err), meta.IsNoMatchError(err):
		// Without its kind there is no object either.
		return nil, nil
	case err != nil:
		return nil, err
	case c.GetUID() != ref.UID:
		return nil, nil
	}
	return c, nil
}

// get what a reference means, or as much of it as there is room for. A namespaced object's controller is of its namespace or cluster scoped.
func get(ctx context.Context, live client.Reader, namespace string, ref *metav1.OwnerReference, into client.Object) error {
	into.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	if err := live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: ref.Name}, into); err != nil {
		return fmt.Errorf("cannot get the controlling %s %q: %w", ref.Kind, ref.Name, err)
	}
	return nil
}

// lists is true when the composite refers to the object among those it composes: in spec.crossplane.resourceRefs, or in spec.resourceRefs
// when it is a composite behind a claim. A cluster-scoped composite says in which namespace; a namespaced one composes in its own alone.
func lists(composite *unstructured.Unstructured, o client.Object, gvk schema.GroupVersionKind) bool {
	for _, path := range [][]string{{"spec", "crossplane", "resourceRefs"}, {"spec", "resourceRefs"}} {
		refs, _, _ := unstructured.NestedSlice(composite.Object, path...)
		for _, ref := range refs {
			m, ok := ref.(map[string]any)
			if !ok {
				continue
			}
			namespace, _ := m["namespace"].(string)
			if namespace == "" {
				namespace = composite.GetNamespace()
			}
			if namespace == o.GetNamespace() && m["apiVersion"] == gvk.GroupVersion().String() && m["kind"] == gvk.Kind && m["name"] == o.GetName() {
				return true
			}
		}
	}
	return false
}
