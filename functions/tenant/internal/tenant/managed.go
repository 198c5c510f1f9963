package tenant

import (
	"cmp"
	"errors"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// An object is an observed composed resource, as far as we read it.
type object[Spec, Status any] struct {
	Kind     string `json:"kind"`
	Metadata meta   `json:"metadata"`
	Spec     Spec   `json:"spec"`
	Status   Status `json:"status"`
}

// observe the composed resource of a name. It is nil when there is none.
func observe[Spec, Status any](observed map[string]*structpb.Struct, name, kind string) (*object[Spec, Status], error) {
	s, ok := observed[name]
	if !ok {
		return nil, nil
	}
	o := &object[Spec, Status]{}
	err := decode(s, o)
	switch {
	case err != nil:
	case o.Kind != kind:
		err = fmt.Errorf("kind: must be %s", kind)
	case o.Metadata.Name == "":
		err = errors.New("metadata.name: required")
	case o.Metadata.Namespace == "":
		err = errors.New("metadata.namespace: required")
	}
	if err != nil {
		return nil, fmt.Errorf("observed resource %q: %w", name, err)
	}
	return o, nil
}

// Answers are the conditions of a managed resource. Only those count that belong to what it is asked now.
type answers struct {
	generation int64
	status     xpv2.ManagedResourceStatus
}

// get the current answer of a type.
func (a answers) get(t xpv2.ConditionType) (xpv2.Condition, bool) {
	for _, c := range a.status.Conditions {
		if c.Type == t {
			return c, a.current(c)
		}
	}
	return xpv2.Condition{}, false
}

// none is true as long as nothing was said at all.
func (a answers) none() bool { return len(a.status.Conditions) == 0 }

// all current answers that are not True.
func (a answers) negative() []xpv2.Condition {
	var out []xpv2.Condition
	for _, c := range a.status.Conditions {
		if c.Status != corev1.ConditionTrue && a.current(c) {
			out = append(out, c)
		}
	}
	return out
}

// current tells whether a condition was set upon the current generation. A condition that does not say speaks of the generation that
// the whole status speaks of.
func (a answers) current(c xpv2.Condition) bool {
	g := cmp.Or(c.ObservedGeneration, a.status.ObservedGeneration)
	return g > 0 && g == a.generation
}

// areTrue tells whether each of the types has the current answer True.
func (a answers) areTrue(types ...xpv2.ConditionType) bool {
	for _, t := range types {
		if c, ok := a.get(t); !ok || c.Status != corev1.ConditionTrue {
			return false
		}
	}
	return true
}

// wasTrue tells whether the last answer was True, whatever it belongs to. It proves that something was done, not that it is done.
func (a answers) wasTrue(t xpv2.ConditionType) bool {
	return a.status.GetCondition(t).Status == corev1.ConditionTrue
}
