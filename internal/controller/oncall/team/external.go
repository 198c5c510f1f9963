package team

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

var _ managed.TypedExternalClient[*v1alpha1.Team] = &external{}

// external is one reconcile's view of one team.
type external struct {
	*connector

	// cred is nil before anything was done.
	cred *credential.Credential
	// server is where the team is to be. It is nil while denied or wait says why there is none.
	server *connect.Server
	denied string
	wait   error

	// team as it is on the server.
	team *terdut.Team
	// account of the team, nil when there is none, and keys of it.
	account *terdut.ServiceAccount
	keys    []terdut.KeyInfo
	// dead is true when there is no key of the account that the server takes.
	dead bool
	// why a team that was there is made again.
	again string
	// left is the credential of an object of this name that is gone, for the team that is to be taken over.
	left *credential.Credential
}

// upToDate is an observation that asks for no write.
var upToDate = managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}

func (e *external) Observe(ctx context.Context, mg *v1alpha1.Team) (managed.ExternalObservation, error) {
	if meta.WasDeleted(mg) {
		return e.observeDeleted(ctx, mg)
	}
	e.project(mg)
	switch {
	case e.denied != "":
		if err := e.suspend(ctx); err != nil {
			return managed.ExternalObservation{}, e.fail(mg, err)
		}
		return e.stop(mg, v1alpha1.ReasonRefNotPermitted, e.denied), nil
	case e.wait != nil:
		return e.stop(mg, connect.ReasonOf(e.wait, v1alpha1.ReasonConfigNotReady), e.wait.Error()), nil //nolint:nilerr // It is waited for.
	case onlyObserves(mg):
		return e.observeOnly(ctx, mg)
	}
	found, err := e.find(ctx, mg)
	if s := (*stopError)(nil); errors.As(err, &s) {
		return e.stop(mg, s.reason, s.message), nil
	}
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	if !found {
		if c := mg.GetCondition(v1alpha1.TypeTeamReady); c.Status != corev1.ConditionUnknown || c.Reason == "" {
			setup.Mark(mg, setup.Condition(v1alpha1.TypeTeamReady, corev1.ConditionFalse, xpv2.ReasonCreating, ""))
		}
		setup.Mark(mg, xpv2.Creating())
		return managed.ExternalObservation{ResourceUpToDate: true}, nil
	}
	if e.cred != nil && e.cred.TeamID != 0 {
		// Whatever somebody wrote there: the credential knows.
		if err := setup.SetExternalName(ctx, e.kube, mg, strconv.FormatInt(e.cred.TeamID, 10)); err != nil {
			return managed.ExternalObservation{}, err
		}
	}
	if e.differs(mg) {
		return managed.ExternalObservation{ResourceExists: true}, nil
	}
	e.available(mg)
	return upToDate, nil
}

// Create the team, note its id, and make what belongs to it.
func (e *external) Create(ctx context.Context, mg *v1alpha1.Team) (managed.ExternalCreation, error) {
	err := e.create(ctx, mg)
	if s := (*stopError)(nil); errors.As(err, &s) {
		err = connect.WithReason(err, s.reason)
	}
	if err == nil {
		meta.SetExternalName(mg, strconv.FormatInt(e.cred.TeamID, 10))
		err = e.apply(ctx, mg)
	}
	if err != nil {
		return managed.ExternalCreation{}, e.fail(mg, err)
	}
	return managed.ExternalCreation{}, nil
}

// Update what differs: name, account, key and groups.
func (e *external) Update(ctx context.Context, mg *v1alpha1.Team) (managed.ExternalUpdate, error) {
	if err := e.apply(ctx, mg); err != nil {
		return managed.ExternalUpdate{}, e.fail(mg, err)
	}
	if err := setup.SetExternalName(ctx, e.kube, mg, strconv.FormatInt(e.cred.TeamID, 10)); err != nil {
		return managed.ExternalUpdate{}, err
	}
	e.project(mg)
	e.available(mg)
	return managed.ExternalUpdate{}, nil
}

// Disconnect is nothing: clients are shared.
func (e *external) Disconnect(context.Context) error { return nil }

// suspend what children do with the team's key: consent that is taken back stops them too.
func (e *external) suspend(ctx context.Context) error {
	if e.cred == nil || e.cred.Suspended != "" {
		return nil
	}
	e.cred.Suspended = string(v1alpha1.ReasonRefNotPermitted)
	return e.store.Save(ctx, e.cred)
}

// observeOnly looks at a team by its id, or by its name when there is no id.
func (e *external) observeOnly(ctx context.Context, mg *v1alpha1.Team) (managed.ExternalObservation, error) {
	id, err := externalID(mg)
	if s := (*stopError)(nil); errors.As(err, &s) {
		return e.stop(mg, s.reason, s.message), nil
	}
	var t *terdut.Team
	if id == 0 {
		t, err = e.server.Client.FindTeam(ctx, nameOf(mg))
	} else if t, err = e.server.Client.Team(ctx, id); terdut.IsNotFound(err) {
		return managed.ExternalObservation{}, nil
	}
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	if t == nil {
		return managed.ExternalObservation{}, nil
	}
	mg.Status.AtProvider.TeamID, mg.Status.AtProvider.ServerEndpoint = t.ID, e.server.Endpoint
	e.available(mg)
	return upToDate, nil
}

func (e *external) available(mg *v1alpha1.Team) {
	setup.Mark(mg, setup.Condition(v1alpha1.TypeTeamReady, corev1.ConditionTrue, v1alpha1.ReasonInSync, ""), xpv2.Available())
}

// project what is known into the status, which nothing is ever read from.
func (e *external) project(mg *v1alpha1.Team) {
	o := v1alpha1.TeamObservation{}
	if c := e.cred; c != nil {
		o = v1alpha1.TeamObservation{
			TeamID: c.TeamID, ServerEndpoint: c.Endpoint, ServiceAccountID: c.ServiceAccountID, KeyID: c.KeyID, KeyRotationTrigger: c.Trigger,
			CredentialsSecretRef: &v1alpha1.CredentialReference{Name: c.SecretName()},
		}
	}
	mg.Status.AtProvider = o
}

// A stopError is something that only a person, or a change elsewhere, can resolve.
type stopError struct {
	reason  xpv2.ConditionReason
	message string
}

func (e *stopError) Error() string { return e.message }

func stopped(r xpv2.ConditionReason, format string, args ...any) error {
	return &stopError{reason: r, message: fmt.Sprintf(format, args...)}
}

// stop reports such a thing. It is no error: nothing is retried but by the poll and by what is watched.
func (e *external) stop(mg *v1alpha1.Team, r xpv2.ConditionReason, message string) managed.ExternalObservation {
	setup.Report(mg, e.recorder, setup.Condition(v1alpha1.TypeTeamReady, corev1.ConditionFalse, r, message))
	if !meta.WasDeleted(mg) {
		setup.Mark(mg, setup.NotReady(r, message))
	}
	return upToDate
}

// fail reports an error of the server.
func (e *external) fail(mg *v1alpha1.Team, err error) error {
	r := connect.TerdutReason(err)
	if meta.WasDeleted(mg) && r == v1alpha1.ReasonUnreachable {
		r = v1alpha1.ReasonDegraded
	}
	setup.Mark(mg, setup.Condition(v1alpha1.TypeTeamReady, corev1.ConditionUnknown, r, err.Error()))
	return connect.WithReason(err, r)
}

func (e *external) tell(mg *v1alpha1.Team, r event.Reason, format string, args ...any) {
	e.recorder.Event(mg, event.Event{Type: event.TypeNormal, Reason: r, Message: fmt.Sprintf(format, args...)})
}

// externalID is the id that the external-name annotation says, 0 when there is none.
func externalID(mg *v1alpha1.Team) (int64, error) {
	name := meta.GetExternalName(mg)
	if name == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil || id <= 0 {
		return 0, stopped(v1alpha1.ReasonExternalNameInvalid, "the external name %q is not the id of a team, which is a number", name)
	}
	return id, nil
}

func trigger(mg *v1alpha1.Team) string {
	if r := mg.Spec.ForProvider.KeyRotation; r != nil {
		return r.Trigger
	}
	return ""
}

func onlyObserves(mg *v1alpha1.Team) bool {
	return slices.Equal(mg.GetManagementPolicies(), xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
}
