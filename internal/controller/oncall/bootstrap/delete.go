package bootstrap

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
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

// deletion is pending on the server from just before it is asked for.
const deletion = "deletion"

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

// remove the account from the server; of an account that somebody else made, our key alone.
func (e *external) remove(ctx context.Context, mg *v1alpha1.Bootstrap) error {
	token, id := e.cred.Token, e.cred.ServiceAccountID
	if token == "" {
		token = e.cred.AdminToken
	}
	if token == "" {
		return nil
	}
	cl, err := e.terdut.Client(e.cred.Endpoint, e.cred.CABundle, token)
	if err != nil {
		return err
	}
	if !e.cred.Complete() {
		// Interrupted before its key was stored.
		a, err := cl.FindServiceAccount(ctx, mg.Spec.ForProvider.ServiceAccountName)
		if err != nil || a == nil {
			return err
		}
		id = a.ID
	}
	asked := e.cred.Pending == deletion
	if !asked {
		e.cred.Pending = deletion
		if err := e.store.Save(ctx, e.cred); err != nil {
			return err
		}
	}
	if e.cred.Joined {
		err = cl.DeleteServiceAccountKey(ctx, id, e.cred.KeyID)
	} else {
		err = cl.DeleteServiceAccount(ctx, id)
	}
	if err != nil && !deadKey(err) {
		return err
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
	e.tell(mg, reasonDeleted, "service account %d is deleted, or has lost its key where somebody else made it", id)
	return nil
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
