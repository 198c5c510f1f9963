package tenant

import (
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// needPerson are the reasons that do not go away until a person does something. A server that does not answer is not among them.
var needPerson = []xpv2.ConditionReason{
	postgresqlv1alpha1.ReasonDataLost,
	postgresqlv1alpha1.ReasonExtensionFailed,
	postgresqlv1alpha1.ReasonExtensionUnavailable,
	postgresqlv1alpha1.ReasonFailed,
	postgresqlv1alpha1.ReasonIdentityChanged,
	postgresqlv1alpha1.ReasonInsufficientPrivilege,
	openbaov1alpha1.ReasonMountNotFound,
	openbaov1alpha1.ReasonPermissionDenied,
	openbaov1alpha1.ReasonTemplateFailed,
	v1alpha1.ReasonSecretImmutable,
	v1alpha1.ReasonAccessNotConfigured,
	v1alpha1.ReasonPathNotExact,
}

// phase is how far the tenant has come. It rests on facts that stay: a server that stops answering does not undo what was created.
func (t *tenant) phase(s state) v1alpha1.TenantPhase {
	if p := t.problem(s); p != "" {
		return p
	}
	facts, said := t.databaseFacts(), t.databaseAnswers()
	database := facts.DatabaseOID > 0 || said.WasTrue(postgresqlv1alpha1.TypeDatabaseReady)
	role := database || facts.CredentialVersion != "" || said.WasTrue(postgresqlv1alpha1.TypeRoleReady)

	switch {
	case s.databaseReady && s.credentialReady && s.accessReady && s.projected:
		return v1alpha1.PhaseReady
	case t.delivery().Projection().Written:
		return v1alpha1.PhaseCredentialProjected
	case t.externalSecret != nil:
		return v1alpha1.PhaseExternalSecretCreated
	case database && t.extensionsInstalled():
		return v1alpha1.PhaseDatabaseCreated
	case role:
		return v1alpha1.PhaseRoleCreated
	case t.recordFacts().Version > 0:
		return v1alpha1.PhaseCredentialCreated
	}
	return v1alpha1.PhasePlanned
}

// extensionsInstalled tells whether all extensions were installed, also when the server does not answer any more.
func (t *tenant) extensionsInstalled() bool {
	if t.databaseAnswers().WasTrue(postgresqlv1alpha1.TypeExtensionsReady) {
		return true
	}
	installed := t.databaseFacts().Extensions
	for _, want := range t.spec.Extensions {
		if !slices.ContainsFunc(installed, func(e postgresqlv1alpha1.ExtensionObservation) bool { return e.Name == want.Name }) {
			return false
		}
	}
	return true
}

// problem is Conflict or Failed when a composed resource says so, and nothing otherwise.
func (t *tenant) problem(s state) v1alpha1.TenantPhase {
	negative := slices.Concat(t.databaseAnswers().Negative(), t.credentialAnswers().Negative())
	if c := t.secretProjected(s); c.Reason != v1alpha1.ReasonAvailable {
		negative = append(negative, xpv2.Condition{Reason: xpv2.ConditionReason(c.Reason)})
	}
	negative = append(negative, xpv2.Condition{Reason: xpv2.ConditionReason(t.accessCondition(s).Reason)})
	failed := false
	for _, c := range negative {
		if c.Reason == v1alpha1.ReasonConflict {
			return v1alpha1.PhaseConflict
		}
		failed = failed || slices.Contains(needPerson, c.Reason)
	}
	if failed {
		return v1alpha1.PhaseFailed
	}
	return ""
}
