package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// saw the keys of the account. They count when the key in use is among them.
func (e *external) saw(keys []terdut.KeyInfo) {
	e.keys = nil
	if slices.ContainsFunc(keys, func(k terdut.KeyInfo) bool { return k.ID == e.cred.KeyID }) {
		e.keys = keys
	}
}

// ours is true for a key that this object made: the one in use, the one before it, and what interrupted attempts may have left behind. Others
// work through the same account: objects of other control planes have the same name for theirs unless somebody chose another.
func (e *external) ours(id int64) bool {
	c := e.cred
	if id == c.KeyID || id == c.RetiredKeyID {
		return true
	}
	// The key in use ended the attempts.
	since := c.KeyID <= c.LastKeyID || id < c.KeyID
	return c.Minting && id > c.LastKeyID && since
}

// strays are keys of ours that are not in use.
func (e *external) strays() []int64 {
	var ids []int64
	for _, k := range e.keys {
		if k.ID != e.cred.KeyID && e.ours(k.ID) {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// mint a key of the account, and store it.
func (e *external) mint(ctx context.Context, mg *v1alpha1.Bootstrap, cl *terdut.Client, trigger string) error {
	id := e.cred.ServiceAccountID
	first, err := e.begin(ctx, cl)
	if err != nil {
		return err
	}
	k, err := cl.CreateServiceAccountKey(ctx, id)
	if err != nil {
		if first && !terdut.IsUncertain(err) {
			// It was not made, so what appears from now on is somebody else's.
			e.cred.Minting = false
			err = errors.Join(err, e.store.Save(ctx, e.cred))
		}
		return err
	}
	if err := e.keep(ctx, id, *k, trigger, first); err != nil {
		return err
	}
	e.tell(mg, reasonKey, "created key %d of service account %d", k.ID, id)
	return nil
}

// begin to make a key: it is stored which ones there were before. It is false when it is not known how an earlier attempt ended.
func (e *external) begin(ctx context.Context, cl *terdut.Client) (first bool, err error) {
	c := e.cred
	if c.RetiredKeyID != 0 {
		// Before there is a second one to remember.
		if err := cl.DeleteServiceAccountKey(ctx, c.ServiceAccountID, c.RetiredKeyID); err != nil && !terdut.IsNotFound(err) {
			return false, err
		}
		c.RetiredKeyID = 0
	}
	if c.Minting {
		return false, nil
	}
	keys, err := cl.ServiceAccountKeys(ctx, c.ServiceAccountID)
	if err != nil {
		return false, err
	}
	c.Minting, c.LastKeyID = true, 0
	for _, k := range keys {
		c.LastKeyID = max(c.LastKeyID, k.ID)
	}
	return true, e.store.Save(ctx, c)
}

// keep a key as the one in use. Administrators' keys are not needed any more. Nothing is left behind when it was got at the first attempt.
func (e *external) keep(ctx context.Context, account int64, k terdut.APIKey, trigger string, first bool) error {
	c := e.cred
	if c.ServiceAccountID == account && c.KeyID != k.ID {
		c.RetiredKeyID = c.KeyID
	}
	c.ServiceAccountID, c.KeyID, c.Token, c.Trigger = account, k.ID, k.Key, trigger
	c.AdminToken, c.Lost, c.Pending, c.CABundle = "", "", "", e.caBundle
	c.Minting = c.Minting && !first
	return e.store.Keep(ctx, c)
}

// revoke keys of ours that are not in use, and store that this is done.
func (e *external) revoke(ctx context.Context, mg *v1alpha1.Bootstrap, cl *terdut.Client) error {
	c := e.cred
	if ids := e.strays(); len(ids) > 0 {
		for _, id := range ids {
			if err := cl.DeleteServiceAccountKey(ctx, c.ServiceAccountID, id); err != nil && !terdut.IsNotFound(err) {
				return err
			}
			e.tell(mg, reasonRevoked, "revoked key %d of service account %d", id, c.ServiceAccountID)
		}
		// Afterwards nobody knows any more that they are ours, so this is to be certain.
		keys, err := cl.ServiceAccountKeys(ctx, c.ServiceAccountID)
		if err != nil {
			return err
		}
		e.saw(keys)
		if left := e.strays(); len(left) > 0 {
			return connect.WithReason(fmt.Errorf("key %d of service account %d is still there after it was revoked", left[0], c.ServiceAccountID), v1alpha1.ReasonUnreachable)
		}
	}
	was := *c
	if e.keys != nil {
		c.RetiredKeyID, c.Minting, c.LastKeyID = 0, false, 0
	}
	e.keys = nil
	c.Lost, c.CABundle = "", e.caBundle
	if was == *c {
		return nil
	}
	return e.store.Save(ctx, c)
}
