package bootstrap

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// observeDeleted says whether there is anything left: as long as there is a credential, there is.
func (e *external) observeDeleted(ctx context.Context, mg *v1alpha1.Bootstrap) (managed.ExternalObservation, error) {
	user, err := e.user(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	if user != "" {
		return e.stop(mg, v1alpha1.ReasonInUse, fmt.Sprintf("Team %q is on this server and needs this account: it goes first", user)), nil
	}
	// Live, because Delete may have been there since Connect.
	if e.cred, err = e.store.Bootstrap(ctx, mg); err != nil {
		return managed.ExternalObservation{}, err
	}
	return managed.ExternalObservation{ResourceExists: e.cred != nil, ResourceUpToDate: true}, nil
}

// Delete the account and the credential, or put the credential where the next Bootstrap of this name and server finds it.
func (e *external) Delete(ctx context.Context, mg *v1alpha1.Bootstrap) (managed.ExternalDelete, error) {
	// Not from the condition: it may be of an earlier pass.
	if user, err := e.user(ctx, mg); err != nil || user != "" || e.cred == nil {
		return managed.ExternalDelete{}, err
	}
	if mg.Spec.ForProvider.DeletionPolicy != commonv1alpha1.DeletionDelete {
		return managed.ExternalDelete{}, e.retain(ctx, mg)
	}
	err := e.remove(ctx, mg)
	noWay := terdut.IsUnavailable(err) || terdut.IsNotAPI(err) || terdut.IsUnauthorized(err)
	if noWay && e.patience.Over(e.cred.Endpoint) {
		// All that needed the account has gone. The way in is kept, should the server come back.
		setup.Release(mg, v1alpha1.BootstrapKind, e.recorder, e.log, err)
		return managed.ExternalDelete{}, e.retain(ctx, mg)
	}
	if !noWay {
		e.patience.Answered(e.cred.Endpoint)
	}
	if err != nil {
		return managed.ExternalDelete{}, e.fail(mg, err)
	}
	return managed.ExternalDelete{}, e.store.Delete(ctx, e.cred)
}

// deadKey is true when the server does not know a key, or its account.
func deadKey(err error) bool { return terdut.IsUnauthorized(err) || terdut.IsNotFound(err) }

func (e *external) retain(ctx context.Context, mg *v1alpha1.Bootstrap) error {
	if !e.cred.Complete() && e.cred.AdminToken == "" {
		return e.store.Delete(ctx, e.cred)
	}
	if err := e.store.Retain(ctx, e.cred); err != nil {
		return err
	}
	e.tell(mg, reasonRetained, "kept the credential for a Bootstrap of the same name and server")
	return nil
}

// remove the account from the server; of an account that somebody else made, or has a key of, our keys alone.
func (e *external) remove(ctx context.Context, mg *v1alpha1.Bootstrap) error {
	c := e.cred
	token := c.Token
	if token == "" {
		token = c.AdminToken
	}
	if token == "" {
		return nil
	}
	cl, err := e.terdut.Client(c.Endpoint, c.CABundle, token)
	if err != nil {
		return err
	}
	if c.ServiceAccountID == 0 {
		// Interrupted before its key was stored.
		a, err := cl.FindServiceAccount(ctx, mg.Spec.ForProvider.ServiceAccountName)
		if err != nil || a == nil {
			return err
		}
		c.ServiceAccountID, c.Joined = a.ID, c.Pending != credential.PendingAccount
	}
	id, asked := c.ServiceAccountID, c.Pending == credential.PendingDeletion
	keys, err := cl.ServiceAccountKeys(ctx, id)
	if err != nil && (!deadKey(err) || (terdut.IsUnauthorized(err) && !asked)) {
		return err
	}
	// What is not known to be ours alone is not deleted.
	shared := err != nil || c.Joined || slices.ContainsFunc(keys, func(k terdut.KeyInfo) bool { return !e.ours(k.ID) })
	if !asked {
		c.Pending = credential.PendingDeletion
		if err := e.store.Save(ctx, c); err != nil {
			return err
		}
	}
	if shared {
		err = e.removeKeys(ctx, cl, keys)
	} else {
		err = cl.DeleteServiceAccount(ctx, id)
	}
	if err != nil && !deadKey(err) {
		return err
	}
	if shared && c.Token == "" {
		return nil
	}
	// A key goes with its account. Nobody will look again, so this is to be certain.
	_, look := cl.ServiceAccountKeys(ctx, id)
	switch {
	case look == nil && err == nil:
		return connect.WithReason(fmt.Errorf("service account %d is still there after it was deleted", id), v1alpha1.ReasonUnreachable)
	case look == nil, terdut.IsUnauthorized(err) && !asked:
		return err
	case !deadKey(look):
		return look
	}
	e.tell(mg, reasonDeleted, "service account %d is deleted, or has lost our key where somebody else made it or has a key of it", id)
	return nil
}

// removeKeys that are ours. The one that this is done with is the last.
func (e *external) removeKeys(ctx context.Context, cl *terdut.Client, keys []terdut.KeyInfo) error {
	e.keys = keys
	ids := e.strays()
	if e.cred.KeyID != 0 {
		ids = append(ids, e.cred.KeyID)
	}
	var last error
	for _, id := range ids {
		if last = cl.DeleteServiceAccountKey(ctx, e.cred.ServiceAccountID, id); last != nil && !terdut.IsNotFound(last) {
			return last
		}
	}
	return last
}

// user returns the name of a Team that works through this account, empty when there is none. In a namespace that is being deleted, which
// has to end, a Team of another namespace counts only while it is being deleted itself.
func (e *external) user(ctx context.Context, mg *v1alpha1.Bootstrap) (string, error) {
	configs := &v1alpha1.ProviderConfigList{}
	err := e.kube.List(ctx, configs, client.InNamespace(mg.GetNamespace()), client.MatchingFields{index.ConfigByBootstrap: mg.GetName()})
	if err != nil {
		return "", fmt.Errorf("cannot list ProviderConfigs: %w", err)
	}
	foreign := ""
	for i := range configs.Items {
		teams := &v1alpha1.TeamList{}
		key := connect.ConfigKey(connect.KindProviderConfig, mg.GetNamespace(), configs.Items[i].GetName())
		if err := e.kube.List(ctx, teams, client.MatchingFields{connect.IndexConfig: key}); err != nil {
			return "", fmt.Errorf("cannot list Teams: %w", err)
		}
		for j := range teams.Items {
			t := &teams.Items[j]
			name := t.GetNamespace() + "/" + t.GetName()
			if t.GetNamespace() == mg.GetNamespace() || meta.WasDeleted(t) {
				return name, nil
			}
			foreign = name
		}
	}
	if foreign == "" {
		return "", nil
	}
	terminating, err := owner.NamespaceTerminating(ctx, e.live, mg.GetNamespace())
	if err != nil || terminating {
		return "", err
	}
	return foreign, nil
}
