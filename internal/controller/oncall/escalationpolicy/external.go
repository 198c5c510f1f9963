package escalationpolicy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/child"
)

var _ managed.TypedExternalClient[*v1alpha1.EscalationPolicy] = &external{}

// external is one reconcile's view of the policy of one team.
type external struct {
	*connector

	team *child.Team
	// want is what the policy is to be, and is what it was observed to be.
	want, is terdut.EscalationPolicy
}

func (e *external) Observe(ctx context.Context, mg *v1alpha1.EscalationPolicy) (managed.ExternalObservation, error) {
	p, err := e.team.Client.EscalationPolicy(ctx, e.team.ID)
	if terdut.IsNotFound(err) {
		return e.NoTeam(ctx, e.kube, mg, e.team)
	}
	if err != nil {
		return managed.ExternalObservation{}, e.Fail(mg, err)
	}
	e.is = *p
	if child.OnlyObserves(mg) {
		project(mg, e.team, p)
		e.InSync(mg)
		return child.UpToDate, nil
	}
	siblings, err := child.Siblings(ctx, e.kube, mg, e.team, list)
	if err != nil {
		return managed.ExternalObservation{}, e.Fail(mg, err)
	}
	rival := rivalOf(mg, siblings)
	if meta.WasDeleted(mg) || e.team.Leaving {
		return e.end(ctx, mg, rival)
	}
	if rival != "" {
		return e.Stop(mg, v1alpha1.ReasonConflict, fmt.Sprintf("EscalationPolicy %q is for the same Team and older: a team has one policy", rival)), nil
	}
	unknown, err := e.resolve(ctx, mg)
	switch a := (*ambiguousError)(nil); {
	case errors.As(err, &a):
		return e.Stop(mg, v1alpha1.ReasonConflict, a.Error()), nil
	case err != nil:
		return managed.ExternalObservation{}, e.Fail(mg, err)
	case len(unknown) > 0:
		return e.Stop(mg, v1alpha1.ReasonUnknownUser, "the server has no user "+strings.Join(unknown, ", ")), nil
	}
	return e.judge(ctx, mg, siblings)
}

// judge a policy that no other object has.
func (e *external) judge(ctx context.Context, mg *v1alpha1.EscalationPolicy, siblings []client.Object) (managed.ExternalObservation, error) {
	equal := e.is.Equal(e.want)
	owned := child.Wrote(mg, e.team)
	switch {
	case !owned && !equal && !isEmpty(&e.is) && !slices.ContainsFunc(siblings, func(s client.Object) bool { return child.Wrote(s, e.team) }):
		if err := child.Disown(ctx, e.kube, mg); err != nil {
			return managed.ExternalObservation{}, e.Fail(mg, err)
		}
		return e.Stop(mg, v1alpha1.ReasonConflict, fmt.Sprintf(
			"team %d has a policy that is not this object's; to replace it, set the annotation %s to that id, or empty the policy", e.team.ID, meta.AnnotationKeyExternalName)), nil
	case !owned, meta.GetExternalName(mg) != fmt.Sprint(e.team.ID):
		e.Creating(mg)
		return child.Absent, nil
	}
	if err := child.Keep(ctx, e.kube, mg, e.team); err != nil {
		return managed.ExternalObservation{}, e.Fail(mg, err)
	}
	project(mg, e.team, &e.is)
	if !equal {
		return child.Differs, nil
	}
	e.InSync(mg)
	return child.UpToDate, nil
}

// end of what an object has to do with a team: nothing is left when it never wrote the policy, when that is empty, or when it is another
// object's.
func (e *external) end(ctx context.Context, mg *v1alpha1.EscalationPolicy, rival string) (managed.ExternalObservation, error) {
	if rival == "" && child.Wrote(mg, e.team) && !isEmpty(&e.is) {
		if meta.WasDeleted(mg) {
			return child.UpToDate, nil
		}
		return child.Differs, nil
	}
	if meta.WasDeleted(mg) {
		return child.Absent, nil
	}
	return child.UpToDate, child.Forget(ctx, e.kube, mg)
}

// rivalOf returns the name of an older object for the same Team, empty when there is none.
func rivalOf(mg *v1alpha1.EscalationPolicy, siblings []client.Object) string {
	for _, s := range siblings {
		if child.Older(s, mg) {
			return s.GetName()
		}
	}
	return ""
}

// resolve the usernames of the spec. It returns those that the server does not have.
func (e *external) resolve(ctx context.Context, mg *v1alpha1.EscalationPolicy) (unknown []string, err error) {
	var users []terdut.User
	if asksForUsers(mg.Spec.ForProvider) {
		if users, err = e.team.Client.Users(ctx); err != nil {
			return nil, err
		}
	}
	e.want, unknown, err = desired(mg.Spec.ForProvider, users)
	return unknown, err
}

// Create makes the team's policy this object's. It records that before it writes.
func (e *external) Create(ctx context.Context, mg *v1alpha1.EscalationPolicy) (managed.ExternalCreation, error) {
	first, err := child.Begin(ctx, e.kube, mg, e.team, child.Item{})
	if err != nil {
		return managed.ExternalCreation{}, e.Fail(mg, err)
	}
	if !e.is.Equal(e.want) {
		if err := e.team.Client.SetEscalationPolicy(ctx, e.team.ID, e.want); err != nil {
			child.Failed(ctx, e.kube, mg, first, err)
			return managed.ExternalCreation{}, e.Fail(mg, err)
		}
	}
	meta.SetExternalName(mg, fmt.Sprint(e.team.ID))
	return managed.ExternalCreation{}, nil
}

// Update replaces the policy, or empties that of a Team that the object has left.
func (e *external) Update(ctx context.Context, mg *v1alpha1.EscalationPolicy) (managed.ExternalUpdate, error) {
	if e.team.Leaving {
		if err := e.empty(ctx); err != nil {
			return managed.ExternalUpdate{}, e.Fail(mg, err)
		}
		return managed.ExternalUpdate{}, child.Forget(ctx, e.kube, mg)
	}
	if err := e.team.Client.SetEscalationPolicy(ctx, e.team.ID, e.want); err != nil {
		return managed.ExternalUpdate{}, e.Fail(mg, err)
	}
	project(mg, e.team, &e.want)
	e.InSync(mg)
	return managed.ExternalUpdate{}, nil
}

// Delete leaves the team with the policy that it had at first.
func (e *external) Delete(ctx context.Context, mg *v1alpha1.EscalationPolicy) (managed.ExternalDelete, error) {
	if err := e.empty(ctx); err != nil {
		return managed.ExternalDelete{}, e.Fail(mg, err)
	}
	return managed.ExternalDelete{}, nil
}

func (e *external) empty(ctx context.Context) error {
	if err := e.team.Client.SetEscalationPolicy(ctx, e.team.ID, terdut.EscalationPolicy{}); err != nil && !terdut.IsNotFound(err) {
		return err
	}
	return nil
}

// Disconnect is nothing: clients are shared.
func (e *external) Disconnect(context.Context) error { return nil }

func project(mg *v1alpha1.EscalationPolicy, t *child.Team, p *terdut.EscalationPolicy) {
	mg.Status.AtProvider = v1alpha1.EscalationPolicyObservation{TeamID: t.ID, Levels: int32(min(len(p.Levels), math.MaxInt32))}
}
