package team

import (
	"context"
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// observeDeleted says whether there is anything left: as long as there is a credential, there is. Without one nothing was made.
func (e *external) observeDeleted(ctx context.Context, mg *v1alpha1.Team) (o managed.ExternalObservation, err error) {
	// Live, because Delete may have been there since Connect.
	if e.cred, err = e.store.Team(ctx, mg); err != nil {
		return managed.ExternalObservation{}, err
	}
	return managed.ExternalObservation{ResourceExists: e.cred != nil, ResourceUpToDate: true}, nil
}

// Delete the team, its account and the credential. It works from the credential, whatever spec and annotations say.
func (e *external) Delete(ctx context.Context, mg *v1alpha1.Team) (managed.ExternalDelete, error) {
	if e.cred == nil {
		return managed.ExternalDelete{}, nil
	}
	lost, err := e.reach(ctx)
	if err == nil {
		err = e.remove(ctx, mg)
	}
	if !noWay(err) {
		e.patience.Answered(e.cred.Endpoint)
	}
	switch s := (*stopError)(nil); {
	case err == nil:
	case lost && noWay(err) && (e.wait != nil || e.patience.Over(e.cred.Endpoint)):
		// Nobody will ever make the way to the server again, and this object must not stay for ever.
		setup.Release(mg, v1alpha1.TeamKind, e.recorder, e.log, err)
	case errors.As(err, &s):
		e.stop(mg, s.reason, s.message)
		return managed.ExternalDelete{}, nil
	default:
		return managed.ExternalDelete{}, e.fail(mg, err)
	}
	return managed.ExternalDelete{}, e.store.Delete(ctx, e.cred)
}

// noWay is true for errors that only the way to the server can put right: nobody answers there, or nobody who takes the key.
func noWay(err error) bool {
	switch s := (*stopError)(nil); {
	case terdut.IsUnavailable(err), terdut.IsNotAPI(err), terdut.IsUnauthorized(err), terdut.IsForbidden(err):
		return true
	case errors.As(err, &s):
		return s.reason == v1alpha1.ReasonServerChanged
	}
	r := connect.ReasonOf(err, "")
	return r == v1alpha1.ReasonServerNotFound || r == v1alpha1.ReasonConfigNotReady
}

// reach the server. It is lost when the config, or the Bootstrap that it names, is gone or goes.
func (e *external) reach(ctx context.Context) (lost bool, err error) {
	if e.wait == nil {
		return e.server.Going(), nil
	}
	lost = connect.IsMissingServer(e.wait) || (e.server != nil && e.server.Going())
	kept, err := e.oncall.Kept(ctx, e.cred)
	if err != nil {
		// What the API server does not answer for is not known to be gone.
		return false, err
	}
	if kept == nil {
		return lost, e.wait
	}
	e.server, e.wait = kept, nil
	return lost, nil
}

// remove from the server what the credential says was made there.
func (e *external) remove(ctx context.Context, mg *v1alpha1.Team) error {
	if e.madeAnew() {
		return nil
	}
	if err := e.findDeleted(ctx, mg); err != nil {
		return err
	}
	if e.team != nil {
		if err := e.deleteTeam(ctx, mg); err != nil {
			return err
		}
	}
	a, err := e.server.Client.FindServiceAccount(ctx, accountName(mg))
	if err != nil || a == nil {
		return err
	}
	if err := e.deleteAccount(ctx, mg, a.ID); err != nil {
		return err
	}
	// As above.
	if a, err = e.server.Client.FindServiceAccount(ctx, accountName(mg)); err == nil && a != nil {
		err = connect.WithReason(fmt.Errorf("service account %d is still there after it was deleted", a.ID), v1alpha1.ReasonUnreachable)
	}
	return err
}

// findDeleted finds the team that is to be deleted. One that cannot be told from somebody else's is left alone.
func (e *external) findDeleted(ctx context.Context, mg *v1alpha1.Team) error {
	if e.cred.TeamID == 0 {
		if e.cred.Pending == "" {
			return nil
		}
		t, err := e.server.Client.FindTeam(ctx, e.cred.Pending)
		if err != nil || t == nil {
			return err
		}
		if err := e.take(ctx, mg, t); !isConflict(err) {
			return err
		}
		return nil
	}
	there, err := e.look(ctx, mg)
	switch {
	case isConflict(err):
		e.tell(mg, reasonLeft, "left team %d alone, which may be somebody else's", e.cred.TeamID)
		return nil
	case err != nil || there:
		return err
	}
	return e.confirm(ctx)
}

func isConflict(err error) bool {
	s := (*stopError)(nil)
	return errors.As(err, &s) && s.reason == v1alpha1.ReasonConflict
}

// deleteTeam deletes the team. A server that refuses because something still refers to it is not helped: what that is goes first. Our own
// account is no reason to stay, once nobody needs it any more.
func (e *external) deleteTeam(ctx context.Context, mg *v1alpha1.Team) error {
	cl := e.server.Client
	err := cl.DeleteTeam(ctx, e.team.ID)
	if terdut.IsConflict(err) && e.account != nil {
		used, lerr := e.children(ctx, mg)
		if lerr != nil {
			return lerr
		}
		if !used {
			if err := e.deleteAccount(ctx, mg, e.account.ID); err != nil {
				return err
			}
			err = cl.DeleteTeam(ctx, e.team.ID)
		}
	}
	switch {
	case terdut.IsConflict(err):
		return stopped(v1alpha1.ReasonInUse, "%s", err.Error())
	case err != nil && !terdut.IsNotFound(err):
		return err
	}
	// Nobody will look again, so this is to be certain.
	if _, err := cl.Team(ctx, e.team.ID); err == nil {
		return connect.WithReason(fmt.Errorf("team %d is still there after it was deleted", e.team.ID), v1alpha1.ReasonUnreachable)
	} else if !terdut.IsNotFound(err) {
		return err
	}
	e.tell(mg, reasonDeleted, "deleted team %d %q", e.team.ID, e.team.Name)
	return nil
}

// children is true while objects refer to this Team, which need its account to go.
func (e *external) children(ctx context.Context, mg *v1alpha1.Team) (bool, error) {
	policies, switches, integrations := &v1alpha1.EscalationPolicyList{}, &v1alpha1.DeadmanSwitchList{}, &v1alpha1.IntegrationList{}
	for _, l := range []client.ObjectList{policies, switches, integrations} {
		if err := e.kube.List(ctx, l, client.InNamespace(mg.GetNamespace())); err != nil {
			return false, fmt.Errorf("cannot list the Team's children: %w", err)
		}
	}
	var refs []v1alpha1.TeamParameters
	for i := range policies.Items {
		refs = append(refs, policies.Items[i].Spec.ForProvider.TeamParameters)
	}
	for i := range switches.Items {
		refs = append(refs, switches.Items[i].Spec.ForProvider.TeamParameters)
	}
	for i := range integrations.Items {
		refs = append(refs, integrations.Items[i].Spec.ForProvider.TeamParameters)
	}
	for _, r := range refs {
		if r.TeamRef != nil && r.TeamRef.Name == mg.GetName() {
			return true, nil
		}
		if r.TeamSelector != nil && labels.SelectorFromSet(r.TeamSelector.MatchLabels).Matches(labels.Set(mg.GetLabels())) {
			return true, nil
		}
	}
	return false, nil
}
