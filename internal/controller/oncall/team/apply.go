package team

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
)

// Reasons of events.
const (
	reasonCreated        event.Reason = "CreatedTeam"
	reasonTaken          event.Reason = "TookOverTeam"
	reasonGone           event.Reason = "TeamGone"
	reasonRenamed        event.Reason = "RenamedTeam"
	reasonGroups         event.Reason = "SetGroups"
	reasonAccount        event.Reason = "CreatedServiceAccount"
	reasonKey            event.Reason = "CreatedKey"
	reasonRevoked        event.Reason = "RevokedKey"
	reasonDeleted        event.Reason = "DeletedTeam"
	reasonDeletedAccount event.Reason = "DeletedServiceAccount"
	reasonLeft           event.Reason = "LeftTeam"
)

// create the team. That it is being created is stored first and its id afterwards, so that an interrupted create finds what it made.
func (e *external) create(ctx context.Context, mg *v1alpha1.Team) error {
	name, cl := nameOf(mg), e.server.Client
	done, ok := e.names.try(e.server.Endpoint, name)
	if !ok {
		return connect.WithReason(fmt.Errorf("another Team is creating team %q", name), v1alpha1.ReasonConflict)
	}
	defer done()

	if e.cred == nil {
		e.cred = credential.New(credential.OwnerOf(v1alpha1.TeamKind, mg))
	}
	first := e.cred.Pending != name
	if first {
		// Again, because another object may have made it since.
		if err := e.vacant(ctx, mg); err != nil {
			return err
		}
		e.begin(name)
		if err := e.store.Save(ctx, e.cred); err != nil {
			return err
		}
		if e.again != "" {
			e.recorder.Event(mg, event.Event{Type: event.TypeWarning, Reason: reasonGone, Message: e.again + ": a new one is made"})
		}
	}
	t, err := cl.CreateTeam(ctx, name)
	if err != nil {
		if first && !terdut.IsUncertain(err) {
			// It was not made, so whatever has this name is somebody else's. Of an earlier attempt that is not known.
			e.cred.Pending = ""
			err = errors.Join(err, e.store.Save(ctx, e.cred))
		}
		return err
	}
	e.note(name, t)
	if err := e.store.Keep(ctx, e.cred); err != nil {
		return err
	}
	e.tell(mg, reasonCreated, "created team %d %q", t.ID, t.Name)
	e.team, e.keys, e.dead = t, nil, true
	return nil
}

// begin a create: what the credential knew of an earlier team has gone with it.
func (e *external) begin(name string) {
	e.cred.TeamID, e.cred.TeamName, e.cred.TeamStored = 0, "", ""
	e.cred.ServiceAccountID, e.cred.KeyID, e.cred.RetiredKeyID, e.cred.Token = 0, 0, 0, ""
	e.cred.Pending = name
	e.follow()
}

// note which team is this object's.
func (e *external) note(name string, t *terdut.Team) {
	if e.cred.TeamID == 0 {
		e.cred.Made = string(uuid.NewUUID())
		if l := e.left; l != nil && l.TeamID == t.ID && slices.Contains([]string{l.TeamName, l.TeamStored}, t.Name) {
			// It is the team that it was, and so is what its children have.
			e.cred.Made = l.Made
		}
	}
	e.cred.TeamID, e.cred.TeamName, e.cred.TeamStored, e.cred.Pending = t.ID, name, t.Name, ""
	e.follow()
}

// follow the config: where the server is, and through what it is reached. A key stays behind with the address that it was made for: that a
// server at another address has the same account is that server's own word.
func (e *external) follow() {
	if e.cred.Endpoint != e.server.Endpoint {
		e.cred.ServiceAccountID, e.cred.KeyID, e.cred.RetiredKeyID, e.cred.Token = 0, 0, 0, ""
	}
	e.cred.Endpoint, e.cred.CABundle, e.cred.Server, e.cred.Through = e.server.Endpoint, e.server.CABundle, e.server.ID, e.server.Through
	e.cred.Config, e.cred.Suspended = configOf(e.server), ""
}

// followed is true when there is no news from the config.
func (e *external) followed() bool {
	c, s := e.cred, e.server
	return c.Endpoint == s.Endpoint && c.CABundle == s.CABundle && c.Server == s.ID && c.Through == s.Through && c.Config == configOf(s) && c.Suspended == ""
}

// configOf a server, whose consent children of the team need as well.
func configOf(s *connect.Server) credential.Owner {
	kind := connect.KindProviderConfig
	if _, ok := s.Config.(*v1alpha1.ClusterProviderConfig); ok {
		kind = connect.KindClusterProviderConfig
	}
	return credential.Owner{Kind: kind, Namespace: s.Config.GetNamespace(), Name: s.Config.GetName()}
}

// named is true when the team has the name that it is to have, or what the server makes of that.
func (e *external) named(mg *v1alpha1.Team) bool {
	name := nameOf(mg)
	return e.team.Name == name || (e.cred != nil && e.cred.TeamName == name && e.cred.TeamStored == e.team.Name)
}

// groups that the team is to have: what the spec leaves out stays as it is.
func (e *external) groups(mg *v1alpha1.Team) (member, owner string) {
	member, owner = e.team.MemberGroup, e.team.OwnerGroup
	if o := mg.Spec.ForProvider.OIDC; o != nil {
		if o.MemberGroup != nil {
			member = *o.MemberGroup
		}
		if o.OwnerGroup != nil {
			owner = *o.OwnerGroup
		}
	}
	return member, owner
}

// differs is true when something is not as it should be.
func (e *external) differs(mg *v1alpha1.Team) bool {
	if e.cred == nil || e.cred.TeamID == 0 || !e.named(mg) || !e.followed() || e.dead || e.account.TeamID != e.cred.TeamID {
		return true
	}
	member, owner := e.groups(mg)
	return member != e.team.MemberGroup || owner != e.team.OwnerGroup ||
		e.cred.Trigger != trigger(mg) || e.cred.RetiredKeyID != 0 || len(e.strays()) > 0
}

// keepTaken stores that a team is this object's from now on, unless it has become another one's since that was looked at.
func (e *external) keepTaken(ctx context.Context, mg *v1alpha1.Team) error {
	done, ok := e.names.try(e.server.Endpoint, fmt.Sprintf("#%d", e.team.ID))
	if !ok {
		return connect.WithReason(fmt.Errorf("another Team is taking over team %d", e.team.ID), v1alpha1.ReasonConflict)
	}
	defer done()
	if err := e.take(ctx, mg, e.team); err != nil {
		if s := (*stopError)(nil); errors.As(err, &s) {
			err = connect.WithReason(err, s.reason)
		}
		return err
	}
	e.note(e.team.Name, e.team)
	return e.store.Keep(ctx, e.cred)
}

// apply what differs. Each step may be the first one after an interruption.
func (e *external) apply(ctx context.Context, mg *v1alpha1.Team) error {
	name, cl := nameOf(mg), e.server.Client
	if e.cred == nil {
		e.cred = credential.New(credential.OwnerOf(v1alpha1.TeamKind, mg))
	}
	if e.cred.TeamID == 0 {
		if err := e.keepTaken(ctx, mg); err != nil {
			return err
		}
		e.tell(mg, reasonTaken, "took over team %d %q", e.team.ID, e.team.Name)
	}
	if !e.named(mg) {
		if err := cl.RenameTeam(ctx, e.team.ID, name); err != nil {
			return err
		}
		e.tell(mg, reasonRenamed, "renamed team %d from %q to %q", e.team.ID, e.team.Name, name)
		t, err := cl.Team(ctx, e.team.ID)
		if err != nil {
			return err
		}
		e.team = t
	}
	if !e.followed() || e.cred.TeamName != name || e.cred.TeamStored != e.team.Name {
		e.note(name, e.team)
		if err := e.store.Save(ctx, e.cred); err != nil {
			return err
		}
	}
	if err := e.ensureKey(ctx, mg); err != nil {
		return err
	}
	if member, owner := e.groups(mg); member != e.team.MemberGroup || owner != e.team.OwnerGroup {
		if err := cl.WithToken(e.cred.Token).SetTeamGroups(ctx, e.team.ID, member, owner); err != nil {
			return err
		}
		e.tell(mg, reasonGroups, "set the OIDC groups of team %d", e.team.ID)
	}
	return nil
}
