// Package tenant decides what a Tenant is composed of, step by step, and what its status says.
//
// Everything is computed from the composite and from what is observed of its composed resources, each time anew. An answer counts only
// when it belongs to what was asked: the observed object must hold the desired spec, and its conditions must speak of its current
// generation. What once was composed stays composed, whatever it says, because leaving it out would delete it.
package tenant

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
	"github.com/ryuvia/provider-terdut/functions/internal/delivery"
)

// Compose a Tenant. Observed are the composed resources by composition resource name, and required holds the claim of a composite of cluster
// scope. It also says whether the Tenant shows all of it. An error names the field that cannot be understood; nothing may change then.
func Compose(xr *structpb.Struct, observed map[string]*structpb.Struct, required map[string][]*structpb.Struct) (*composite.Composition, bool, error) {
	t, err := newTenant(xr, observed, required)
	if err != nil {
		return nil, false, err
	}
	resources := map[string]composite.Resource{}
	s := state{}

	// The PGDatabase comes first: it looks whether the names are free, and writes nothing before its credential exists.
	manifest, err := t.renderDatabase()
	if err != nil {
		return nil, false, err
	}
	if s.databaseHolds, err = composite.Carries(t.database, manifest, sameDatabase); err != nil {
		return nil, false, err
	}
	s.databaseReady = s.databaseHolds && t.provenWithCurrent() && t.databaseAnswers().AreTrue(xpv2.TypeReady, xpv2.TypeSynced, postgresqlv1alpha1.TypeLoginVerified)
	resources[ResourceDatabase] = composite.Resource{Manifest: manifest, Ready: s.databaseReady}

	if t.credential != nil || t.preflightPassed(s) {
		manifest, err := t.renderCredential()
		if err != nil {
			return nil, false, err
		}
		if s.credentialHolds, err = composite.Carries(t.credential, manifest, sameCredential); err != nil {
			return nil, false, err
		}
		s.credentialReady = s.credentialHolds && t.credentialAnswers().AreTrue(xpv2.TypeReady, xpv2.TypeSynced)
		resources[ResourceCredential] = composite.Resource{Manifest: manifest, Ready: s.credentialReady}
	}

	if err := t.composeAccess(&s, resources); err != nil {
		return nil, false, err
	}

	// The first delivery is through the store that is asked for; a Secret that is there already is delivered on.
	if t.externalSecret != nil || t.databaseProvisioned(s) && s.accessReady {
		manifest, err := t.renderExternalSecret()
		if err != nil {
			return nil, false, err
		}
		if s.projectionHolds, err = composite.Carries(t.externalSecret, manifest, delivery.Same); err != nil {
			return nil, false, err
		}
		s.projected = s.projectionHolds && t.delivery().Projection().Ready
		resources[ResourceExternalSecret] = composite.Resource{Manifest: manifest, Ready: s.projected}
	}

	phase := t.phase(s)
	ready := phase == v1alpha1.PhaseReady
	out := &composite.Composition{
		Resources:  resources,
		Status:     t.status(phase, composite.AnsweredGeneration(xr, t.subject, ready)),
		Conditions: t.conditions(s),
		Ready:      ready,
	}
	return out, out.Settle(xr, t.subject), nil
}

// A state says of each composed resource whether it holds the desired spec, and whether it is ready with it.
type state struct {
	databaseHolds, databaseReady     bool
	credentialHolds, credentialReady bool
	projectionHolds, projected       bool
	// Of what the record is read with; accessReady also where it is a shared store, which is not looked at.
	policyReady, roleReady, storeReady, accessReady bool
}

// preflightPassed tells whether the credential may be made: nothing stands in the way, and it is known what to write.
func (t *tenant) preflightPassed(s state) bool {
	_, known := t.consumer()
	return known && s.databaseHolds && t.databaseAnswers().AreTrue(postgresqlv1alpha1.TypePreflightPassed)
}

// provenWithCurrent tells whether the password that logged in is the one that the record has now: a rotation changes neither object's
// generation. The version of a credential ends with that of its record.
func (t *tenant) provenWithCurrent() bool {
	if t.credential == nil {
		return true
	}
	record, proven := t.recordFacts(), t.databaseFacts().CredentialVersion
	if strings.Count(proven, "/") < partsOfCredentialVersion-1 {
		// By a provider that names the number alone, until it is a newer one.
		return strings.HasSuffix("/"+proven, fmt.Sprintf("/%d", record.Version))
	}
	return strings.HasSuffix(proven, "/"+record.RecordVersion())
}

// partsOfCredentialVersion : openbao, the uid of the BaoSecret, and the two of RecordVersion.
const partsOfCredentialVersion = 4

// databaseProvisioned tells whether the credential may be delivered. The PGDatabase's Ready is no use here, because it waits for the
// delivered Secret.
func (t *tenant) databaseProvisioned(s state) bool {
	return s.credentialReady && s.databaseHolds && t.databaseAnswers().AreTrue(
		postgresqlv1alpha1.TypeRoleReady, postgresqlv1alpha1.TypeDatabaseReady, postgresqlv1alpha1.TypeExtensionsReady)
}
