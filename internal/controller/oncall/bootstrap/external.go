package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

var _ managed.TypedExternalClient[*v1alpha1.Bootstrap] = &external{}

// external is one reconcile's view of one account.
type external struct {
	*connector

	// server is a client without a key. It is nil when the object is being deleted.
	server   *terdut.Client
	caBundle string
	// cred is nil before anything was done.
	cred *credential.Credential
	// dead is true when the server does not take the key.
	dead bool
	// keys of the account, when the key in use is among them.
	keys []terdut.KeyInfo
}

// upToDate is an observation that asks for no write.
var upToDate = managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}

func (e *external) Observe(ctx context.Context, mg *v1alpha1.Bootstrap) (managed.ExternalObservation, error) {
	e.project(mg)
	switch {
	case meta.WasDeleted(mg):
		return e.observeDeleted(ctx, mg)
	case onlyObserves(mg):
		return e.observeOnly(ctx, mg)
	case e.cred != nil && e.cred.Endpoint != e.server.Endpoint():
		return e.stop(mg, v1alpha1.ReasonConflict, fmt.Sprintf("the provider's account is on %q, which cannot be changed", e.cred.Endpoint)), nil
	case e.cred.Complete():
		return e.observeKey(ctx, mg)
	}
	if o, stopped, err := e.observeLost(ctx, mg); stopped || err != nil {
		return o, err
	}
	if _, err := e.server.Healthy(ctx); err != nil {
		// A server that never was there is waited for.
		return e.stop(mg, v1alpha1.ReasonServerNotReady, err.Error()), nil
	}
	if c := mg.GetCondition(v1alpha1.TypeBootstrapped); c.Status != corev1.ConditionUnknown || c.Reason == "" {
		setup.Mark(mg, setup.Condition(v1alpha1.TypeBootstrapped, corev1.ConditionFalse, xpv2.ReasonCreating, ""))
	}
	setup.Mark(mg, xpv2.Creating())
	return managed.ExternalObservation{ResourceUpToDate: true}, nil
}

// observeKey looks whether the server takes the key, and whether there are others.
func (e *external) observeKey(ctx context.Context, mg *v1alpha1.Bootstrap) (managed.ExternalObservation, error) {
	keys, err := e.server.WithToken(e.cred.Token).ServiceAccountKeys(ctx, e.cred.ServiceAccountID)
	switch {
	case terdut.IsUnauthorized(err), terdut.IsNotFound(err):
		e.dead = true
		if o, stopped, err := e.observeLost(ctx, mg); stopped || err != nil {
			return o, err
		}
		return managed.ExternalObservation{ResourceExists: true}, nil
	case err != nil:
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	e.saw(keys)
	if err := setup.SetExternalName(ctx, e.kube, mg, strconv.FormatInt(e.cred.ServiceAccountID, 10)); err != nil {
		return managed.ExternalObservation{}, err
	}
	if c := e.cred; c.Trigger != trigger(mg) || c.CABundle != e.caBundle || c.Lost != "" || c.RetiredKeyID != 0 || c.Minting {
		return managed.ExternalObservation{ResourceExists: true}, nil
	}
	e.available(mg)
	return upToDate, nil
}

// observeLost reports that there is no way into a server that has users. Another administrator's key is another attempt.
func (e *external) observeLost(ctx context.Context, mg *v1alpha1.Bootstrap) (o managed.ExternalObservation, stopped bool, err error) {
	if e.cred == nil || e.cred.Lost == "" || e.cred.AdminToken != "" {
		return o, false, nil
	}
	_, attempt, err := e.adminKey(ctx, mg)
	if err != nil {
		return o, false, e.fail(mg, err)
	}
	if e.cred.Lost != attempt {
		return o, false, nil
	}
	if !e.cred.Complete() {
		// It may have been swept up only since.
		if kept, err := e.store.Retained(ctx, e.cred.Owner, e.cred.Endpoint); err != nil || kept != nil {
			return o, false, err
		}
	}
	return e.stop(mg, v1alpha1.ReasonBootstrapStateLost, lostMessage), true, nil
}

const lostMessage = "the server has users already, and the provider has no key that it takes: " +
	"set spec.forProvider.adminKeySecretRef to a Secret of this namespace with an administrator's API key"

// noAdminKey is the attempt without an administrator's key.
const noAdminKey = "without an administrator's key"

// adminKey that the spec names, empty when there is none. The attempt is another one for another key.
func (e *external) adminKey(ctx context.Context, mg *v1alpha1.Bootstrap) (key terdut.Secret, attempt string, err error) {
	ref := mg.Spec.ForProvider.AdminKeySecretRef
	if ref == nil {
		return "", noAdminKey, nil
	}
	v, ver, err := e.secrets.Read(ctx, types.NamespacedName{Namespace: mg.GetNamespace(), Name: ref.Name}, ref.Key)
	if missing := (*connect.MissingSecretError)(nil); errors.As(err, &missing) {
		return "", noAdminKey, nil
	}
	if err != nil {
		return "", "", err
	}
	return terdut.Secret(v[0]), "with Secret " + ver, nil
}

// observeOnly looks at an account with the administrator's key that the spec names.
func (e *external) observeOnly(ctx context.Context, mg *v1alpha1.Bootstrap) (managed.ExternalObservation, error) {
	key, _, err := e.adminKey(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	if key == "" {
		return e.stop(mg, v1alpha1.ReasonConfigNotReady, "to look at an account, adminKeySecretRef must name an administrator's key"), nil
	}
	a, err := e.server.WithToken(key).FindServiceAccount(ctx, mg.Spec.ForProvider.ServiceAccountName)
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	if a == nil {
		return managed.ExternalObservation{}, nil
	}
	mg.Status.AtProvider.ServiceAccountID = a.ID
	e.available(mg)
	return upToDate, nil
}

// Create makes the account, or goes on where it was interrupted.
func (e *external) Create(ctx context.Context, mg *v1alpha1.Bootstrap) (managed.ExternalCreation, error) {
	if err := e.acquire(ctx, mg); err != nil {
		return managed.ExternalCreation{}, e.fail(mg, err)
	}
	meta.SetExternalName(mg, strconv.FormatInt(e.cred.ServiceAccountID, 10))
	return managed.ExternalCreation{}, nil
}

// Update gets another key when the server does not take the one that there is, or when it is time to, and revokes those that are not used.
func (e *external) Update(ctx context.Context, mg *v1alpha1.Bootstrap) (managed.ExternalUpdate, error) {
	if err := e.renew(ctx, mg); err != nil {
		return managed.ExternalUpdate{}, e.fail(mg, err)
	}
	e.project(mg)
	e.available(mg)
	return managed.ExternalUpdate{}, nil
}

// Disconnect is nothing: clients are shared.
func (e *external) Disconnect(context.Context) error { return nil }

func (e *external) available(mg *v1alpha1.Bootstrap) {
	setup.Mark(mg, setup.Condition(v1alpha1.TypeBootstrapped, corev1.ConditionTrue, v1alpha1.ReasonBootstrapped, ""), xpv2.Available())
}

// project what is known into the status, which nothing is ever read from.
func (e *external) project(mg *v1alpha1.Bootstrap) {
	o := v1alpha1.BootstrapObservation{DeletionPolicy: mg.Spec.ForProvider.DeletionPolicy}
	if e.cred != nil {
		o.ServiceAccountID, o.KeyID, o.KeyRotationTrigger = e.cred.ServiceAccountID, e.cred.KeyID, e.cred.Trigger
		o.CredentialsSecretRef = &v1alpha1.CredentialReference{Name: e.cred.SecretName()}
	}
	mg.Status.AtProvider = o
}

// stop reports something that only a person, or a change elsewhere, can resolve.
func (e *external) stop(mg *v1alpha1.Bootstrap, r xpv2.ConditionReason, message string) managed.ExternalObservation {
	setup.Report(mg, e.recorder, setup.Condition(v1alpha1.TypeBootstrapped, corev1.ConditionFalse, r, message))
	if !meta.WasDeleted(mg) {
		setup.Mark(mg, setup.NotReady(r, message))
	}
	return upToDate
}

// fail reports an error of the server.
func (e *external) fail(mg *v1alpha1.Bootstrap, err error) error {
	r := connect.TerdutReason(err)
	if meta.WasDeleted(mg) && r == v1alpha1.ReasonUnreachable {
		r = v1alpha1.ReasonDegraded
	}
	setup.Mark(mg, setup.Condition(v1alpha1.TypeBootstrapped, corev1.ConditionUnknown, r, err.Error()))
	return connect.WithReason(err, r)
}

func trigger(mg *v1alpha1.Bootstrap) string {
	if r := mg.Spec.ForProvider.KeyRotation; r != nil {
		return r.Trigger
	}
	return ""
}

func onlyObserves(mg *v1alpha1.Bootstrap) bool {
	return slices.Equal(mg.GetManagementPolicies(), xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
}
