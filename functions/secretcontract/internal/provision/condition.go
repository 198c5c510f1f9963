package provision

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// Messages of steps that were not begun. Each stays the same until its step is done: every change of a message is a write of the
// composite, and Crossplane stops listening to a composite that is written too often.
const (
	messageNoLook   = "The Secret is made once the SecretCheck has found that there is none of its name."
	messageNoRecord = "The Secret is delivered once its record is stored."
)

// condition is true when the Secret holds the current version of the record, and the record what the contract asks for.
func (p *Provision) condition(look Look, s state) composite.Condition {
	const ct = v1alpha1.TypeProvisioned
	if look.Taken && p.delivery.Observed == nil {
		return composite.Condition{
			Type: ct, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonConflict,
			Message: fmt.Sprintf("Secret %q exists and was not delivered for this contract: remove it, or let a new contract name another.", p.delivery.Secret),
		}
	}
	switch {
	case p.credential == nil && p.delivery.Observed == nil && !look.Free && !look.Ours:
		return composite.Waiting(ct, messageNoLook)
	case p.answers().None():
		return composite.Waiting(ct, messageNoRecord)
	case !s.stores:
		return composite.Waiting(ct, "BaoSecret %q does not have the desired spec yet.", p.credential.Metadata.Name)
	}
	who := fmt.Sprintf("BaoSecret %q", p.credential.Metadata.Name)
	c := composite.First(ct, who, p.answers(), openbaov1alpha1.TypeRecordReady, xpv2.TypeReady, xpv2.TypeSynced)
	switch {
	case c.Reason == string(xpv2.ReasonCreating):
		return composite.Waiting(ct, messageNoRecord)
	case c.Status != corev1.ConditionTrue:
		return c
	case s.delivered:
		return composite.Available(ct)
	case p.delivery.Observed == nil:
		return composite.Waiting(ct, messageNoRecord)
	}
	return p.delivery.Undelivered(ct)
}
