package postgresql

import "slices"

// An Owner is who an object is recorded for.
type Owner struct {
	// ControlPlane is the identity of the control plane: the uid of its namespace kube-system.
	ControlPlane string
	// UID of the owning object.
	UID string
	// Namespace and Name of the owning object.
	Namespace, Name string
	// Holder is the uid of the object that acts for the owner; the owner itself when there is no other. It does not decide whose a
	// record is. It tells, when the owner is gone, which object may still act on the record.
	Holder string
}

// A Kind of registered object.
type Kind string

// Kinds of registered objects.
const (
	KindRole     Kind = "role"
	KindDatabase Kind = "database"
)

// Unregistered as Adoption.From means an object that the registry does not know.
const Unregistered = "Unregistered"

// An Adoption is an admin's consent that a database, and the role that goes with it, changes hands.
type Adoption struct {
	// Database that changes hands.
	Database string
	// From is the uid of the recorded owner, or Unregistered.
	From string
	// To is the namespace/name of the new owner.
	To string
	// Recreate lets a database that vanished be made anew, empty.
	Recreate bool
}

// Consents are an admin's acts that ownership decisions take into account.
type Consents struct {
	Adoptions []Adoption
	// ControlPlanes whose records may be taken over by owners of the same namespace and name.
	ControlPlanes []string
}

// A Verdict says whose an object is.
type Verdict string

// Verdicts. Only Free, Ours and Adoptable are ever followed by a write.
const (
	// Free means that there is neither an object nor a record.
	Free Verdict = "Free"
	// Ours means that the record names us.
	Ours Verdict = "Ours"
	// Foreign means that the record names somebody else.
	Foreign Verdict = "Foreign"
	// RetainedByOther means that somebody else is recorded who let go of the object and asked to keep it.
	RetainedByOther Verdict = "Retained"
	// NotRegistered means that the object exists, and nothing proves that we made it.
	NotRegistered Verdict = "Unregistered"
	// Adoptable means that it is not ours, and an admin consents that we take it over.
	Adoptable Verdict = "Adoptable"
)

// A Condition compares an object with its record.
type Condition string

// Conditions.
const (
	// Absent: no object, and none is recorded to have existed.
	Absent Condition = "Absent"
	// Present: the object is there, and the one that is recorded, if any.
	Present Condition = "Present"
	// Lost: the recorded object is gone.
	Lost Condition = "Lost"
	// Replaced: an object of that name is there, but it is not the recorded one, or the server is another.
	Replaced Condition = "Replaced"
)

// A Decision about one object.
type Decision struct {
	Verdict   Verdict
	Condition Condition
	// Recorded owner; zero without a record.
	Recorded Owner
	// Adopt says that an admin consents to us having the object as it is now; also set for an object of ours that was replaced.
	Adopt bool
	// Recreate says that an admin consents to making a lost object anew.
	Recreate bool
}

// A Question is what a Decision is made from.
type Question struct {
	Kind  Kind
	Owner Owner
	// Database that the object is, or that the role goes with: adoptions name databases.
	Database string
	Consents Consents

	// Record of the object, nil without one.
	Record *Record
	// OID of the object, 0 when it does not exist.
	OID uint32
	// ServerIdentity is the identity of the server now, empty when it cannot be read.
	ServerIdentity string
	// Proven says that an object without a recorded OID was made by us, see the package documentation.
	Proven bool
	// Protected objects (system databases, privileged roles, roles that an adopted database does not belong to) are not adopted
	// from outside the registry, whatever the consents say.
	Protected bool
}

// Decide whose an object is.
func Decide(q Question) Decision {
	d := Decision{Condition: q.condition()}
	if q.Record != nil {
		d.Recorded = q.Record.Owner
	}
	d.Adopt, d.Recreate = q.consent(d.Condition)

	switch {
	case q.Record == nil && q.OID == 0:
		d.Verdict = Free
		return d
	case q.ours() && !q.stray():
		d.Verdict = Ours
		return d
	case q.Record == nil, q.ours():
		d.Verdict = NotRegistered
	case q.Record.State == StateRetained:
		d.Verdict = RetainedByOther
	default:
		d.Verdict = Foreign
	}
	if d.Adopt {
		d.Verdict = Adoptable
	}
	return d
}

func (q Question) ours() bool {
	return q.Record != nil && q.Record.Owner.ControlPlane == q.Owner.ControlPlane && q.Record.Owner.UID == q.Owner.UID
}

// stray says that there is an object which no record speaks of.
func (q Question) stray() bool {
	return q.OID != 0 && !q.Proven && (q.Record == nil || q.Record.OID == 0)
}

// consent of an admin to take the object over as it is, and to make it anew.
func (q Question) consent(c Condition) (adopt, recreate bool) {
	from := Unregistered
	if q.Record != nil && (!q.ours() || !q.stray()) {
		from = q.Record.Owner.UID
	}
	for _, a := range q.Consents.Adoptions {
		if a.Database == q.Database && a.From == from && a.To == q.Owner.Namespace+"/"+q.Owner.Name {
			adopt, recreate = true, recreate || a.Recreate
		}
	}
	if q.moved() && c != Replaced {
		adopt = true
	}
	if q.Protected && (q.stray() || c == Replaced) {
		adopt = false
	}
	return adopt, recreate
}

func (q Question) condition() Condition {
	recorded := q.Record != nil && q.Record.OID != 0
	elsewhere := q.Record != nil && q.Record.ServerIdentity != "" && q.ServerIdentity != "" && q.Record.ServerIdentity != q.ServerIdentity
	switch {
	case q.OID == 0 && recorded:
		return Lost
	case q.OID == 0:
		return Absent
	case recorded && (q.Record.OID != q.OID || elsewhere):
		return Replaced
	default:
		return Present
	}
}

// moved says that the record is that of an owner of the same name in a control plane that may be taken over.
func (q Question) moved() bool {
	return q.Record != nil && q.Record.Owner.Namespace == q.Owner.Namespace && q.Record.Owner.Name == q.Owner.Name &&
		slices.Contains(q.Consents.ControlPlanes, q.Record.Owner.ControlPlane)
}
