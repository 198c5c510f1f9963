package composite

import (
	"cmp"
	"errors"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// ClusterProviderConfig is the kind of the provider configs that composites name: an admin's, never one of the composite's namespace.
const ClusterProviderConfig = "ClusterProviderConfig"

// An Object is an observed composed resource, as far as we read it.
type Object[Spec, Status any] struct {
	Kind     string `json:"kind"`
	Metadata Meta   `json:"metadata"`
	Spec     Spec   `json:"spec"`
	Status   Status `json:"status"`
}

// Observe the composed resource of a name. It is nil when there is none. One of another namespace than whom the composite speaks for was composed
// for somebody else, whose names and answers are none of this one's business.
func Observe[Spec, Status any](s Subject, observed map[string]*structpb.Struct, name, kind string) (*Object[Spec, Status], error) {
	resource, ok := observed[name]
	if !ok {
		return nil, nil
	}
	o := &Object[Spec, Status]{}
	err := Decode(resource, o)
	switch {
	case err != nil:
	case o.Kind != kind:
		err = fmt.Errorf("kind: must be %s", kind)
	case o.Metadata.Name == "":
		err = errors.New("metadata.name: required")
	case o.Metadata.Namespace != s.Namespace:
		err = fmt.Errorf("metadata.namespace: must be %q", s.Namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("observed resource %q: %w", name, err)
	}
	return o, nil
}

// Manifest of a composed resource in the namespace of its composite: exactly the fields that a function owns.
func Manifest(s Subject, apiVersion, kind, name string, annotations, spec map[string]any) (*structpb.Struct, error) {
	metadata := map[string]any{"namespace": s.Namespace, "name": name}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	m, err := structpb.NewStruct(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "spec": spec})
	if err != nil {
		return nil, fmt.Errorf("cannot render %s %q: %w", kind, name, err)
	}
	return m, nil
}

// Carries tells whether an observed object, which is not being deleted, holds what is desired. Same compares what we own of the two.
func Carries[Spec, Status any](observed *Object[Spec, Status], desired *structpb.Struct, same func(desired, observed *Object[Spec, Status]) bool) (bool, error) {
	if observed == nil || desired == nil || observed.Metadata.DeletionTimestamp != "" {
		return false, nil
	}
	want := &Object[Spec, Status]{}
	if err := Decode(desired, want); err != nil {
		return false, fmt.Errorf("cannot compare %s %q: %w", observed.Kind, observed.Metadata.Name, err)
	}
	return same(want, observed), nil
}

// Answers are the conditions of a managed resource. Only those count that belong to what it is asked now.
type Answers struct {
	Generation int64
	Status     xpv2.ManagedResourceStatus
}

// Get the current answer of a type.
func (a Answers) Get(t xpv2.ConditionType) (xpv2.Condition, bool) {
	for _, c := range a.Status.Conditions {
		if c.Type == t {
			return c, a.current(c)
		}
	}
	return xpv2.Condition{}, false
}

// None is true as long as nothing was said at all.
func (a Answers) None() bool { return len(a.Status.Conditions) == 0 }

// Negative are all current answers that are not True.
func (a Answers) Negative() []xpv2.Condition {
	var out []xpv2.Condition
	for _, c := range a.Status.Conditions {
		if c.Status != corev1.ConditionTrue && a.current(c) {
			out = append(out, c)
		}
	}
	return out
}

// current tells whether a condition was set upon the current generation. A condition that does not say speaks of the generation that
// the whole status speaks of.
func (a Answers) current(c xpv2.Condition) bool {
	g := cmp.Or(c.ObservedGeneration, a.Status.ObservedGeneration)
	return g > 0 && g == a.Generation
}

// AreTrue tells whether each of the types has the current answer True.
func (a Answers) AreTrue(types ...xpv2.ConditionType) bool {
	for _, t := range types {
		if c, ok := a.Get(t); !ok || c.Status != corev1.ConditionTrue {
			return false
		}
	}
	return true
}

// WasTrue tells whether the last answer was True, whatever it belongs to. It proves that something was done, not that it is done.
func (a Answers) WasTrue(t xpv2.ConditionType) bool {
	return a.Status.GetCondition(t).Status == corev1.ConditionTrue
}
