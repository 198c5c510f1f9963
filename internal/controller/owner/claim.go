package owner

import (
	"context"
	"fmt"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// labelClaim is Crossplane's, on what is composed behind a claim: the claim's name.
const labelClaim = "crossplane.io/claim-name"

// KnownAs returns the name that people know the composite by that controls an object: that of the claim, where one stands before it, else its
// own. It is empty when nobody controls the object. It is for messages alone, because labels can be written.
func KnownAs(o metav1.Object) string {
	ref := metav1.GetControllerOf(o)
	if ref == nil {
		return ""
	}
	if claim := o.GetLabels()[labelClaim]; claim != "" {
		return claim
	}
	return ref.Name
}

// kindPrefix is what the kind of a composite behind a claim begins with, before the claim's, by the convention that Crossplane's own
// documentation keeps.
const kindPrefix = "X"

// Behind returns the identity that a composite acts for, of what it composes in an object's namespace: that of the claim that it is behind,
// or its own. Only Crossplane and administrators write composites of cluster scope, so their reference to a claim can be followed; it fails
// when the claim is gone, or does not refer back.
func Behind(ctx context.Context, live client.Reader, o client.Object, composite *unstructured.Unstructured) (Identity, error) {
	itself := Identity{UID: composite.GetUID(), Namespace: composite.GetNamespace(), Name: composite.GetName()}
	if composite.GetNamespace() != "" {
		return itself, nil
	}
	ref, behind, err := unstructured.NestedStringMap(composite.Object, "spec", "claimRef")
	gvk := schema.FromAPIVersionAndKind(ref["apiVersion"], ref["kind"])
	switch {
	case err != nil:
		return Identity{}, fmt.Errorf("cannot read spec.claimRef of %s %q: %w", composite.GetKind(), composite.GetName(), err)
	case !behind:
		return itself, nil
	case ref["namespace"] != o.GetNamespace():
		return Identity{}, fmt.Errorf("%s %q is behind a claim of another namespace than this object", composite.GetKind(), composite.GetName())
	case gvk.Group != composite.GroupVersionKind().Group:
		// One definition makes both kinds. What is of another group is no claim, but may be a Secret.
		return Identity{}, fmt.Errorf("%s %q names a claim of another API group than its own", composite.GetKind(), composite.GetName())
	}
	claim, err := claimOf(ctx, live, types.NamespacedName{Namespace: ref["namespace"], Name: ref["name"]}, gvk)
	switch {
	case err != nil:
		return Identity{}, err
	case claim == nil || !refersTo(claim, composite.GroupVersionKind().GroupKind(), composite.GetName()):
		return Identity{}, fmt.Errorf("%s %q is not what stands behind %s %q of its spec.claimRef", composite.GetKind(), composite.GetName(), ref["kind"], ref["name"])
	}
	return Identity{UID: claim.GetUID(), Namespace: claim.GetNamespace(), Name: claim.GetName()}, nil
}

// claimed tells whether the claim that an object was composed for is there and not being deleted: it will have the object made again, by the
// composite that a reference means, which it makes anew, or by another. For a claim forgets its composite when somebody replaces it with a
// manifest that names none, and makes a second one. It is the claim that the object was composed for when it refers to the composite, or is no
// younger than the object. Labels can be written by whoever may write the object: a wrong one can only keep what is outside.
func claimed(ctx context.Context, live client.Reader, o client.Object, ref *metav1.OwnerReference) (bool, error) {
	name, kind := o.GetLabels()[labelClaim], strings.TrimPrefix(ref.Kind, kindPrefix)
	if name == "" || kind == ref.Kind || !composes(ref) {
		return false, nil
	}
	claim, err := claimOf(ctx, live, types.NamespacedName{Namespace: o.GetNamespace(), Name: name}, schema.FromAPIVersionAndKind(ref.APIVersion, kind))
	if err != nil || claim == nil {
		return false, err
	}
	if claim.GetDeletionTimestamp() != nil {
		return false, nil
	}
	claimMade, objectMade := claim.GetCreationTimestamp(), o.GetCreationTimestamp()
	return refersTo(claim, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind(), ref.Name) || !objectMade.Before(&claimMade), nil
}

// claimOf a name and kind, nil when there is none.
func claimOf(ctx context.Context, live client.Reader, name types.NamespacedName, gvk schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	claim := &unstructured.Unstructured{}
	claim.SetGroupVersionKind(gvk)
	err := live.Get(ctx, name, claim)
	switch {
	case kerrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot get claim %s %q: %w", gvk.Kind, name.Name, err)
	}
	return claim, nil
}

// refersTo tells whether a composite stands behind a claim.
func refersTo(claim *unstructured.Unstructured, kind schema.GroupKind, name string) bool {
	ref, _, err := unstructured.NestedStringMap(claim.Object, "spec", "resourceRef")
	return err == nil && ref["name"] == name && schema.FromAPIVersionAndKind(ref["apiVersion"], ref["kind"]).GroupKind() == kind
}
