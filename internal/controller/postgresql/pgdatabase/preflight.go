package pgdatabase

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
)

// externalSecretGroup and kind are what a delivered Secret is controlled by.
const (
	externalSecretGroup = "external-secrets.io"
	externalSecretKind  = "ExternalSecret"
)

// preflight looks for what stands in the way, before anything is written: names that are somebody else's, extensions that cannot be had, a
// Secret that is somebody else's.
func (e *external) preflight(ctx context.Context, mg *v1alpha1.PGDatabase, f *postgresql.Facts, c postgresql.Claim) error {
	if err := f.Preflight(c.Owner, c.Consents); err != nil {
		return err
	}
	if err := e.neverLost(mg, f, c); err != nil {
		return err
	}
	if err := e.ownSecret(ctx, mg); err != nil {
		return err
	}
	if made(f) {
		// Then an extension that cannot be had is no reason to give up the rest.
		return nil
	}
	if err := e.templateIdle(ctx, mg, f); err != nil {
		return err
	}
	return e.available(ctx, mg)
}

// templateIdle makes sure that nobody is connected to the template: the server would refuse to copy it. Nobody can be to template0.
func (e *external) templateIdle(ctx context.Context, mg *v1alpha1.PGDatabase, f *postgresql.Facts) error {
	t := mg.Spec.ForProvider.Template
	if f.Database != nil || t == "" || t == "template0" {
		return nil
	}
	n, err := e.instance.Sessions(ctx, t)
	if err != nil || n == 0 {
		return err
	}
	return &postgresql.InUseError{Database: t, Sessions: n}
}

// neverLost refuses to begin anew where this object has made a database before: neither the database nor its record is there any more, so
// this is another server, or one that was emptied.
func (e *external) neverLost(mg *v1alpha1.PGDatabase, f *postgresql.Facts, c postgresql.Claim) error {
	known := mg.Status.AtProvider.DatabaseOID > 0 || !meta.GetExternalCreateSucceeded(mg).IsZero()
	if !known || f.Database != nil || f.DatabaseRecord != nil {
		return nil
	}
	for _, a := range c.Consents.Adoptions {
		if a.Recreate && a.Database == e.names.Database && a.From == postgresql.Unregistered && a.To == c.Owner.Namespace+"/"+c.Owner.Name {
			return nil
		}
	}
	return &postgresql.DataLostError{Database: e.names.Database}
}

// available makes sure that the server offers the extensions.
func (e *external) available(ctx context.Context, mg *v1alpha1.PGDatabase) error {
	refused, err := e.unavailable(ctx, extensionSpecs(mg))
	for _, s := range extensionSpecs(mg) {
		if r := refused[s.Name]; r != nil {
			return r
		}
	}
	return err
}

// unavailable returns, by name, what to say of those extensions that the server does not offer.
func (e *external) unavailable(ctx context.Context, specs []postgresql.ExtensionSpec) (map[string]error, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	names := make([]string, len(specs))
	for i := range specs {
		names[i] = specs[i].Name
	}
	have, err := e.instance.AvailableExtensions(ctx, names)
	if err != nil {
		return nil, err
	}
	out := map[string]error{}
	for _, s := range specs {
		x, ok := have[s.Name]
		var err error
		switch {
		case !ok:
			err = fmt.Errorf("the server does not offer extension %q: install its files on the server", s.Name)
		case s.Version != "" && !slices.Contains(x.Versions, s.Version):
			err = fmt.Errorf("the server does not offer version %q of extension %q", s.Version, s.Name)
		default:
			continue
		}
		out[s.Name] = connect.WithReason(err, v1alpha1.ReasonExtensionUnavailable)
	}
	return out, nil
}

// ownSecret makes sure that the Secret which a composite has delivered is not somebody else's: it does not exist, or it is controlled by an
// ExternalSecret of the same composite. External Secrets would take over a Secret that nobody controls. A PGDatabase that no composite
// controls may check any Secret of its namespace.
func (e *external) ownSecret(ctx context.Context, mg *v1alpha1.PGDatabase) error {
	controller := metav1.GetControllerOf(mg)
	check := mg.Spec.ForProvider.LoginCheck
	if controller == nil || check == nil {
		return nil
	}
	s, err := e.secrets.Metadata(ctx, local(mg, check.SecretRef.Name))
	switch {
	case err != nil:
		return err
	case s == nil:
		return e.firstInLine(ctx, mg, check.SecretRef.Name)
	case e.proofs.trusts(mg.GetUID(), s.GetUID()):
		return nil
	}
	ours, err := e.deliveredFor(ctx, s, controller)
	if err != nil {
		return err
	}
	if !ours {
		err := fmt.Errorf("Secret %q exists and was not delivered for this composite: choose another name, or remove it", s.GetName()) // Secret is a kind's name.
		return connect.WithReason(err, v1alpha1.ReasonConflict)
	}
	e.proofs.trust(mg.GetUID(), s.GetUID())
	return nil
}

// firstInLine makes sure that no other composite is to have a Secret delivered that does not exist: somebody may only have deleted it, and
// applications that use it would get the login to another database. It stays with who has logged in with it, else with who asked first.
func (e *external) firstInLine(ctx context.Context, mg *v1alpha1.PGDatabase, secret string) error {
	l := &v1alpha1.PGDatabaseList{}
	if err := e.kube.List(ctx, l, client.InNamespace(mg.GetNamespace()), client.MatchingFields{index.PGDatabaseBySecret: secret}); err != nil {
		return fmt.Errorf("cannot list PGDatabases: %w", err)
	}
	for i := range l.Items {
		o := &l.Items[i]
		check, controller := o.Spec.ForProvider.LoginCheck, metav1.GetControllerOf(o)
		if check == nil || check.SecretRef.Name != secret || controller == nil || controller.UID == metav1.GetControllerOf(mg).UID || meta.WasDeleted(o) || !precedes(o, mg) {
			continue
		}
		err := fmt.Errorf("Secret %q is to be delivered for %q, which was first: choose another name", secret, owner.KnownAs(o)) // Secret is a kind's name.
		return connect.WithReason(err, v1alpha1.ReasonConflict)
	}
	return nil
}

// precedes tells whether a Secret that both name is rather a's than b's.
func precedes(a, b *v1alpha1.PGDatabase) bool {
	if used := a.Status.AtProvider.LoginVerifiedTime != nil; used != (b.Status.AtProvider.LoginVerifiedTime != nil) {
		return used
	}
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.UID < b.UID
}

// deliveredFor is true when an ExternalSecret controls the Secret, and the composite controls that.
func (e *external) deliveredFor(ctx context.Context, s *metav1.PartialObjectMetadata, composite *metav1.OwnerReference) (bool, error) {
	ref := metav1.GetControllerOf(s)
	if ref == nil || ref.Kind != externalSecretKind {
		return false, nil
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil || gv.Group != externalSecretGroup {
		return false, nil //nolint:nilerr // An owner of no readable kind is somebody else.
	}
	es := &metav1.PartialObjectMetadata{}
	es.SetGroupVersionKind(gv.WithKind(ref.Kind))
	if err := e.live.Get(ctx, types.NamespacedName{Namespace: s.GetNamespace(), Name: ref.Name}, es); err != nil {
		if kerrors.IsNotFound(err) {
			return false, nil
		}
		return false, fmt.Errorf("cannot get ExternalSecret %q: %w", ref.Name, err)
	}
	owner := metav1.GetControllerOf(es)
	return es.GetUID() == ref.UID && owner != nil && owner.UID == composite.UID, nil
}

// errNotOwner is what a login check says when the Secret is for somebody else.
var errNotOwner = errors.New("the user name in the Secret is not the owner role's")
