package deadmanswitch

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/child"
)

var _ managed.TypedExternalClient[*v1alpha1.DeadmanSwitch] = &external{}

// external is one reconcile's view of one switch.
type external struct {
	*connector

	team *child.Team
	// id of the switch that was observed to be this object's, 0 when there is none.
	id int64
}

func (e *external) Observe(ctx context.Context, mg *v1alpha1.DeadmanSwitch) (managed.ExternalObservation, error) {
	want, err := desired(mg.Spec.ForProvider)
	if err != nil {
		return managed.ExternalObservation{}, e.Fail(mg, err)
	}
	all, err := e.team.Client.DeadmanSwitches(ctx, e.team.ID)
	if terdut.IsNotFound(err) {
		return e.NoTeam(ctx, e.kube, mg, e.team)
	}
	if err != nil {
		return managed.ExternalObservation{}, e.Fail(mg, err)
	}
	if child.OnlyObserves(mg) {
		return e.look(mg, all), nil
	}
	place, err := e.find(ctx, mg, all, want)
	if err != nil {
		return managed.ExternalObservation{}, e.Fail(mg, err)
	}
	e.id = place.ID
	if meta.WasDeleted(mg) {
		if e.id == 0 {
			return child.Absent, nil
		}
		return child.UpToDate, nil
	}
	if o, done, err := e.Settle(ctx, e.kube, mg, e.team, place); done || err != nil {
		return o, err
	}
	is := byID(all, e.id)
	project(mg, e.team, is)
	if want.Timeout != is.Timeout || !child.Keeps(mg, e.team, told(want), told(is.DeadmanSwitchParameters)) {
		return child.Differs, nil
	}
	if err := child.Remember(ctx, e.kube, mg, e.team, nameOf(want)); err != nil {
		return managed.ExternalObservation{}, e.Fail(mg, err)
	}
	e.InSync(mg)
	return child.UpToDate, nil
}

// find the object's own switch among all of the team.
func (e *external) find(ctx context.Context, mg *v1alpha1.DeadmanSwitch, all []terdut.DeadmanSwitch, want terdut.DeadmanSwitchParameters) (child.Place, error) {
	items := make([]child.Item, len(all))
	for i, s := range all {
		items[i] = item(s.ID, s.DeadmanSwitchParameters)
	}
	return child.Find(ctx, e.kube, mg, e.team, list, "switch", items, item(0, want))
}

// look at a switch without touching it.
func (e *external) look(mg *v1alpha1.DeadmanSwitch, all []terdut.DeadmanSwitch) managed.ExternalObservation {
	s := byID(all, child.ID(mg))
	if s == nil {
		return managed.ExternalObservation{}
	}
	project(mg, e.team, s)
	e.InSync(mg)
	return child.UpToDate
}

func byID(all []terdut.DeadmanSwitch, id int64) *terdut.DeadmanSwitch {
	if i := slices.IndexFunc(all, func(s terdut.DeadmanSwitch) bool { return s.ID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

func project(mg *v1alpha1.DeadmanSwitch, t *child.Team, s *terdut.DeadmanSwitch) {
	mg.Status.AtProvider = v1alpha1.DeadmanSwitchObservation{SwitchID: s.ID, TeamID: t.ID, Name: s.Name}
}

// Create records what it is about to ask for, then asks. What came of an answer that is lost, Observe finds by the record.
func (e *external) Create(ctx context.Context, mg *v1alpha1.DeadmanSwitch) (managed.ExternalCreation, error) {
	release, err := e.locks.Acquire(ctx, e.team)
	if err != nil {
		return managed.ExternalCreation{}, e.Fail(mg, err)
	}
	defer release()
	want, err := desired(mg.Spec.ForProvider)
	if err != nil {
		return managed.ExternalCreation{}, e.Fail(mg, err)
	}
	// Another object of this provider may have taken the name since.
	all, err := e.team.Client.DeadmanSwitches(ctx, e.team.ID)
	if err != nil {
		return managed.ExternalCreation{}, e.Fail(mg, err)
	}
	place, err := e.find(ctx, mg, all, want)
	if err != nil {
		return managed.ExternalCreation{}, e.Fail(mg, err)
	}
	if place.ID != 0 || place.Reason != "" {
		return managed.ExternalCreation{}, e.Fail(mg, child.ErrTaken)
	}
	first, err := child.Begin(ctx, e.kube, mg, e.team, item(0, want))
	if err != nil {
		return managed.ExternalCreation{}, e.Fail(mg, err)
	}
	s, err := e.team.Client.CreateDeadmanSwitch(ctx, e.team.ID, want)
	if err != nil {
		child.Failed(ctx, e.kube, mg, first, err)
		return managed.ExternalCreation{}, e.Fail(mg, err)
	}
	// Best effort: without it the server is told once more.
	_ = child.Tell(ctx, e.kube, mg, e.team, nameOf(want), told(want), told(s.DeadmanSwitchParameters))
	meta.SetExternalName(mg, fmt.Sprint(s.ID))
	return managed.ExternalCreation{}, nil
}

// Update replaces the switch, or deletes it from a Team that the object has left.
func (e *external) Update(ctx context.Context, mg *v1alpha1.DeadmanSwitch) (managed.ExternalUpdate, error) {
	if e.team.Leaving {
		return managed.ExternalUpdate{}, e.leave(ctx, mg)
	}
	if err := e.update(ctx, mg); err != nil {
		return managed.ExternalUpdate{}, e.Fail(mg, err)
	}
	e.InSync(mg)
	return managed.ExternalUpdate{}, nil
}

// update the switch, and look at what the server has made of it.
func (e *external) update(ctx context.Context, mg *v1alpha1.DeadmanSwitch) error {
	want, err := desired(mg.Spec.ForProvider)
	if err != nil {
		return err
	}
	if err := e.team.Client.UpdateDeadmanSwitch(ctx, e.team.ID, e.id, want); err != nil {
		return err
	}
	all, err := e.team.Client.DeadmanSwitches(ctx, e.team.ID)
	if err != nil {
		return err
	}
	is := byID(all, e.id)
	if is == nil {
		return nil // The next observation says so.
	}
	project(mg, e.team, is)
	return child.Tell(ctx, e.kube, mg, e.team, nameOf(want), told(want), told(is.DeadmanSwitchParameters))
}

func (e *external) leave(ctx context.Context, mg *v1alpha1.DeadmanSwitch) error {
	if err := e.drop(ctx); err != nil {
		return e.Fail(mg, err)
	}
	return child.Forget(ctx, e.kube, mg)
}

// Delete the switch that was observed.
func (e *external) Delete(ctx context.Context, mg *v1alpha1.DeadmanSwitch) (managed.ExternalDelete, error) {
	if err := e.drop(ctx); err != nil {
		return managed.ExternalDelete{}, e.Fail(mg, err)
	}
	return managed.ExternalDelete{}, nil
}

func (e *external) drop(ctx context.Context) error {
	if err := e.team.Client.DeleteDeadmanSwitch(ctx, e.team.ID, e.id); err != nil && !terdut.IsNotFound(err) {
		return err
	}
	return nil
}

// Disconnect is nothing: clients are shared.
func (e *external) Disconnect(context.Context) error { return nil }
