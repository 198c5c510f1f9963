package pgdatabase

import (
	"context"
	"fmt"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	group "github.com/ryuvia/provider-terdut/internal/controller/postgresql"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// passed says that a step is as asked for.
func passed(t xpv2.ConditionType) xpv2.Condition {
	return setup.Condition(t, corev1.ConditionTrue, v1alpha1.ReasonPassed, "")
}

// notYet says that a step is not as asked for, and why.
func notYet(t xpv2.ConditionType, r xpv2.ConditionReason, message string) xpv2.Condition {
	return setup.Condition(t, corev1.ConditionFalse, r, message)
}

// steps are the conditions that Ready needs, in their order.
func steps(mg *v1alpha1.PGDatabase) []xpv2.ConditionType {
	s := []xpv2.ConditionType{v1alpha1.TypePreflightPassed, v1alpha1.TypeRoleReady, v1alpha1.TypeDatabaseReady, v1alpha1.TypeExtensionsReady}
	if mg.Spec.ForProvider.LoginCheck != nil {
		s = append(s, v1alpha1.TypeLoginVerified)
	}
	return s
}

// ready says that all steps passed, or repeats what the first that did not has to say.
func ready(mg *v1alpha1.PGDatabase) xpv2.Condition {
	for _, t := range steps(mg) {
		if c := mg.GetCondition(t); c.Status != corev1.ConditionTrue {
			return setup.NotReady(c.Reason, c.Message)
		}
	}
	return xpv2.Available()
}

// pending says of each step after the preflight that it has not been taken, unless something better is known.
func (e *external) pending(mg *v1alpha1.PGDatabase) {
	for _, t := range steps(mg)[1:] {
		if mg.GetCondition(t).Status == corev1.ConditionUnknown {
			setup.Mark(mg, notYet(t, v1alpha1.ReasonPending, ""))
		}
	}
}

// failStep reports the step that failed, and returns the error with its reason.
func (e *external) failStep(mg *v1alpha1.PGDatabase, t xpv2.ConditionType, err error) error {
	e.pending(mg)
	wrapped := e.fail(mg, err)
	r := group.ReasonOf(wrapped)
	if meta.WasDeleted(mg) && r == v1alpha1.ReasonInstanceUnreachable {
		r = v1alpha1.ReasonDegraded
	}
	setup.Mark(mg, notYet(t, r, err.Error()))
	return wrapped
}

// projectConfig writes what the config says into the status: it is known before the server answers.
func (e *external) projectConfig(ctx context.Context, mg *v1alpha1.PGDatabase) {
	s := e.cfg.Server
	c := v1alpha1.ConsumerObservation{Host: s.Host, Port: s.Port, SSLMode: s.SSLMode}
	if s.HostAddr != nil {
		c.HostAddr = *s.HostAddr
	}
	// Without a readable bundle the one that is known stays: a Secret that is away for a moment must not change what tenants are told.
	c.CABundle = mg.Status.AtProvider.Consumer.CABundle
	if ca, err := e.postgres.CABundle(ctx, e.cfg); err == nil {
		c.CABundle = ca
	}
	if to := s.Consumer; to != nil {
		set(&c.Host, to.Host)
		if to.Host != nil {
			// The provider's own address is not the consumers' host's.
			c.HostAddr = ""
		}
		set(&c.HostAddr, to.HostAddr)
		set(&c.Port, to.Port)
		set(&c.CABundle, to.CABundle)
	}
	mg.Status.AtProvider.Consumer = c
	mg.Status.AtProvider.DeletionPolicy = mg.Spec.ForProvider.DeletionPolicy
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// project facts into the status.
func (e *external) project(mg *v1alpha1.PGDatabase, f *postgresql.Facts) {
	o := &mg.Status.AtProvider
	o.ServerVersion = group.VersionString(f.Server.Version)
	o.ServerIdentity = f.Server.Identity
	o.Owner, o.Encoding, o.Locale = "", "", ""
	if d := f.Database; d != nil {
		o.Owner, o.Encoding, o.Locale = d.Owner, d.Encoding, d.Collate
		// Of a database that is not there the OID that is known stays: it says that there was one. So somebody else's is never taken for ours.
		if r := f.DatabaseRecord; r != nil && r.Owner.Holder == string(mg.GetUID()) || onlyObserves(mg) {
			o.DatabaseOID = int64(d.OID)
		}
	}
	o.Registry = v1alpha1.RegistryObservation{}
	if r := f.DatabaseRecord; r != nil {
		o.Registry.RecordedOwner = fmt.Sprintf("%s/%s (%s)", r.Owner.Namespace, r.Owner.Name, r.Owner.UID)
		o.Registry.Retained = r.State == postgresql.StateRetained
	}
}

// observeOnly reports a database that is only looked at, whoever owns it.
func (e *external) observeOnly(mg *v1alpha1.PGDatabase, f *postgresql.Facts) managed.ExternalObservation {
	if f.Database == nil {
		return managed.ExternalObservation{}
	}
	setup.Mark(mg, passed(v1alpha1.TypeDatabaseReady), xpv2.Available())
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true, ConnectionDetails: e.connectionDetails(mg)}
}

// connectionDetails never hold the password: it is delivered from OpenBao.
func (e *external) connectionDetails(mg *v1alpha1.PGDatabase) managed.ConnectionDetails {
	c := mg.Status.AtProvider.Consumer
	return managed.ConnectionDetails{
		xpv2.CredentialsSecretEndpointKey: []byte(c.Host),
		xpv2.CredentialsSecretPortKey:     []byte(strconv.Itoa(int(c.Port))),
		xpv2.CredentialsSecretUserKey:     []byte(e.names.Role),
		"database":                        []byte(e.names.Database),
	}
}
