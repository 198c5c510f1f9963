package team

import (
	"context"
	"fmt"
	"slices"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
)

// find the team, and what belongs to it. It is false when there is none, for certain.
func (e *external) find(ctx context.Context, mg *v1alpha1.Team) (bool, error) {
	if e.cred == nil || e.cred.TeamID == 0 {
		return e.locate(ctx, mg)
	}
	if e.madeAnew() {
		e.again = fmt.Sprintf("the server was made anew, and team %d went with the old one", e.cred.TeamID)
		return false, e.vacant(ctx, mg)
	}
	there, err := e.look(ctx, mg)
	if err != nil {
		return false, err
	}
	if !there {
		e.again = fmt.Sprintf("team %d was deleted on the server", e.cred.TeamID)
		if err := e.confirm(ctx); err != nil {
			return false, err
		}
		return false, e.vacant(ctx, mg)
	}
	return true, e.nameFree(ctx, mg)
}

// confirm that a team is gone which the server says it does not know: it is not in its list either.
func (e *external) confirm(ctx context.Context) error {
	names := []string{e.cred.TeamName, e.cred.TeamStored}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name == "" {
			continue
		}
		t, err := e.server.Client.FindTeam(ctx, name)
		if err != nil {
			return err
		}
		if t != nil && t.ID == e.cred.TeamID {
			return connect.WithReason(fmt.Errorf("the server lists team %d and says that there is none", t.ID), v1alpha1.ReasonUnreachable)
		}
	}
	return nil
}

// madeAnew is true when the provider has made the server's first user since the team was made: nothing that was there before is.
func (e *external) madeAnew() bool {
	return e.cred.Endpoint == e.server.Endpoint && e.cred.Server != "" && e.server.ID != "" && e.cred.Server != e.server.ID
}

// look at the team that the credential names. Its id alone says little: a server that was restored, or another one, may have given it to
// somebody else's team. An account of ours in that team proves that it is this one; its name does when there is no account.
func (e *external) look(ctx context.Context, mg *v1alpha1.Team) (bool, error) {
	c, cl := e.cred, e.server.Client
	if err := e.lookAccount(ctx, mg); err != nil {
		return false, err
	}
	proven := e.account != nil && e.account.TeamID == c.TeamID
	if c.Endpoint != e.server.Endpoint && !proven {
		return false, stopped(v1alpha1.ReasonServerChanged,
			"the config leads to %q, and team %d is on %q: nothing is done until it leads there again", e.server.Endpoint, c.TeamID, c.Endpoint)
	}
	t, err := cl.Team(ctx, c.TeamID)
	if terdut.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !proven && !slices.Contains([]string{c.TeamName, c.TeamStored}, t.Name) {
		return false, stopped(v1alpha1.ReasonConflict,
			"team %d has another name than the one that it was given, and no account of this object: it may be somebody else's", t.ID)
	}
	e.team = t
	return true, nil
}

// lookAccount looks for the team's account. It is asked with the team's own key where that is possible, which shows that the key works.
func (e *external) lookAccount(ctx context.Context, mg *v1alpha1.Team) (err error) {
	c, cl, name := e.cred, e.server.Client, accountName(mg)
	e.dead = true
	// The key goes nowhere but where it was made for.
	if c.Complete() && c.Endpoint == e.server.Endpoint {
		e.account, err = cl.WithToken(c.Token).FindServiceAccount(ctx, name)
		if err == nil {
			e.dead = e.account == nil || e.account.ID != c.ServiceAccountID
		} else if !terdut.IsUnauthorized(err) {
			return err
		}
	}
	if e.dead {
		if e.account, err = cl.FindServiceAccount(ctx, name); err != nil {
			return err
		}
	}
	if e.account == nil {
		return nil
	}
	e.keys, err = cl.ServiceAccountKeys(ctx, e.account.ID)
	if terdut.IsNotFound(err) {
		e.account, e.keys, e.dead, err = nil, nil, true, nil
	}
	return err
}

// locate the team of an object that has no id stored: one that a create of this object made and did not get to note, or one whose id a
// person wrote into the external-name annotation to have it taken over. One that only has the name is somebody else's.
func (e *external) locate(ctx context.Context, mg *v1alpha1.Team) (bool, error) {
	cl, pending := e.server.Client, ""
	if e.cred != nil {
		pending = e.cred.Pending
	}
	id, err := externalID(mg)
	if err != nil && pending == "" {
		return false, err
	}
	if id != 0 && pending == "" {
		t, err := cl.Team(ctx, id)
		if err == nil {
			return true, e.take(ctx, mg, t)
		}
		if !terdut.IsNotFound(err) {
			return false, err
		}
	}
	if pending != "" {
		for _, name := range slices.Compact([]string{pending, folded(pending)}) {
			t, err := cl.FindTeam(ctx, name)
			if err != nil {
				return false, err
			}
			if t != nil {
				return true, e.take(ctx, mg, t)
			}
		}
	}
	return false, e.vacant(ctx, mg)
}

// vacant stops when somebody else's team has the name that this one is to have.
func (e *external) vacant(ctx context.Context, mg *v1alpha1.Team) error {
	t, err := e.server.Client.FindTeam(ctx, nameOf(mg))
	if err != nil || t == nil {
		return err
	}
	return taken(t)
}

func taken(t *terdut.Team) error {
	return stopped(v1alpha1.ReasonConflict,
		"team %d is called %q already and is not this object's: choose another displayName, or set the external name %d to take it over", t.ID, t.Name, t.ID)
}

// take a team as this object's, unless it is another one's.
func (e *external) take(ctx context.Context, mg *v1alpha1.Team, t *terdut.Team) error {
	holder, err := e.holder(ctx, mg, t.ID)
	if err != nil {
		return err
	}
	if holder != "" {
		return stopped(v1alpha1.ReasonConflict, "team %d is managed by Team %q already", t.ID, holder)
	}
	if e.cred != nil && e.cred.TeamID == 0 {
		e.cred.Token = "" // Of a team that went.
	}
	e.team, e.dead = t, true
	return nil
}

// holder is another Team that has a team of this server, empty when there is none. What an object left behind that is gone does not count.
func (e *external) holder(ctx context.Context, mg *v1alpha1.Team, id int64) (string, error) {
	holders, err := e.store.Holders(ctx, e.server.Endpoint, id)
	if err != nil {
		return "", err
	}
	for _, c := range holders {
		o := c.Owner
		if o == credential.OwnerOf(v1alpha1.TeamKind, mg) {
			continue
		}
		n := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
		t := &v1alpha1.Team{}
		if err := e.kube.Get(ctx, n, t); err != nil && !kerrors.IsNotFound(err) {
			return "", fmt.Errorf("cannot get Team %q: %w", n, err)
		}
		if t.GetUID() == o.UID {
			return n.String(), nil
		}
		if o.Namespace == mg.GetNamespace() && o.Name == mg.GetName() && c.Server == e.server.ID {
			e.left = c
		}
	}
	return "", nil
}

// nameFree stops when another team has the name that this one is to have.
func (e *external) nameFree(ctx context.Context, mg *v1alpha1.Team) error {
	if e.named(mg) {
		return nil
	}
	t, err := e.server.Client.FindTeam(ctx, nameOf(mg))
	if err != nil || t == nil || t.ID == e.team.ID {
		return err
	}
	return stopped(v1alpha1.ReasonConflict, "team %d is called %q already: choose another displayName", t.ID, t.Name)
}
