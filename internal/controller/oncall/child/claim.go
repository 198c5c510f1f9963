package child

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// Siblings of a child: the other objects of its kind in its namespace that refer to the same Team. Those that only look are none.
func Siblings(ctx context.Context, kube client.Reader, mg setup.Object, t *Team, list func() resource.ManagedList) ([]client.Object, error) {
	var siblings []client.Object
	for _, key := range []string{t.Object.GetName(), index.AnyTeam} {
		l := list()
		if err := kube.List(ctx, l, client.InNamespace(mg.GetNamespace()), client.MatchingFields{index.ChildByTeam: key}); err != nil {
			return nil, fmt.Errorf("cannot list the other objects of the Team: %w", err)
		}
		for _, o := range l.GetItems() {
			p, _ := index.TeamParametersOf(o)
			if o.GetUID() != mg.GetUID() && !OnlyObserves(o) && refersTo(p, t.Object) {
				siblings = append(siblings, o)
			}
		}
	}
	return siblings, nil
}

func refersTo(p v1alpha1.TeamParameters, t *v1alpha1.Team) bool {
	if p.TeamRef != nil {
		return p.TeamRef.Name == t.GetName()
	}
	for k, v := range p.TeamSelector.MatchLabels {
		if t.GetLabels()[k] != v {
			return false
		}
	}
	return true
}

// Older is true when an object came before another one. Of those made within the same second one is chosen.
func Older(a, b client.Object) bool {
	x, y := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if x.Equal(&y) {
		return strings.Compare(string(a.GetUID()), string(b.GetUID())) < 0
	}
	return x.Before(&y)
}

// claimant returns the name of an older sibling that has the same external name, empty when there is none. Annotations are copied when
// somebody makes a new object from an old one.
func claimant(mg setup.Object, t *Team, siblings []client.Object) string {
	for _, s := range siblings {
		if name := meta.GetExternalName(mg); name != "" && name == claim(s, t) && Older(s, mg) {
			return s.GetName()
		}
	}
	return ""
}

// has is true when an item is one of the siblings'.
func has(siblings []client.Object, t *Team, id int64) bool {
	return slices.ContainsFunc(siblings, func(s client.Object) bool { return claim(s, t) == fmt.Sprint(id) })
}

// claim is the external name of an object that is about this very team.
func claim(o client.Object, t *Team) string {
	if r := RecordOf(o); r != nil && !r.of(t) {
		return ""
	}
	return meta.GetExternalName(o)
}
