package integration

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/child"
)

var _ managed.TypedExternalClient[*v1alpha1.Integration] = &external{}

// reasonReplaced is the reason of the event that says that a webhook has ended.
const reasonReplaced event.Reason = "WebhookReplaced"

// external is one reconcile's view of one integration.
type external struct {
	*connector

	team *child.Team
	// is the integration that was observed to be this object's, nil when there is none.
	is *terdut.Integration
}

func (e *external) Observe(ctx context.Context, mg *v1alpha1.Integration) (managed.ExternalObservation, error) {
	all, err := e.team.Client.Integrations(ctx, e.team.ID)
	if terdut.IsNotFound(err) {
		return e.NoTeam(ctx, e.kube, mg, e.team)
	}
	if err != nil {
		return managed.ExternalObservation{}, e.Fail(mg, err)
	}
	if child.OnlyObserves(mg) {
		return e.look(mg, all), nil
	}
	place, err := e.find(ctx, mg, all)
	if err != nil {
		return managed.ExternalObservation{}, e.Fail(mg, err)
	}
	e.is = byID(all, place.ID)
	if meta.WasDeleted(mg) {
		if e.is == nil {
			return child.Absent, nil
		}
		return child.UpToDate, nil
	}
	s, err := e.readSecret(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, e.Fail(mg, err)
	}
	if s.foreign && !e.team.Leaving && (e.is == nil || place.Lost) {
		return e.Stop(mg, v1alpha1.ReasonConflict, foreign(mg)), nil
	}
	if place.Lost && s.holds != fmt.Sprint(place.ID) && !e.team.Leaving {
		// Its webhook got lost with the create that made it, so it is to be made again.
		e.Creating(mg)
		return child.Absent, nil
	}
	if o, done, err := e.Settle(ctx, e.kube, mg, e.team, place); done || err != nil {
		return o, err
	}
	project(mg, e.team, e.is)
	if child.Keeps(mg, e.team, []string{nameOf(mg)}, []string{e.is.Name}) {
		if err := child.Remember(ctx, e.kube, mg, e.team, nameOf(mg)); err != nil {
			return managed.ExternalObservation{}, e.Fail(mg, err)
		}
	}
	return e.judge(mg, s), nil
}

// judge an integration that is this object's, and recorded as such.
func (e *external) judge(mg *v1alpha1.Integration, s *secret) managed.ExternalObservation {
	id := fmt.Sprint(e.is.ID)
	switch {
	case s.object == nil, s.foreign, !s.complete && s.holds == id, s.complete && s.holds != id && s.holds != "":
		return e.Stop(mg, v1alpha1.ReasonWebhookSecretLost, lost(mg))
	case !s.complete, e.is.Kind != mg.Spec.ForProvider.Kind:
		// Nobody was ever given its webhook, or it is of another kind: it is replaced.
		e.Creating(mg)
		return child.Absent
	case !child.Keeps(mg, e.team, []string{nameOf(mg)}, []string{e.is.Name}):
		return child.Differs
	}
	e.InSync(mg)
	return child.UpToDate
}

func lost(mg *v1alpha1.Integration) string {
	return fmt.Sprintf("Secret %q, or what was in it, is gone, and the server shows a webhook once: delete this object and make it again", mg.Spec.ForProvider.SecretName)
}

// find the object's own integration among all of the team.
func (e *external) find(ctx context.Context, mg *v1alpha1.Integration, all []terdut.Integration) (child.Place, error) {
	items := make([]child.Item, len(all))
	for i, v := range all {
		items[i] = child.Item{ID: v.ID, Name: v.Name, Detail: v.Kind}
	}
	return child.Find(ctx, e.kube, mg, e.team, list, "integration", items, wanted(mg))
}

// Create reserves the Secret, makes the integration, and fills the Secret. It first deletes what is to be replaced.
func (e *external) Create(ctx context.Context, mg *v1alpha1.Integration) (managed.ExternalCreation, error) {
	if err := e.create(ctx, mg); err != nil {
		return managed.ExternalCreation{}, e.Fail(mg, err)
	}
	return managed.ExternalCreation{}, nil
}

func (e *external) create(ctx context.Context, mg *v1alpha1.Integration) error {
	release, err := e.locks.Acquire(ctx, e.team)
	if err != nil {
		return err
	}
	defer release()
	// Another object of this provider may have taken the name since.
	all, err := e.team.Client.Integrations(ctx, e.team.ID)
	if err != nil {
		return err
	}
	place, err := e.find(ctx, mg, all)
	if err != nil {
		return err
	}
	if old := byID(all, place.ID); (old == nil) != (e.is == nil) || (old != nil && old.ID != e.is.ID) || place.Reason != "" {
		return child.ErrTaken
	}
	reserved, err := e.reserve(ctx, mg)
	if err != nil {
		return err
	}
	if err := e.replace(ctx, mg); err != nil {
		return err
	}
	want := wanted(mg)
	first, err := child.Begin(ctx, e.kube, mg, e.team, want)
	if err != nil {
		return err
	}
	n, err := e.team.Client.CreateIntegration(ctx, e.team.ID, want.Detail, want.Name)
	if err != nil {
		child.Failed(ctx, e.kube, mg, first, err)
		return err
	}
	if err := e.fill(ctx, reserved, n); err != nil {
		return err
	}
	// Best effort: without it the server is told once more.
	_ = child.Tell(ctx, e.kube, mg, e.team, want.Name, []string{want.Name}, []string{n.Name})
	meta.SetExternalName(mg, fmt.Sprint(n.ID))
	return nil
}

// replace deletes an integration in whose place another one is to come.
func (e *external) replace(ctx context.Context, mg *v1alpha1.Integration) error {
	if e.is == nil {
		return nil
	}
	if err := e.drop(ctx); err != nil {
		return err
	}
	if e.is.Kind != mg.Spec.ForProvider.Kind {
		e.Recorder.Event(mg, event.Event{Type: event.TypeWarning, Reason: reasonReplaced, Message: fmt.Sprintf(
			"integration %d of kind %q was deleted because the kind is %q now: its webhook has ended, and the Secret gets another one", e.is.ID, e.is.Kind, mg.Spec.ForProvider.Kind)})
	}
	return nil
}

// Update renames the integration, or deletes it from a Team that the object has left.
func (e *external) Update(ctx context.Context, mg *v1alpha1.Integration) (managed.ExternalUpdate, error) {
	if e.team.Leaving {
		err := e.drop(ctx)
		if err == nil {
			err = child.Forget(ctx, e.kube, mg)
		}
		return managed.ExternalUpdate{}, e.failed(mg, err)
	}
	if err := e.rename(ctx, mg); err != nil {
		return managed.ExternalUpdate{}, e.Fail(mg, err)
	}
	e.InSync(mg)
	return managed.ExternalUpdate{}, nil
}

// rename the integration, and look at what the server has made of the name.
func (e *external) rename(ctx context.Context, mg *v1alpha1.Integration) error {
	name := nameOf(mg)
	if err := e.team.Client.RenameIntegration(ctx, e.team.ID, e.is.ID, name); err != nil {
		return err
	}
	all, err := e.team.Client.Integrations(ctx, e.team.ID)
	if err != nil {
		return err
	}
	is := byID(all, e.is.ID)
	if is == nil {
		return nil // The next observation says so.
	}
	project(mg, e.team, is)
	return child.Tell(ctx, e.kube, mg, e.team, name, []string{name}, []string{is.Name})
}

// Delete the integration that was observed. The Secret goes with the object that controls it.
func (e *external) Delete(ctx context.Context, mg *v1alpha1.Integration) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, e.failed(mg, e.drop(ctx))
}

func (e *external) failed(mg *v1alpha1.Integration, err error) error {
	if err == nil {
		return nil
	}
	return e.Fail(mg, err)
}

// drop the integration that was observed.
func (e *external) drop(ctx context.Context) error {
	if err := e.team.Client.DeleteIntegration(ctx, e.team.ID, e.is.ID); err != nil && !terdut.IsNotFound(err) {
		return err
	}
	return nil
}

// Disconnect is nothing: clients are shared.
func (e *external) Disconnect(context.Context) error { return nil }

// look at an integration without touching it. Its webhook is nobody's to know.
func (e *external) look(mg *v1alpha1.Integration, all []terdut.Integration) managed.ExternalObservation {
	i := byID(all, child.ID(mg))
	if i == nil {
		return managed.ExternalObservation{}
	}
	project(mg, e.team, i)
	e.InSync(mg)
	return child.UpToDate
}

func byID(all []terdut.Integration, id int64) *terdut.Integration {
	if i := slices.IndexFunc(all, func(v terdut.Integration) bool { return v.ID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

// nameOf is the name that an integration is to have.
func nameOf(mg *v1alpha1.Integration) string {
	if n := mg.Spec.ForProvider.Name; n != nil {
		return *n
	}
	return mg.Name
}

// wanted is what the server is asked for.
func wanted(mg *v1alpha1.Integration) child.Item {
	return child.Item{Name: nameOf(mg), Detail: mg.Spec.ForProvider.Kind}
}

// project what was observed into the status. Of the webhook it says where it is, and nothing else.
func project(mg *v1alpha1.Integration, t *child.Team, i *terdut.Integration) {
	mg.Status.AtProvider = v1alpha1.IntegrationObservation{IntegrationID: i.ID, TeamID: t.ID, Kind: i.Kind, Name: i.Name}
	if !child.OnlyObserves(mg) {
		mg.Status.AtProvider.SecretRef = &commonv1alpha1.LocalSecretReference{Name: mg.Spec.ForProvider.SecretName}
	}
}
