package composite

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/types"
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
	UID        types.UID `json:"uid"`
	Controller bool      `json:"controller"`
}

// ControlledBy tells whether the object is controlled by the one of a uid.
func (m Meta) ControlledBy(uid types.UID) bool {
	return slices.ContainsFunc(m.OwnerReferences, func(r OwnerReference) bool { return r.Controller && r.UID == uid })
}

// A Subject is whom a composite speaks for: what names, paths and the generation of an answer are derived from, and nothing else is.
type Subject struct {
	types.NamespacedName
	UID        types.UID
	Generation int64
}

// SubjectOf a composite. A namespaced composite speaks for itself. A cluster-scoped one speaks for the claim that spec.claimRef names,
// whose namespace, name, uid and generation are not those of the composite.
func SubjectOf(xr *structpb.Struct) (Subject, error) {
	obj := struct {
		Metadata Meta `json:"metadata"`
	}{}
	if err := Decode(Pick(xr, "metadata"), &obj); err != nil {
		return Subject{}, err
	}
	m := obj.Metadata
	switch {
	case m.Name == "":
		return Subject{}, errors.New("metadata.name: required")
	case m.Namespace == "":
		return Subject{}, errors.New("metadata.namespace: required, because a composite of cluster scope has no namespace to compose into")
	case m.UID == "":
		return Subject{}, errors.New("metadata.uid: required")
	}
	return Subject{NamespacedName: types.NamespacedName{Namespace: m.Namespace, Name: m.Name}, UID: m.UID, Generation: m.Generation}, nil
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
