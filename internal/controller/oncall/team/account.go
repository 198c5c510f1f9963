package team

import (
	"context"
	"fmt"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
)

// ensureKey sees to it that the team has an account with one key, the one that is stored. The order is: mint, store, use, revoke.
func (e *external) ensureKey(ctx context.Context, mg *v1alpha1.Team) error {
	if e.account != nil && e.account.TeamID != e.cred.TeamID {
		// It is of a team that this object had before.
		if err := e.deleteAccount(ctx, mg, e.account.ID); err != nil {
			return err
		}
		e.account, e.keys = nil, nil
	}
	if e.account == nil {
		made, err := e.createAccount(ctx, mg)
		if err != nil || made {
			return err
		}
	}
	if t := trigger(mg); e.dead || e.cred.Trigger != t {
		if !e.dead {
			// Before there is a second one to forget.
			if err := e.revoke(ctx, mg); err != nil {
				return err
			}
		}
		if err := e.mint(ctx, mg, t); err != nil {
			return err
		}
	}
	return e.revoke(ctx, mg)
}

// createAccount creates the account with its first key. It is false when there is one after all.
func (e *external) createAccount(ctx context.Context, mg *v1alpha1.Team) (made bool, err error) {
	cl, name := e.server.Client, accountName(mg)
	n, err := cl.CreateServiceAccount(ctx, name, terdut.ScopeTeam, e.cred.TeamID)
	if err == nil {
		if err := e.keep(ctx, n.ID, n.Key, trigger(mg)); err != nil {
			return false, err
		}
		e.tell(mg, reasonAccount, "created service account %d of team %d", n.ID, e.cred.TeamID)
		return true, nil
	}
	if !terdut.IsConflict(err) {
		return false, err
	}
	a, err := cl.FindServiceAccount(ctx, name)
	switch {
	case err != nil:
		return false, err
	case a == nil:
		return false, fmt.Errorf("service account %q exists and cannot be found", name)
	case a.TeamID != e.cred.TeamID:
		if err := e.deleteAccount(ctx, mg, a.ID); err != nil {
			return false, err
		}
		return false, fmt.Errorf("service account %q was of another team, and is made again", name)
	}
	e.account, e.dead = a, true
	return false, nil
}

func (e *external) deleteAccount(ctx context.Context, mg *v1alpha1.Team, id int64) error {
	if err := e.server.Client.DeleteServiceAccount(ctx, id); err != nil && !terdut.IsNotFound(err) {
		return err
	}
	e.tell(mg, reasonDeletedAccount, "deleted service account %d", id)
	return nil
}

// mint a key of the account, store it, and see that it works.
func (e *external) mint(ctx context.Context, mg *v1alpha1.Team, trigger string) error {
	cl, id := e.server.Client, e.account.ID
	k, err := cl.CreateServiceAccountKey(ctx, id)
	if err != nil {
		return err
	}
	if err := e.keep(ctx, id, *k, trigger); err != nil {
		return err
	}
	e.tell(mg, reasonKey, "created key %d of service account %d", k.ID, id)
	if _, err := cl.WithToken(k.Key).Users(ctx); err != nil {
		return err
	}
	e.keys, err = cl.ServiceAccountKeys(ctx, id)
	return err
}

// keep a key as the one in use.
func (e *external) keep(ctx context.Context, account int64, k terdut.APIKey, trigger string) error {
	c := e.cred
	if c.ServiceAccountID == account && c.KeyID != k.ID {
		c.RetiredKeyID = c.KeyID
	}
	c.ServiceAccountID, c.KeyID, c.Token, c.Trigger = account, k.ID, k.Key, trigger
	return e.store.Keep(ctx, c)
}

// strays are keys of the account that are not in use, when the one in use is there.
func (e *external) strays() []int64 {
	var ids []int64
	there := false
	for _, k := range e.keys {
		if k.ID == e.cred.KeyID {
			there = true
			continue
		}
		ids = append(ids, k.ID)
	}
	if !there {
		return nil
	}
	return ids
}

// revoke keys that are not in use, and store that this is done.
func (e *external) revoke(ctx context.Context, mg *v1alpha1.Team) error {
	for _, id := range e.strays() {
		if err := e.server.Client.DeleteServiceAccountKey(ctx, e.cred.ServiceAccountID, id); err != nil && !terdut.IsNotFound(err) {
			return err
		}
		e.tell(mg, reasonRevoked, "revoked key %d of service account %d", id, e.cred.ServiceAccountID)
	}
	e.keys = nil
	if e.cred.RetiredKeyID == 0 {
		return nil
	}
	e.cred.RetiredKeyID = 0
	return e.store.Save(ctx, e.cred)
}
