// Package v1 gives the types of github.com/crossplane/crossplane/apis/v2/core/v2 the names that upjet knows them by.
package v1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// Types that upjet uses.
type (
	Condition         = xpv2.Condition
	ConditionReason   = xpv2.ConditionReason
	ConditionType     = xpv2.ConditionType
	ManagementAction  = xpv2.ManagementAction
	SecretKeySelector = xpv2.SecretKeySelector
	SecretReference   = xpv2.SecretReference
)

// Constants that upjet uses.
const (
	ManagementActionAll            = xpv2.ManagementActionAll
	ManagementActionCreate         = xpv2.ManagementActionCreate
	ManagementActionLateInitialize = xpv2.ManagementActionLateInitialize
	ManagementActionObserve        = xpv2.ManagementActionObserve
	ManagementActionUpdate         = xpv2.ManagementActionUpdate
	TypeReady                      = xpv2.TypeReady
)

// Available is the condition of what is ready to use.
func Available() Condition { return xpv2.Available() }

// ReconcileError is the condition of a pass that failed.
func ReconcileError(err error) Condition { return xpv2.ReconcileError(err) }

// ReconcileSuccess is the condition of a pass that did not fail.
func ReconcileSuccess() Condition { return xpv2.ReconcileSuccess() }
