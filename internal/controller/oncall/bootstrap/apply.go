package bootstrap

import (
	"context"
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
)

// Reasons of events.
const (
	reasonBootstrapped event.Reason = "BootstrappedServer"
	reasonAccount      event.Reason = "CreatedServiceAccount"
	reasonKey          event.Reason = "CreatedKey"
	reasonRevoked      event.Reason = "RevokedKey"
	reasonTakenOver    event.Reason = "TookOverCredential"
	reasonDeleted      event.Reason = "DeletedServiceAccount"
	reasonRetained     event.Reason = "RetainedCredential"
)

func (e *external) tell(mg *v1alpha1.Bootstrap, r event.Reason, format string, args ...any) {
	e.recorder.Event(mg, event.Event{Type: event.TypeNormal, Reason: r, Message: fmt.Sprintf(format, args...)})
}

// acquire a key of the account, by whichever way is open.
func (e *external) acquire(ctx context.Context, mg *v1alpha1.Bootstrap) error {
	if !e.cred.Complete() && (e.cred == nil || e.cred.AdminToken == "") {
		taken, err := e.reserve(ctx, mg)
		if err != nil || taken {
			return err
		}
	}
	if e.cred.AdminToken != "" {
		err := e.account(ctx, mg, e.cred.AdminToken, false)
		if !terdut.IsUnauthorized(err) {
			return err
		}
		// The server was made anew since.
		e.cred.AdminToken = ""
	}
	key, attempt, err := e.adminKey(ctx, mg)
	if err != nil {
		return err
	}
	if key != "" {
		if err := e.account(ctx, mg, key, true); !terdut.IsUnauthorized(err) {
			return err
		}
	}
	if err := e.first(ctx, mg, attempt); err != nil {
		return err
	}
	return e.account(ctx, mg, e.cred.AdminToken, false)
}

// reserve a place for what the server will hand out, or take over what was retained. An object before this one that was let go without contact
// has left its credential where it was, until somebody sweeps up.
func (e *external) reserve(ctx context.Context, mg *v1alpha1.Bootstrap) (taken bool, err error) {
	o := credential.OwnerOf(v1alpha1.BootstrapKind, mg)
	old, err := e.store.Retained(ctx, o, e.server.Endpoint())
	if err == nil && old == nil {
		old, err = e.left(ctx, mg, o)
	}
	if err != nil || (old == nil && e.cred != nil) {
		return false, err
	}
	c := e.cred
	if c == nil {
		c = credential.New(o)
		c.Trigger = trigger(mg)
	}
	if old != nil {
		c = e.store.TakeOver(old, c)
	}
	c.Endpoint, c.CABundle = e.server.Endpoint(), e.caBundle
	if err := e.store.Save(ctx, c); err != nil {
		return false, err
	}
	e.cred = c
	if old == nil {
		return false, nil
	}
	e.tell(mg, reasonTakenOver, "took over the credential that was retained for this server")
	// That it is there twice does no harm; what was taken over is not used again unless this object is.
	return c.Complete(), e.store.Delete(ctx, old)
}

// left is the credential of an object before this one, if this one is not itself gone already: what is reconciled may be old.
func (e *external) left(ctx context.Context, mg *v1alpha1.Bootstrap, o credential.Owner) (*credential.Credential, error) {
	c, err := e.store.Left(ctx, o, e.server.Endpoint())
	if err != nil || c == nil {
		return nil, err
	}
	live := &v1alpha1.Bootstrap{}
	if err := e.live.Get(ctx, client.ObjectKeyFromObject(mg), live); err != nil {
		return nil, fmt.Errorf("cannot get Bootstrap: %w", err)
	}
	if live.GetUID() != mg.GetUID() {
		return nil, nil
	}
	return c, nil
}

// first makes the server's first user. It is the only call that needs no key, and the server answers it once.
func (e *external) first(ctx context.Context, mg *v1alpha1.Bootstrap, attempt string) error {
	p := mg.Spec.ForProvider
	b, err := e.server.Bootstrap(ctx, p.AdminUsername, p.AdminEmail)
	if terdut.IsForbidden(err) {
		e.cred.Lost = attempt
		if err := e.store.Save(ctx, e.cred); err != nil {
			return err
		}
		return connect.WithReason(errors.New(lostMessage), v1alpha1.ReasonBootstrapStateLost)
	}
	if err != nil {
		return err
	}
	// Everything that is known of this endpoint is of another server.
	e.cred.Server, e.cred.AdminToken = string(uuid.NewUUID()), b.Key.Key
	e.cred.Token, e.cred.KeyID, e.cred.ServiceAccountID, e.cred.RetiredKeyID, e.cred.Joined, e.cred.Lost = "", 0, 0, 0, false, ""
	e.cred.Pending, e.cred.Minting = "", false
	if err := e.store.Keep(ctx, e.cred); err != nil {
		return err
	}
	e.tell(mg, reasonBootstrapped, "made the server's first user %q", p.AdminUsername)
	return nil
}

// account makes the provider's account with an administrator's key, or a key of the account that is there. An account that this object did
// not make is joined, when a person gave the administrator's key, and when it reaches as far as it has to.
func (e *external) account(ctx context.Context, mg *v1alpha1.Bootstrap, admin terdut.Secret, given bool) error {
	name, cl := mg.Spec.ForProvider.ServiceAccountName, e.server.WithToken(admin)
	a, err := cl.FindServiceAccount(ctx, name)
	switch {
	case err != nil:
		return err
	case a == nil:
		return e.create(ctx, mg, cl)
	case a.Scope != terdut.ScopeInstance:
		err := fmt.Errorf("service account %d %q is there and reaches one team only: choose another serviceAccountName", a.ID, name)
		return connect.WithReason(err, v1alpha1.ReasonConflict)
	}
	if c := e.cred; a.ID != c.ServiceAccountID {
		// What is known of keys is of another account, unless it is of the very create that made this one.
		made := c.Pending == credential.PendingAccount
		c.ServiceAccountID, c.KeyID, c.Token, c.RetiredKeyID = a.ID, 0, "", 0
		c.Joined, c.Minting = given && !made, made
	}
	return e.mint(ctx, mg, cl, trigger(mg))
}

// create the account, which nothing has the name of. That it is being created is stored first.
func (e *external) create(ctx context.Context, mg *v1alpha1.Bootstrap, cl *terdut.Client) error {
	c, name := e.cred, mg.Spec.ForProvider.ServiceAccountName
	first := c.Pending != credential.PendingAccount
	if first {
		c.Pending, c.Minting, c.LastKeyID = credential.PendingAccount, true, 0
		if err := e.store.Save(ctx, c); err != nil {
			return err
		}
	}
	n, err := cl.CreateServiceAccount(ctx, name, terdut.ScopeInstance, 0)
	if err != nil {
		if first && !terdut.IsUncertain(err) {
			// It was not made, so whatever has this name is somebody else's. Of an earlier attempt that is not known.
			c.Pending, c.Minting = "", false
			err = errors.Join(err, e.store.Save(ctx, c))
		}
		return err
	}
	c.Joined = false
	if err := e.keep(ctx, n.ID, n.Key, trigger(mg), first); err != nil {
		return err
	}
	e.tell(mg, reasonAccount, "created service account %d %q", n.ID, name)
	return nil
}

// renew what is out of date. The order is: mint, store, use, revoke.
func (e *external) renew(ctx context.Context, mg *v1alpha1.Bootstrap) error {
	if e.dead {
		return e.acquire(ctx, mg)
	}
	cl := e.server.WithToken(e.cred.Token)
	if t := trigger(mg); e.cred.Trigger != t {
		// Before there is a second one to forget.
		if err := e.revoke(ctx, mg, cl); err != nil {
			return err
		}
		if err := e.mint(ctx, mg, cl, t); err != nil {
			return err
		}
		cl = e.server.WithToken(e.cred.Token)
		keys, err := cl.ServiceAccountKeys(ctx, e.cred.ServiceAccountID)
		if err != nil {
			return err
		}
		e.saw(keys)
	}
	return e.revoke(ctx, mg, cl)
}
