package pgdatabase

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
	group "github.com/ryuvia/provider-terdut/internal/controller/postgresql"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

var _ managed.TypedExternalClient[*v1alpha1.PGDatabase] = &external{}

// A server is what is asked of a PostgreSQL server. *postgresql.Instance is one.
type server interface {
	Observe(context.Context, postgresql.Names) (*postgresql.Facts, error)
	Recorded(ctx context.Context, controlPlane, holder string) (databases []string, err error)
	Sessions(ctx context.Context, database string) (int, error)
	AvailableExtensions(ctx context.Context, names []string) (map[string]postgresql.AvailableExtension, error)
	Extensions(ctx context.Context, database string) (map[string]postgresql.Extension, error)
	CheckLogin(ctx context.Context, username, password, database string) error

	Reserve(context.Context, postgresql.Claim) (*postgresql.Facts, error)
	EnsureRole(context.Context, postgresql.Claim, postgresql.RoleSpec) (created bool, err error)
	EnsureDatabase(context.Context, postgresql.Claim, postgresql.DatabaseSpec) (created bool, err error)
	EnsureExtensions(context.Context, postgresql.Claim, []postgresql.ExtensionSpec) ([]postgresql.ExtensionResult, error)
	RecordCredential(ctx context.Context, c postgresql.Claim, version string) error
	Retain(context.Context, postgresql.Claim) error
	DropDatabase(ctx context.Context, c postgresql.Claim, terminate bool) error
	DropRole(context.Context, postgresql.Claim) (kept []string, err error)
}

// external is one reconcile's view of one database.
type external struct {
	*connector

	cfg      *connect.PostgresConfig
	instance server
	names    postgresql.Names
	// passwordRejected is set by Observe when the server refused the password that it should accept.
	passwordRejected bool
	// refused is set by an update that the server refused because it does not have what is asked for.
	refused error
}

func (e *external) Observe(ctx context.Context, mg *v1alpha1.PGDatabase) (managed.ExternalObservation, error) {
	if meta.WasDeleted(mg) {
		return e.observeDeleted(ctx, mg)
	}
	e.projectConfig(ctx, mg)
	if err := e.settle(ctx, mg); err != nil {
		return e.stop(mg, err)
	}
	f, err := e.instance.Observe(ctx, e.names)
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	e.project(mg, f)
	if onlyObserves(mg) {
		return e.observeOnly(mg, f), nil
	}

	claim, err := e.claim(ctx, mg)
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	if err := e.preflight(ctx, mg, f, claim); err != nil {
		return e.stop(mg, err)
	}
	setup.Mark(mg, passed(v1alpha1.TypePreflightPassed))

	cred, err := e.credential(ctx, mg)
	if err == nil {
		cred, err = e.usable(ctx, mg, cred, f.RoleRecord)
	}
	if err != nil {
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	if !made(f) {
		if !cred.ready() {
			return e.waitForCredential(mg, cred), nil
		}
		e.pending(mg)
		return managed.ExternalObservation{ResourceUpToDate: true, ConnectionDetails: e.connectionDetails(mg)}, nil
	}
	return e.compare(ctx, mg, f, claim, cred)
}

// compare a database that was made with what it should be, and prove what can be proven.
func (e *external) compare(ctx context.Context, mg *v1alpha1.PGDatabase, f *postgresql.Facts, c postgresql.Claim, cred *credential) (managed.ExternalObservation, error) {
	o := managed.ExternalObservation{ResourceExists: true, ConnectionDetails: e.connectionDetails(mg)}
	drift := drifted(mg, f, c, cred)
	if len(drift) > 0 {
		o.Diff = strings.Join(drift, ", ")
		return o, nil
	}

	p, err := e.prove(ctx, mg, f, cred)
	if err != nil {
		return o, e.fail(mg, err)
	}
	if p.passwordRejected {
		e.passwordRejected = true
		o.Diff = "password"
		return o, nil
	}
	e.projectProof(mg, p)
	if len(p.drift) > 0 {
		o.Diff = strings.Join(p.drift, ", ")
		return o, nil
	}

	setup.Mark(mg, passed(v1alpha1.TypeDatabaseReady))
	if cred.ready() {
		setup.Mark(mg, passed(v1alpha1.TypeRoleReady))
	} else {
		setup.Report(mg, e.recorder, notYet(v1alpha1.TypeRoleReady, v1alpha1.ReasonCredentialNotReady, cred.message))
	}
	setup.Mark(mg, ready(mg))
	o.ResourceUpToDate = true
	return o, nil
}

// Create the role, the database and its extensions.
func (e *external) Create(ctx context.Context, mg *v1alpha1.PGDatabase) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{ConnectionDetails: e.connectionDetails(mg)}, e.apply(ctx, mg)
}

// Update what differs, and look again: Ready is what is proven now, not what was before.
func (e *external) Update(ctx context.Context, mg *v1alpha1.PGDatabase) (managed.ExternalUpdate, error) {
	u := managed.ExternalUpdate{ConnectionDetails: e.connectionDetails(mg)}
	if err := e.apply(ctx, mg); err != nil {
		return u, err
	}
	e.passwordRejected = false
	o, err := e.Observe(ctx, mg)
	if err == nil && !o.ResourceUpToDate {
		setup.Mark(mg, setup.NotReady(v1alpha1.ReasonPending, "it still differs after an update: "+o.Diff))
	}
	return u, err
}

// Disconnect is nothing: connections are shared.
func (e *external) Disconnect(context.Context) error { return nil }

// claim returns who asks for the database, and what the admin allows.
func (e *external) claim(ctx context.Context, mg *v1alpha1.PGDatabase) (postgresql.Claim, error) {
	id, err := e.owners.Of(ctx, mg, v1alpha1.PGDatabaseGroupVersionKind)
	if err != nil {
		return postgresql.Claim{}, err
	}
	c := postgresql.Claim{
		Names: e.names,
		Owner: postgresql.Owner{
			ControlPlane: e.controlPlane, UID: string(id.UID), Namespace: id.Namespace, Name: id.Name, Holder: string(mg.GetUID()),
		},
		DeletionPolicy: string(mg.Spec.ForProvider.DeletionPolicy),
	}
	for _, a := range e.cfg.Server.Adoptions {
		c.Consents.Adoptions = append(c.Consents.Adoptions, postgresql.Adoption{Database: a.Database, From: a.From, To: a.To, Recreate: a.Recreate})
	}
	for _, p := range e.cfg.Server.ControlPlanes {
		c.Consents.ControlPlanes = append(c.Consents.ControlPlanes, p.From)
	}
	return c, nil
}

// stop reports what only a person, or a change elsewhere, can resolve. It is no error: nothing is retried but by the poll and by what is
// watched.
func (e *external) stop(mg *v1alpha1.PGDatabase, err error) (managed.ExternalObservation, error) {
	r := group.ReasonOf(err)
	switch r {
	case v1alpha1.ReasonConflict, v1alpha1.ReasonDataLost, v1alpha1.ReasonIdentityChanged, v1alpha1.ReasonExtensionUnavailable, v1alpha1.ReasonInUse,
		v1alpha1.ReasonExternalNameChanged:
	default:
		return managed.ExternalObservation{}, e.fail(mg, err)
	}
	e.proofs.forget(mg.GetUID())
	setup.Report(mg, e.recorder, notYet(v1alpha1.TypePreflightPassed, r, err.Error()))
	if r == v1alpha1.ReasonDataLost || r == v1alpha1.ReasonIdentityChanged {
		setup.Mark(mg, notYet(v1alpha1.TypeDatabaseReady, r, err.Error()))
	}
	setup.Mark(mg, setup.NotReady(r, err.Error()))
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
}

// fail reports an error of the server. What was proven before has to be proven again.
func (e *external) fail(mg *v1alpha1.PGDatabase, err error) error {
	r := group.ReasonOf(err)
	e.proofs.forget(mg.GetUID())
	if meta.WasDeleted(mg) && r == v1alpha1.ReasonInstanceUnreachable {
		setup.Mark(mg, setup.Condition(v1alpha1.TypeDatabaseReady, corev1.ConditionUnknown, v1alpha1.ReasonDegraded, err.Error()))
	}
	return connect.WithReason(err, r)
}

// made is true when role and database were made, recorded and opened: what is left is comparing.
func made(f *postgresql.Facts) bool {
	return f.Role != nil && f.Database != nil && f.RoleRecord != nil && f.DatabaseRecord != nil && f.DatabaseRecord.OID != 0
}

// drifted names what differs according to the facts. The order is stable.
func drifted(mg *v1alpha1.PGDatabase, f *postgresql.Facts, c postgresql.Claim, cred *credential) []string {
	var d []string
	if f.RoleRecord.Owner != c.Owner || f.DatabaseRecord.Owner != c.Owner || f.DatabaseRecord.State != postgresql.StateCreated ||
		f.DatabaseRecord.DeletionPolicy != c.DeletionPolicy {
		d = append(d, "registry")
	}
	d = append(d, f.RoleDrift(roleSpec(mg, ""))...)
	d = append(d, f.DatabaseDrift(databaseSpec(mg))...)
	if cred.ready() && f.RoleRecord.CredentialVersion != cred.version {
		d = append(d, "credential")
	}
	return d
}

func onlyObserves(mg *v1alpha1.PGDatabase) bool {
	return slices.Equal(mg.GetManagementPolicies(), xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
}
