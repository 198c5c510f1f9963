package child

import (
	"context"
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// ErrTaken is what a create ends with when something of that name has appeared since it was decided on. The next observation says what.
var ErrTaken = connect.WithReason(errors.New("something of that name has just appeared on the server"), v1alpha1.ReasonConflict)

// Find a child's own item among all that its team has, and among those that its siblings have.
func Find(ctx context.Context, kube client.Reader, mg setup.Object, t *Team, list func() resource.ManagedList, noun string, items []Item, want Item) (Place, error) {
	siblings, err := Siblings(ctx, kube, mg, t, list)
	if err != nil {
		return Place{}, err
	}
	place := locate(mg, t, noun, items, want, func(i Item) bool { return has(siblings, t, i.ID) })
	if s := claimant(mg, t, siblings); s != "" && place.ID != 0 && !place.Lost {
		return Place{Reason: v1alpha1.ReasonConflict, Message: fmt.Sprintf(
			"%s %d belongs to %q, which has the same annotation %s and is older: remove it here", noun, place.ID, s, meta.AnnotationKeyExternalName)}, nil
	}
	return place, nil
}

// Settle all but an item of the child's own that is there and recorded. It is done when that is what the observation ends with.
func (r Reporter) Settle(ctx context.Context, kube client.Client, mg setup.Object, t *Team, p Place) (o managed.ExternalObservation, done bool, err error) {
	switch {
	case t.Leaving && p.ID != 0:
		return Differs, true, nil
	case t.Leaving:
		// That wakes it, to begin in its new Team.
		return UpToDate, true, Forget(ctx, kube, mg)
	case p.Stale:
		if err := Forget(ctx, kube, mg); err != nil {
			return UpToDate, true, err
		}
	}
	switch {
	case p.Reason != "":
		return r.Stop(mg, p.Reason, p.Message), true, nil
	case p.ID == 0:
		r.Creating(mg)
		return Absent, true, nil
	case p.Lost:
		if err := Adopt(ctx, kube, mg, p.ID); err != nil {
			return UpToDate, true, err
		}
	}
	return UpToDate, false, Keep(ctx, kube, mg, t)
}

// NoTeam settles that the server has no such team. For a child that is being deleted nothing is left then.
func (r Reporter) NoTeam(ctx context.Context, kube client.Client, mg setup.Object, t *Team) (managed.ExternalObservation, error) {
	switch {
	case meta.WasDeleted(mg):
		return Absent, nil
	case t.Leaving:
		return UpToDate, Forget(ctx, kube, mg)
	}
	// The Team makes it anew, which wakes its children.
	return r.Stop(mg, v1alpha1.ReasonWaitingForTeam, fmt.Sprintf("the server does not have the team of Team %q any more", t.Object.GetName())), nil
}
