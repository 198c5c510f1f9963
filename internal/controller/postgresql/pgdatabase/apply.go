package pgdatabase

import (
	"context"
	"errors"

	"k8s.io/utils/ptr"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
	group "github.com/ryuvia/provider-terdut/internal/controller/postgresql"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// apply brings role, database, password and extensions to what the spec asks for. Every step looks before it writes, refuses what is not
// ours, and can be repeated.
func (e *external) apply(ctx context.Context, mg *v1alpha1.PGDatabase) error {
	e.proofs.forget(mg.GetUID())
	e.refused = nil
	claim, err := e.claim(ctx, mg)
	if err != nil {
		return err
	}
	cred, err := e.credential(ctx, mg)
	if err != nil {
		return err
	}

	f, err := e.instance.Reserve(ctx, claim)
	if err != nil {
		return e.failStep(mg, v1alpha1.TypePreflightPassed, err)
	}
	if err := e.applyRole(ctx, mg, claim, f, cred); err != nil {
		return e.failStep(mg, v1alpha1.TypeRoleReady, err)
	}
	if _, err := e.instance.EnsureDatabase(ctx, claim, databaseSpec(mg)); err != nil {
		return e.failStep(mg, v1alpha1.TypeDatabaseReady, err)
	}
	setup.Mark(mg, passed(v1alpha1.TypeDatabaseReady))

	if err := e.applyPassword(ctx, mg, claim, f, cred); err != nil {
		return e.failStep(mg, v1alpha1.TypeRoleReady, err)
	}
	if err := e.applyExtensions(ctx, mg, claim); err != nil {
		return e.failStep(mg, v1alpha1.TypeExtensionsReady, err)
	}

	f, err = e.instance.Observe(ctx, e.names)
	if err != nil {
		return e.fail(mg, err)
	}
	e.project(mg, f)
	return nil
}

// applyRole creates or repairs the role. The password is given to a new role; that of an existing one is looked at later.
func (e *external) applyRole(ctx context.Context, mg *v1alpha1.PGDatabase, c postgresql.Claim, f *postgresql.Facts, cred *credential) error {
	password := ""
	if f.Role == nil {
		var err error
		if password, err = cred.read(ctx); err != nil {
			return err
		}
	}
	_, err := e.instance.EnsureRole(ctx, c, roleSpec(mg, password))
	return err
}

// applyPassword makes sure that the password logs in, and records that it does. The role's password is only changed after the server has
// refused the one that it should accept.
func (e *external) applyPassword(ctx context.Context, mg *v1alpha1.PGDatabase, c postgresql.Claim, f *postgresql.Facts, cred *credential) error {
	if !cred.ready() {
		return nil
	}
	recorded := f.RoleRecord != nil && f.RoleRecord.CredentialVersion == cred.version
	if recorded && !e.passwordRejected {
		setup.Mark(mg, passed(v1alpha1.TypeRoleReady))
		return nil
	}
	password, err := cred.read(ctx)
	if err != nil {
		return err
	}
	err = e.instance.CheckLogin(ctx, c.Role, password, c.Database)
	if postgresql.IsLoginRejected(err) {
		if _, err := e.instance.EnsureRole(ctx, c, roleSpec(mg, password)); err != nil {
			return err
		}
		err = e.instance.CheckLogin(ctx, c.Role, password, c.Database)
	}
	if err != nil {
		return err
	}
	if err := e.instance.RecordCredential(ctx, c, cred.version); err != nil {
		return err
	}
	setup.Mark(mg, passed(v1alpha1.TypeRoleReady))
	return nil
}

// applyExtensions installs, updates and moves extensions. One that fails does not keep the others from being tried.
func (e *external) applyExtensions(ctx context.Context, mg *v1alpha1.PGDatabase, c postgresql.Claim) error {
	specs := extensionSpecs(mg)
	if len(specs) == 0 {
		setup.Mark(mg, passed(v1alpha1.TypeExtensionsReady))
		return nil
	}
	results, err := e.instance.EnsureExtensions(ctx, c, specs)
	if err != nil {
		return err
	}
	var errs []error
	unavailable := true
	for _, r := range results {
		if r.Err != nil {
			errs = append(errs, r.Err)
			unavailable = unavailable && extensionReason(r.Err) == v1alpha1.ReasonExtensionUnavailable
		}
	}
	switch {
	case len(errs) > 0 && unavailable:
		// To wait until the server has it is no error.
		e.refused = errors.Join(errs...)
		setup.Report(mg, e.recorder, notYet(v1alpha1.TypeExtensionsReady, v1alpha1.ReasonExtensionUnavailable, e.refused.Error()))
		return nil
	case len(errs) > 0:
		return connect.WithReason(errors.Join(errs...), extensionReason(errs[0]))
	}
	setup.Mark(mg, passed(v1alpha1.TypeExtensionsReady))
	return nil
}

func roleSpec(mg *v1alpha1.PGDatabase, password string) postgresql.RoleSpec {
	return postgresql.RoleSpec{ConnectionLimit: limit(mg.Spec.ForProvider.Owner.ConnectionLimit), Password: password}
}

func databaseSpec(mg *v1alpha1.PGDatabase) postgresql.DatabaseSpec {
	p := mg.Spec.ForProvider
	d := postgresql.DatabaseSpec{Encoding: p.Encoding, Template: p.Template, ConnectionLimit: limit(p.ConnectionLimit)}
	if p.Locale != nil {
		d.Locale = *p.Locale
	}
	return d
}

// limit of connections; none is -1 for PostgreSQL.
func limit(l *int32) int { return int(ptr.Deref(l, -1)) }

func extensionSpecs(mg *v1alpha1.PGDatabase) []postgresql.ExtensionSpec {
	specs := make([]postgresql.ExtensionSpec, 0, len(mg.Spec.ForProvider.Extensions))
	for _, x := range mg.Spec.ForProvider.Extensions {
		s := postgresql.ExtensionSpec{Name: x.Name, Schema: x.Schema}
		if x.Version != nil {
			s.Version = *x.Version
		}
		specs = append(specs, s)
	}
	return specs
}

func extensionReason(err error) (r xpv2.ConditionReason) {
	if postgresql.IsExtensionUnavailable(err) {
		return v1alpha1.ReasonExtensionUnavailable
	}
	if r = group.ReasonOf(err); r == v1alpha1.ReasonFailed {
		return v1alpha1.ReasonExtensionFailed
	}
	return r
}
