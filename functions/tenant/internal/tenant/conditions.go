package tenant

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// A Condition of the composite.
type Condition struct {
	Type    string
	Status  corev1.ConditionStatus
	Reason  string
	Message string
}

// conditions of the composite, always all of them and in the same order.
func (t *tenant) conditions(s state) []Condition {
	return []Condition{t.credentialCondition(s), t.databaseCondition(s), t.secretProjected(s), t.loginVerified(s)}
}

func available(conditionType string) Condition {
	return Condition{Type: conditionType, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonAvailable}
}

func waiting(conditionType, format string, args ...any) Condition {
	return Condition{
		Type: conditionType, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonWaiting, Message: fmt.Sprintf(format, args...),
	}
}

// Messages of steps that were not begun. Each stays the same until its step is done: every change of a message is a write of the
// composite, and Crossplane stops listening to a composite that is written too often.
const (
	messageNoCredential = "The credential is stored once the PGDatabase has found that nothing stands in the way."
	messageNoDatabase   = "Role, database and extensions are created once the credential is stored."
	messageNoSecret     = "The Secret is delivered once the database and its credential are ready."
	messageNoLogin      = "The login is verified once the Secret is delivered."
)

// credentialCondition is true when the record in OpenBao holds the credential.
func (t *tenant) credentialCondition(s state) Condition {
	const ct = v1alpha1.TypeCredentialReady
	switch {
	case t.credentialAnswers().none():
		return waiting(ct, messageNoCredential)
	case !s.credentialHolds:
		return waiting(ct, "BaoSecret %q does not have the desired spec yet.", t.credential.Metadata.Name)
	}
	who := fmt.Sprintf("BaoSecret %q", t.credential.Metadata.Name)
	c := first(ct, who, t.credentialAnswers(), openbaov1alpha1.TypeRecordReady, xpv2.TypeReady, xpv2.TypeSynced)
	if c.Reason == string(xpv2.ReasonCreating) {
		return waiting(ct, messageNoCredential)
	}
	return c
}

// databaseCondition is true when role, database and extensions are as asked for.
func (t *tenant) databaseCondition(s state) Condition {
	const ct = v1alpha1.TypeDatabaseReady
	switch {
	case t.databaseAnswers().none():
		return waiting(ct, messageNoDatabase)
	case !s.databaseHolds:
		return waiting(ct, "PGDatabase %q does not have the desired spec yet.", t.database.Metadata.Name)
	}
	who := fmt.Sprintf("PGDatabase %q", t.database.Metadata.Name)
	c := first(ct, who, t.databaseAnswers(), postgresqlv1alpha1.TypePreflightPassed, postgresqlv1alpha1.TypeRoleReady,
		postgresqlv1alpha1.TypeDatabaseReady, postgresqlv1alpha1.TypeExtensionsReady, xpv2.TypeSynced)
	switch xpv2.ConditionReason(c.Reason) {
	case postgresqlv1alpha1.ReasonCredentialNotReady, postgresqlv1alpha1.ReasonPending, xpv2.ReasonCreating:
		// Why there is no credential is told by its own condition.
		return waiting(ct, messageNoDatabase)
	}
	return c
}

// loginVerified is true when the credentials in the Secret logged in.
func (t *tenant) loginVerified(s state) Condition {
	const ct = v1alpha1.TypeLoginVerified
	switch {
	case t.externalSecret == nil:
		return waiting(ct, messageNoLogin)
	case !s.databaseHolds:
		return waiting(ct, "The PGDatabase does not have the desired spec yet.")
	}
	who := fmt.Sprintf("PGDatabase %q", t.database.Metadata.Name)
	c := first(ct, who, t.databaseAnswers(), postgresqlv1alpha1.TypeLoginVerified)
	r := xpv2.ConditionReason(c.Reason)
	if r == postgresqlv1alpha1.ReasonPending || r == postgresqlv1alpha1.ReasonSecretNotReady && !s.projected {
		return waiting(ct, messageNoLogin)
	}
	return c
}

// secretProjected is true when External Secrets delivered the Secret.
func (t *tenant) secretProjected(s state) Condition {
	const ct = v1alpha1.TypeSecretProjected
	switch {
	case t.externalSecret == nil || t.projection().status == "":
		return waiting(ct, messageNoSecret)
	case s.projected:
		return available(ct)
	}

	p := t.projection()
	who := fmt.Sprintf("ExternalSecret %q", t.externalSecret.Metadata.Name)
	no := func(reason, message string) Condition {
		return Condition{Type: ct, Status: corev1.ConditionFalse, Reason: reason, Message: message}
	}
	switch {
	case p.status == corev1.ConditionTrue && p.message == messageRetained:
		return no(v1alpha1.ReasonSyncFailed, fmt.Sprintf("%s found the record %q empty. %s", t.store(), t.names.path, t.storeAdvice()))
	case p.status != corev1.ConditionFalse:
		return waiting(ct, "External Secrets has not delivered %s with its current spec yet.", who)
	case p.message == messageNotOwner || p.message == messageOwned:
		return no(v1alpha1.ReasonConflict, fmt.Sprintf(
			"Secret %q belongs to something else: set another secretName in a new Tenant, or remove the other owner.", t.names.secret))
	case p.message == messageImmutable:
		return no(v1alpha1.ReasonSecretImmutable, fmt.Sprintf("Secret %q is immutable: delete it, and External Secrets makes it anew.", t.names.secret))
	case p.message == messageReadFailed:
		return no(v1alpha1.ReasonSyncFailed, fmt.Sprintf("%s cannot read the record %q now. %s", t.store(), t.names.path, t.storeAdvice()))
	}
	return no(v1alpha1.ReasonSyncFailed, fmt.Sprintf("%s: %s. It tries again; its events say why.", who, p.message))
}

// store that External Secrets reads from.
func (t *tenant) store() string {
	return fmt.Sprintf("%s %q", t.spec.SecretStoreRef.Kind, t.spec.SecretStoreRef.Name)
}

// storeAdvice is what to look at when External Secrets does not get the record.
func (t *tenant) storeAdvice() string {
	return fmt.Sprintf("It tries again. If that does not help, the events of ExternalSecret %q say why: the store must be Ready and read from the server, "+
		"namespace and mount of %s %q, with a role that may read this path.", t.externalSecret.Metadata.Name, clusterProviderConfig, t.spec.BaoRef.Name)
}

// first takes over the first of a managed resource's conditions that is not True, with its reason and message.
func first(conditionType, who string, a answers, types ...xpv2.ConditionType) Condition {
	for _, ct := range types {
		c, ok := a.get(ct)
		if !ok || ct == xpv2.TypeSynced && c.Status != corev1.ConditionTrue {
			// An error, such as that of a server which does not answer, is told by Ready alone.
			if r, said := a.get(xpv2.TypeReady); said && r.Status != corev1.ConditionTrue && r.Reason != "" && r.Reason != xpv2.ReasonCreating {
				c, ok = r, true
			}
		}
		switch {
		case !ok:
			return waiting(conditionType, "%s has not said whether it is %s with its current spec yet.", who, ct)
		case c.Status == corev1.ConditionTrue:
			continue
		case c.Type == xpv2.TypeSynced:
			// The message of Synced is that of the last error, which may differ each time.
			return Condition{
				Type: conditionType, Status: corev1.ConditionFalse, Reason: string(xpv2.ReasonReconcileError),
				Message: fmt.Sprintf("%s is not Synced; its own condition says why.", who),
			}
		case c.Reason == "":
			return waiting(conditionType, "%s is not %s yet.", who, ct)
		}
		status := corev1.ConditionFalse
		if c.Status == corev1.ConditionUnknown {
			status = corev1.ConditionUnknown
		}
		return Condition{Type: conditionType, Status: status, Reason: string(c.Reason), Message: c.Message}
	}
	return available(conditionType)
}
