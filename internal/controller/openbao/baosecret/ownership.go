package baosecret

import (
	"fmt"
	"maps"
	"slices"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// Keys of a record's custom metadata that say whose it is. Other keys are other people's and are kept.
const (
	tagManagedBy    = "terdut-managed-by"
	tagControlPlane = "terdut-control-plane"
	tagOwnerUID     = "terdut-owner-uid"
	tagOwner        = "terdut-owner"
	// tagHolder is the uid of the BaoSecret that acts for the owner. Nobody can make an object with a uid of their choice, so only the
	// holder may delete the record, also when the owner is gone already.
	tagHolder   = "terdut-holder"
	tagRetained = "terdut-retained"
	// tagRotating and tagRotated tell of a rotation that has begun, and of the last that was made.
	tagRotating = "terdut-rotating"
	tagRotated  = "terdut-rotated"
	// tagGenerated lists the keys whose values were generated, so that a key that somebody removed is told from one that is new.
	tagGenerated = "terdut-generated"

	managedBy = "provider-terdut"
)

// A claimant is who asks for a record.
type claimant struct {
	controlPlane string
	ownerUID     string
	// owner as namespace/name.
	owner  string
	holder string
}

func (c claimant) tags() map[string]string {
	return map[string]string{
		tagManagedBy: managedBy, tagControlPlane: c.controlPlane, tagOwnerUID: c.ownerUID, tagOwner: c.owner, tagHolder: c.holder,
	}
}

// A verdict on whose a record is.
type verdict int

const (
	// free: there is no record.
	free verdict = iota
	// ours: the record belongs to the claimant.
	ours
	// adoptable: the record is another's, and an admin allows the claimant to take it over.
	adoptable
	// foreign: the record is not the claimant's and stays untouched.
	foreign
)

// consents are what an admin allows in a provider config.
type consents struct {
	adoptions     []v1alpha1.Adoption
	controlPlanes []string
}

func consentsOf(s v1alpha1.ServerSpec) consents {
	c := consents{adoptions: s.Adoptions}
	for _, p := range s.ControlPlanes {
		c.controlPlanes = append(c.controlPlanes, p.From)
	}
	return c
}

// recreate is true when an admin allows the claimant to make lost data anew. The metadata is nil when there is no record any more.
func (c consents) recreate(m *openbao.Metadata, name string, who claimant) bool {
	from := recordedUID(m)
	return slices.ContainsFunc(c.adoptions, func(a v1alpha1.Adoption) bool {
		return a.Path == name && a.From == from && a.To == who.owner && a.Recreate
	})
}

// recordedUID returns the uid of the owner that is recorded, in the terms of an adoption.
func recordedUID(m *openbao.Metadata) string {
	if m == nil || m.CustomMetadata[tagManagedBy] != managedBy {
		return commonv1alpha1.AdoptionFromUnregistered
	}
	return m.CustomMetadata[tagOwnerUID]
}

// judge decides whose a record is. The metadata is nil when there is no record.
func judge(m *openbao.Metadata, name string, who claimant, c consents) verdict {
	if m == nil {
		return free
	}
	t := m.CustomMetadata
	from := recordedUID(m)
	switch {
	case from == who.ownerUID && t[tagControlPlane] == who.controlPlane:
		return ours
	case from != commonv1alpha1.AdoptionFromUnregistered && t[tagOwner] == who.owner && slices.Contains(c.controlPlanes, t[tagControlPlane]):
		return adoptable
	case slices.ContainsFunc(c.adoptions, func(a v1alpha1.Adoption) bool {
		return a.Path == name && a.From == from && a.To == who.owner
	}):
		return adoptable
	}
	return foreign
}

// holds is true when this very object acts for the record's owner.
func holds(mg *v1alpha1.BaoSecret, m *openbao.Metadata) bool {
	return m.CustomMetadata[tagManagedBy] == managedBy && m.CustomMetadata[tagHolder] == string(mg.GetUID())
}

// recordedOwner describes whom a record belongs to.
func recordedOwner(m *openbao.Metadata) string {
	t := m.CustomMetadata
	if t[tagManagedBy] != managedBy {
		return ""
	}
	return fmt.Sprintf("%s (%s)", t[tagOwner], t[tagOwnerUID])
}

// handedOver is true when the record is somebody else's still, and not the claimant's under an earlier identity.
func handedOver(m *openbao.Metadata, who claimant) bool {
	from := recordedUID(m)
	return from == commonv1alpha1.AdoptionFromUnregistered || from != who.ownerUID && m.CustomMetadata[tagOwner] != who.owner
}

// conflict says why a record is not ours and what to do. A Tenant has no path of its own to change, but a name.
func conflict(m *openbao.Metadata, name string) string {
	who := "was not made by this provider"
	if o := recordedOwner(m); o != "" {
		who = "belongs to " + o
	}
	return fmt.Sprintf("record %q %s: have an admin hand it over in the provider config's adoptions (from: %s), or choose another name or path", name, who, recordedUID(m))
}

// merge returns the custom metadata with changes made. A value of "" removes a key.
func merge(m *openbao.Metadata, changes map[string]string) map[string]string {
	out := map[string]string{}
	if m != nil {
		maps.Copy(out, m.CustomMetadata)
	}
	maps.Copy(out, changes)
	maps.DeleteFunc(out, func(_, v string) bool { return v == "" })
	return out
}
