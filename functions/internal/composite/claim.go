package composite

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/request"
	"github.com/crossplane/function-sdk-go/response"
)

// RequiredClaim is the name of the requirement with which a composite of cluster scope asks for the claim that it is behind.
const RequiredClaim = "claim"

// machinery are the fields of a spec that are Crossplane's own, and not of the kind: those of composites, of composites behind claims, and
// of claims (package xcrd of crossplane-runtime v2.4).
var machinery = []string{
	"crossplane", "compositionRef", "compositionSelector", "compositionRevisionRef", "compositionRevisionSelector", "compositionUpdatePolicy",
	"resourceRefs", "claimRef", "resourceRef", "compositeDeletePolicy", "writeConnectionSecretToRef",
}

// OwnSpec is the spec of a composite or claim without the fields that are Crossplane's own, nil when there is no spec.
func OwnSpec(obj *structpb.Struct) *structpb.Struct {
	spec := obj.GetFields()["spec"].GetStructValue()
	if spec == nil {
		return nil
	}
	out := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(spec.GetFields()))}
	for f, v := range spec.GetFields() {
		if !slices.Contains(machinery, f) {
			out.Fields[f] = v
		}
	}
	return out
}

// Required are the answers to a function's requirements by their names. One that was not asked for yet is missing; one that does not exist
// is empty.
func Required(req *fnv1.RunFunctionRequest) map[string][]*structpb.Struct {
	out := make(map[string][]*structpb.Struct, len(req.GetRequiredResources()))
	for name, r := range req.GetRequiredResources() {
		items := []*structpb.Struct{}
		for _, i := range r.GetItems() {
			items = append(items, i.GetResource())
		}
		out[name] = items
	}
	return out
}

// AskForClaim adds to a response that the claim is required which the composite is behind; a namespaced composite is behind none. It returns
// false while the claim is not known: the response is complete then, and Crossplane calls again with the claim.
func AskForClaim(req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) (known bool, err error) {
	xr := req.GetObserved().GetComposite().GetResource()
	m, err := identityOf(xr)
	if err != nil || m.Namespace != "" {
		return err == nil, err
	}
	ref, err := claimRefOf(xr)
	if err != nil {
		return false, err
	}
	if !request.HasCapability(req, fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES) {
		// It would take a response without resources for the last word, and delete everything.
		return false, errors.New("this Crossplane does not fetch required resources, and the claim is one")
	}
	rsp.Requirements = &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{RequiredClaim: {
		ApiVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ptr.To(ref.Namespace), Match: &fnv1.ResourceSelector_MatchName{MatchName: ref.Name},
	}}}
	_, known = req.GetRequiredResources()[RequiredClaim]
	return known, nil
}

// Fatal adds to a response that nothing may change, and why. Behind a claim an event says so at the claim too, whose author does not see the
// composite.
func Fatal(req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse, err error) {
	if m, identityErr := identityOf(req.GetObserved().GetComposite().GetResource()); identityErr == nil && m.Namespace == "" {
		response.Warning(rsp, err).TargetCompositeAndClaim()
	}
	response.Fatal(rsp, err)
}

// A reference to a claim, or to a composite, which has no namespace then.
type reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// groupKind of what is referred to. Of versions there may be several.
func (r reference) groupKind() schema.GroupKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind).GroupKind()
}

// groupKindOf a composite.
func groupKindOf(xr *structpb.Struct) schema.GroupKind {
	return reference{APIVersion: xr.GetFields()["apiVersion"].GetStringValue(), Kind: xr.GetFields()["kind"].GetStringValue()}.groupKind()
}

// claimRefOf a composite of cluster scope.
func claimRefOf(xr *structpb.Struct) (reference, error) {
	obj := struct {
		Spec struct {
			ClaimRef *reference `json:"claimRef"`
		} `json:"spec"`
	}{}
	if err := Decode(Pick(xr, "spec"), &obj); err != nil {
		return reference{}, err
	}
	ref := obj.Spec.ClaimRef
	switch {
	case ref == nil:
		return reference{}, errors.New("metadata.namespace: required, because a composite of cluster scope has no namespace to compose into " +
			"unless spec.claimRef names its claim")
	case ref.APIVersion == "" || ref.Kind == "" || ref.Namespace == "" || ref.Name == "":
		return reference{}, errors.New("spec.claimRef: must have apiVersion, kind, namespace and name")
	case ref.groupKind().Group != groupKindOf(xr).Group:
		// One definition makes both kinds. What is of another group is no claim, but may be a Secret.
		return reference{}, errors.New("spec.claimRef.apiVersion: must be of the composite's API group")
	}
	return *ref, nil
}

// behind is the subject of a composite of cluster scope: its claim.
func behind(xr *structpb.Struct, m Meta, required map[string][]*structpb.Struct) (Subject, error) {
	ref, err := claimRefOf(xr)
	if err != nil {
		return Subject{}, err
	}
	items := required[RequiredClaim]
	if len(items) == 0 {
		return Subject{}, fmt.Errorf("there is no %s %q in namespace %q, which spec.claimRef names", ref.Kind, ref.Name, ref.Namespace)
	}
	claim := struct {
		Metadata Meta `json:"metadata"`
		Spec     struct {
			ResourceRef reference `json:"resourceRef"`
		} `json:"spec"`
	}{}
	if err := Decode(Pick(items[0], "metadata", "spec"), &claim); err != nil {
		return Subject{}, fmt.Errorf("claim: %w", err)
	}
	c := claim.Metadata
	switch {
	case c.Namespace != ref.Namespace || c.Name != ref.Name || c.UID == "":
		return Subject{}, errors.New("claim: it is not the one that spec.claimRef names")
	case claim.Spec.ResourceRef.Name != m.Name || claim.Spec.ResourceRef.groupKind() != groupKindOf(xr):
		// Of two composites that name one claim, the claim says which is its own.
		return Subject{}, fmt.Errorf("claim: its spec.resourceRef does not name this composite, %q", m.Name)
	}
	s := Subject{UID: c.UID, Composite: m.UID, newest: c.Generation, claim: conditionsOf(items[0])}
	s.Namespace, s.Name = c.Namespace, c.Name
	if s.Apart = !proto.Equal(OwnSpec(xr), OwnSpec(items[0])); !s.Apart {
		s.Generation = c.Generation
	}
	return s, nil
}
