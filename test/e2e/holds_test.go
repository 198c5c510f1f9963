package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// held waits until a Tenant has come to a phase and stops there for a reason.
func held(t *testing.T, ns, name string, ph terdutv1alpha1.TenantPhase, condition1 string, reason any) {
	t.Helper()
	tenantIs(t, ns, name, func(u *unstructured.Unstructured) error {
		if c := condition(u, condition1); phase(u) != string(ph) || c["reason"] != reason || c["status"] == "True" {
			return fmt.Errorf("it is not %s with %s for %v", ph, condition1, reason)
		}
		if condition(u, "Ready")["status"] == "True" {
			return errors.New("it is Ready")
		}
		return nil
	})
}

// older returns a Tenant that was Ready before something happened.
func older(t *testing.T) (ns string, u *unstructured.Unstructured) {
	t.Helper()
	ns = namespace(t)
	watchTenants(t, ns, nil)
	create(t, newTenant(ns, "before", map[string]any{"deletionPolicy": "Delete"}))
	return ns, atRest(t, ns, "before")
}

// TestHolds holds one part of the plane each. A Tenant stops in the phase, and with the reason, that name the part, and goes on by itself
// when the part is let go of. One that was Ready before is the same afterwards.
func TestHolds(t *testing.T) {
	cases := map[string]struct {
		reason string
		// hold a part, and return what lets go of it.
		hold func(t *testing.T) func()
		// phase in which a new Tenant stops, with the reason of a condition.
		phase     terdutv1alpha1.TenantPhase
		condition string
		because   any
		// older is the same condition of a Tenant that was Ready, which is left alone when empty.
		older string
	}{
		"PostgreSQLDown": {
			reason: "Nothing is known of the server, so nothing is planned.",
			hold: func(t *testing.T) func() {
				p.Plane.Postgres.Stop()
				return func() {
					if err := p.Plane.Postgres.Restart(context.Background()); err != nil {
						t.Fatalf("cannot start PostgreSQL: %v", err)
					}
				}
			},
			phase: terdutv1alpha1.PhasePlanned, condition: terdutv1alpha1.TypeDatabaseReady, because: string(postgresqlv1alpha1.ReasonInstanceUnreachable),
			older: terdutv1alpha1.TypeDatabaseReady,
		},
		"KVSealed": {
			reason: "Nothing is in the way, and the credential cannot be stored.",
			hold:   sealed,
			phase:  terdutv1alpha1.PhasePlanned, condition: terdutv1alpha1.TypeCredentialReady, because: string(openbaov1alpha1.ReasonSealed),
			older: terdutv1alpha1.TypeCredentialReady,
		},
		"ExternalSecretsStopped": {
			reason: "Database and credential are there, and nobody delivers them.",
			hold:   func(t *testing.T) func() { return freeze(t, externalSecretsWords...) },
			phase:  terdutv1alpha1.PhaseExternalSecretCreated, condition: terdutv1alpha1.TypeSecretProjected, because: terdutv1alpha1.ReasonWaiting,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// Crossplane bounds how much may happen to a composite in a short time, so each hold has a Tenant of its own.
			ns, u := older(t)
			before, secret := outsideOf(t, superuser(t, "postgres"), u), secretFacts(t, ns, "before-db")
			free := tc.hold(t)
			letGo := sync.OnceFunc(free)
			t.Cleanup(letGo)
			const tenant = "held"
			create(t, newTenant(ns, tenant, map[string]any{"deletionPolicy": "Delete"}))
			held(t, ns, tenant, tc.phase, tc.condition, tc.because)
			if tc.older != "" {
				tenantIs(t, ns, "before", func(u *unstructured.Unstructured) error {
					if c := condition(u, tc.older); c["reason"] != tc.because || condition(u, "Ready")["status"] == "True" {
						return errors.New("it is still Ready")
					}
					return nil
				})
			}
			letGo()
			tenantReady(t, ns, tenant)
			recorded(t, tenantReady(t, ns, "before"))
			if after := outsideOf(t, superuser(t, "postgres"), u); after.DatabaseOID != before.DatabaseOID || after.RoleRow != before.RoleRow || after.KVVersion != before.KVVersion {
				t.Errorf("%s: a Tenant that was Ready before changed: %+v, was %+v", tc.reason, after, before)
			}
			if secretFacts(t, ns, "before-db")["secret/uid"] != secret["secret/uid"] {
				t.Error("a Secret that was delivered before was made anew")
			}
		})
	}

	t.Run("SecretEmptied", func(t *testing.T) {
		ns, _ := older(t)
		secret := secretFacts(t, ns, "before-db")
		thaw := freeze(t, externalSecretsWords...)
		s := &corev1.Secret{}
		change(t, types.NamespacedName{Namespace: ns, Name: "before-db"}, s, func() { s.Data = nil })
		tenantIs(t, ns, "before", func(u *unstructured.Unstructured) error {
			if c := condition(u, terdutv1alpha1.TypeLoginVerified); c["reason"] != string(postgresqlv1alpha1.ReasonSecretNotReady) || condition(u, "Ready")["status"] == "True" {
				return errors.New("it does not say that the Secret is empty")
			}
			return nil
		})
		if d := databaseOf(t, ns, "before"); d.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionTrue {
			t.Error("a Secret without values is reported as an error")
		}
		thaw()
		tenantReady(t, ns, "before")
		mustLogin(t, secretData(t, ns, "before-db"))
		if diff := secret.changes(secretFacts(t, ns, "before-db")); len(diff) != 1 || diff[0] != "secret/resourceVersion" {
			t.Errorf("the Secret that was filled again differs in %q", diff)
		}
	})
}

// TestHoldsExtension holds an extension, which disturbs nobody else.
func TestHoldsExtension(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	watchTenants(t, ns, nil)
	create(t, newTenant(ns, "held-ext", map[string]any{"deletionPolicy": "Delete", "extensions": []any{map[string]any{"name": "hstore", "version": "9.9"}}}))
	held(t, ns, "held-ext", terdutv1alpha1.PhaseFailed, terdutv1alpha1.TypeDatabaseReady, string(postgresqlv1alpha1.ReasonExtensionUnavailable))
	if kvMetadata(t, "tenants/"+ns+"/held-ext") != nil {
		t.Error("a password was stored although the extension cannot be had")
	}
	u := newTenant(ns, "held-ext", nil)
	change(t, client.ObjectKeyFromObject(u), u, func() {
		_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{"name": "hstore"}}, "spec", "extensions")
	})
	tenantReady(t, ns, "held-ext")
}
