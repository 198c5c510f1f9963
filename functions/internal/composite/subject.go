package composite

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// A Meta is what we read of an object's metadata.
type Meta struct {
	Namespace   string            `json:"namespace"`
	Name        string            `json:"name"`
	UID         types.UID         `json:"uid"`
	Generation  int64             `json:"generation"`
	Annotations map[string]string `json:"annotations"`
	// DeletionTimestamp is only ever looked at for whether it is set.
	DeletionTimestamp string            `json:"deletionTimestamp"`
	CreationTimestamp string            `json:"creationTimestamp"`
	Labels            map[string]string `json:"labels"`
	OwnerReferences   []OwnerReference  `json:"ownerReferences"`
}

// An OwnerReference is what we read of a reference to an owner.
type OwnerReference struct {
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
	Controller bool      `json:"controller"`
}

// ControlledBy tells whether the object is controlled by the one of a uid.
func (m Meta) ControlledBy(uid types.UID) bool {
	return slices.ContainsFunc(m.OwnerReferences, func(r OwnerReference) bool { return r.Controller && r.UID == uid })
}

// A Subject is whom a composite speaks for: what names, paths and the generation of an answer are derived from, and nothing else is. A
// namespaced composite speaks for itself. One of cluster scope speaks for the claim that it is behind, whose namespace, name, uid and
// generation are not those of the composite.
type Subject struct {
	types.NamespacedName
	UID types.UID
	// Generation that the composite's spec is of.
	Generation int64
	// Apart is true while that is not known, because the claim has another spec than the composite. Generation is 0 then.
	Apart bool
	// Composite is the uid of the composite itself, which controls what it is composed of.
	Composite types.UID

	// newest generation of the claim that is known; 0 without a claim.
	newest int64
	// claim is what the claim says of itself, nothing without a claim.
	claim xpv2.ConditionedStatus
}

// SubjectOf a composite. Required holds the claim of a composite of cluster scope, see AskForClaim.
func SubjectOf(xr *structpb.Struct, required map[string][]*structpb.Struct) (Subject, error) {
	m, err := identityOf(xr)
	if err != nil {
		return Subject{}, err
	}
	if m.Namespace == "" {
		return behind(xr, m, required)
	}
	return Subject{
		NamespacedName: types.NamespacedName{Namespace: m.Namespace, Name: m.Name}, UID: m.UID, Generation: m.Generation, Composite: m.UID,
	}, nil
}

// Earlier is what a status may go on to claim that claimed a generation before. While it is not known which generation the composite's spec is
// of, that is not the claim's newest one, nor one that the claim has not had: then it is 0, none.
func (s Subject) Earlier(claimed int64) int64 {
	if s.Apart && claimed >= s.newest {
		return 0
	}
	return claimed
}

// identityOf a composite, which always has a name and a uid.
func identityOf(xr *structpb.Struct) (Meta, error) {
	out := struct {
		Metadata Meta `json:"metadata"`
	}{}
	err := Decode(Pick(xr, "metadata"), &out)
	switch m := out.Metadata; {
	case err != nil:
	case m.Name == "":
		err = errors.New("metadata.name: required")
	case m.UID == "":
		err = errors.New("metadata.uid: required")
	}
	return out.Metadata, err
}

// Pick the named fields of an object.
func Pick(s *structpb.Struct, fields ...string) *structpb.Struct {
	out := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(fields))}
	for _, f := range fields {
		if v, ok := s.GetFields()[f]; ok {
			out.Fields[f] = v
		}
	}
	return out
}
