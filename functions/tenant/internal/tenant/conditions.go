package tenant

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// conditions of the composite, always all of them and in the same order.
func (t *tenant) conditions(s state) []composite.Condition {
	return []composite.Condition{t.credentialCondition(s), t.databaseCondition(s), t.accessCondition(s), t.secretProjected(s), t.loginVerified(s)}
}

// Messages of steps that were not begun. Each stays the same until its step is done: every change of a message is a write of the
// composite, and Crossplane stops listening to a composite that is written too often.
const (
	messageNoCredential = "The credential is stored once the PGDatabase has found that nothing stands in the way."
	messageNoDatabase   = "Role, database and extensions are created once the credential is stored."
	messageNotCompared  = "The database is there. Whether it is as asked for is known when its credential can be read again."
	messageNoSecret     = "The Secret is delivered once database, credential and access are ready."
	messageNoLogin      = "The login is verified once the Secret is delivered."
)

// credentialCondition is true when the record in OpenBao holds the credential.
func (t *tenant) credentialCondition(s state) composite.Condition {
	const ct = v1alpha1.TypeCredentialReady
	switch {
	case t.credentialAnswers().None():
		return composite.Waiting(ct, messageNoCredential)
	case !s.credentialHolds:
		return composite.Waiting(ct, "BaoSecret %q does not have the desired spec yet.", t.credential.Metadata.Name)
	}
	who := fmt.Sprintf("BaoSecret %q", t.credential.Metadata.Name)
	c := composite.First(ct, who, t.credentialAnswers(), openbaov1alpha1.TypeRecordReady, xpv2.TypeReady, xpv2.TypeSynced)
	if c.Reason == string(xpv2.ReasonCreating) {
		return composite.Waiting(ct, messageNoCredential)
	}
	return c
}

// databaseCondition is true when role, database and extensions are as asked for.
func (t *tenant) databaseCondition(s state) composite.Condition {
	const ct = v1alpha1.TypeDatabaseReady
	switch {
	case t.databaseAnswers().None():
		return composite.Waiting(ct, messageNoDatabase)
	case !s.databaseHolds:
		return composite.Waiting(ct, "PGDatabase %q does not have the desired spec yet.", t.database.Metadata.Name)
	}
	who := fmt.Sprintf("PGDatabase %q", t.database.Metadata.Name)
	c := composite.First(ct, who, t.databaseAnswers(), postgresqlv1alpha1.TypePreflightPassed, postgresqlv1alpha1.TypeRoleReady,
		postgresqlv1alpha1.TypeDatabaseReady, postgresqlv1alpha1.TypeExtensionsReady, xpv2.TypeSynced)
	r := xpv2.ConditionReason(c.Reason)
	if r == postgresqlv1alpha1.ReasonCredentialNotReady && t.databaseFacts().DatabaseOID > 0 {
		return composite.Condition{Type: ct, Status: corev1.ConditionUnknown, Reason: c.Reason, Message: messageNotCompared}
	}
	switch r {
	case postgresqlv1alpha1.ReasonCredentialNotReady, postgresqlv1alpha1.ReasonPending, xpv2.ReasonCreating:
		// Why there is no credential is told by its own condition.
		return composite.Waiting(ct, messageNoDatabase)
	}
	return c
}

// loginVerified is true when the credentials in the Secret logged in.
func (t *tenant) loginVerified(s state) composite.Condition {
	const ct = v1alpha1.TypeLoginVerified
	switch {
	case t.externalSecret == nil:
		return composite.Waiting(ct, messageNoLogin)
	case !s.databaseHolds:
		return composite.Waiting(ct, "The PGDatabase does not have the desired spec yet.")
	}
	who := fmt.Sprintf("PGDatabase %q", t.database.Metadata.Name)
	c := composite.First(ct, who, t.databaseAnswers(), postgresqlv1alpha1.TypeLoginVerified)
	r := xpv2.ConditionReason(c.Reason)
	if r == postgresqlv1alpha1.ReasonPending || r == postgresqlv1alpha1.ReasonSecretNotReady && !s.projected {
		return composite.Waiting(ct, messageNoLogin)
	}
	return c
}

// secretProjected is true when External Secrets delivered the Secret.
func (t *tenant) secretProjected(s state) composite.Condition {
	const ct = v1alpha1.TypeSecretProjected
	switch {
	case t.externalSecret == nil || !t.delivery().Projection().Said():
		return composite.Waiting(ct, messageNoSecret)
	case s.projected:
		return composite.Available(ct)
	}
	return t.delivery().Undelivered(ct)
}
