package postgresql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecide(t *testing.T) {
	us := Owner{ControlPlane: "cp", UID: "us", Namespace: "ns", Name: "db"}
	them := Owner{ControlPlane: "cp", UID: "them", Namespace: "other", Name: "db"}
	before := Owner{ControlPlane: "old", UID: "before", Namespace: "ns", Name: "db"}
	record := func(o Owner, oid uint32, s State) *Record {
		return &Record{Owner: o, OID: oid, State: s, ServerIdentity: "srv"}
	}
	consent := func(from string) Consents {
		return Consents{Adoptions: []Adoption{{Database: "d", From: from, To: "ns/db"}}}
	}
	cases := map[string]struct {
		reason string
		q      Question
		want   Decision
	}{
		"Free": {
			reason: "Neither object nor record.",
			want:   Decision{Verdict: Free, Condition: Absent},
		},
		"FreeDespiteConsent": {
			reason: "A consent to adopt what is not there changes nothing.",
			q:      Question{Consents: consent(Unregistered)},
			want:   Decision{Verdict: Free, Condition: Absent, Adopt: true},
		},
		"Reserved": {
			reason: "Ours, and still to be made.",
			q:      Question{Record: record(us, 0, StateReserved)},
			want:   Decision{Verdict: Ours, Condition: Absent, Recorded: us},
		},
		"Ours": {
			reason: "Ours, and there.",
			q:      Question{Record: record(us, 7, StateCreated), OID: 7},
			want:   Decision{Verdict: Ours, Condition: Present, Recorded: us},
		},
		"OursRetained": {
			reason: "What we asked to keep is still ours as long as we are the same object.",
			q:      Question{Record: record(us, 7, StateRetained), OID: 7},
			want:   Decision{Verdict: Ours, Condition: Present, Recorded: us},
		},
		"CrashAfterCreate": {
			reason: "An object without a recorded OID is ours when that is proven otherwise.",
			q:      Question{Record: record(us, 0, StateReserved), OID: 7, Proven: true},
			want:   Decision{Verdict: Ours, Condition: Present, Recorded: us},
		},
		"MadeByOthersAfterReserve": {
			reason: "A reservation is no claim on what somebody else made.",
			q:      Question{Record: record(us, 0, StateReserved), OID: 7},
			want:   Decision{Verdict: NotRegistered, Condition: Present, Recorded: us},
		},
		"MadeByOthersAfterReserveApproved": {
			reason: "An admin may hand it over.",
			q:      Question{Record: record(us, 0, StateReserved), OID: 7, Consents: consent(Unregistered)},
			want:   Decision{Verdict: Adoptable, Condition: Present, Recorded: us, Adopt: true},
		},
		"Lost": {
			reason: "A recorded object that is gone is not silently made anew.",
			q:      Question{Record: record(us, 7, StateCreated)},
			want:   Decision{Verdict: Ours, Condition: Lost, Recorded: us},
		},
		"LostRecreate": {
			reason: "Unless an admin says so.",
			q: Question{Record: record(us, 7, StateCreated), Consents: Consents{Adoptions: []Adoption{
				{Database: "d", From: "us", To: "ns/db", Recreate: true}}}},
			want: Decision{Verdict: Ours, Condition: Lost, Recorded: us, Adopt: true, Recreate: true},
		},
		"OtherOID": {
			reason: "Somebody dropped it and made another.",
			q:      Question{Record: record(us, 7, StateCreated), OID: 8},
			want:   Decision{Verdict: Ours, Condition: Replaced, Recorded: us},
		},
		"OtherOIDApproved": {
			reason: "An admin who restored it can say that it is the one.",
			q:      Question{Record: record(us, 7, StateCreated), OID: 8, Consents: consent("us")},
			want:   Decision{Verdict: Ours, Condition: Replaced, Recorded: us, Adopt: true},
		},
		"OtherOIDProtected": {
			reason: "But not that a privileged role is.",
			q:      Question{Record: record(us, 7, StateCreated), OID: 8, Consents: consent("us"), Protected: true},
			want:   Decision{Verdict: Ours, Condition: Replaced, Recorded: us},
		},
		"OtherServer": {
			reason: "The same OID on another server is a coincidence.",
			q:      Question{Record: record(us, 7, StateCreated), OID: 7, ServerIdentity: "srv2"},
			want:   Decision{Verdict: Ours, Condition: Replaced, Recorded: us},
		},
		"Foreign": {
			reason: "It is recorded for somebody else.",
			q:      Question{Record: record(them, 7, StateCreated), OID: 7},
			want:   Decision{Verdict: Foreign, Condition: Present, Recorded: them},
		},
		"ForeignReservation": {
			reason: "So is a name that somebody else reserved.",
			q:      Question{Record: record(them, 0, StateReserved)},
			want:   Decision{Verdict: Foreign, Condition: Absent, Recorded: them},
		},
		"ForeignUnregisteredConsent": {
			reason: "Consent to adopt an unregistered object does not reach a registered one.",
			q:      Question{Record: record(them, 7, StateCreated), OID: 7, Consents: consent(Unregistered)},
			want:   Decision{Verdict: Foreign, Condition: Present, Recorded: them},
		},
		"ForeignApproved": {
			reason: "An admin may move it from its recorded owner.",
			q:      Question{Record: record(them, 7, StateCreated), OID: 7, Consents: consent("them")},
			want:   Decision{Verdict: Adoptable, Condition: Present, Recorded: them, Adopt: true},
		},
		"Retained": {
			reason: "What was kept is not handed to whoever asks next, not even under the same name.",
			q:      Question{Record: record(Owner{ControlPlane: "cp", UID: "earlier", Namespace: "ns", Name: "db"}, 7, StateRetained), OID: 7},
			want:   Decision{Verdict: RetainedByOther, Condition: Present, Recorded: Owner{ControlPlane: "cp", UID: "earlier", Namespace: "ns", Name: "db"}},
		},
		"RetainedApproved": {
			reason: "An admin may hand it over.",
			q:      Question{Record: record(them, 7, StateRetained), OID: 7, Consents: consent("them")},
			want:   Decision{Verdict: Adoptable, Condition: Present, Recorded: them, Adopt: true},
		},
		"ApprovedForSomebodyElse": {
			reason: "The consent names who may have it.",
			q: Question{Record: record(them, 7, StateRetained), OID: 7, Consents: Consents{Adoptions: []Adoption{
				{Database: "d", From: "them", To: "ns/another"}, {Database: "e", From: "them", To: "ns/db"}}}},
			want: Decision{Verdict: RetainedByOther, Condition: Present, Recorded: them},
		},
		"OldControlPlane": {
			reason: "After a move, the same namespace and name of an old control plane is us.",
			q:      Question{Record: record(before, 7, StateCreated), OID: 7, Consents: Consents{ControlPlanes: []string{"old"}}},
			want:   Decision{Verdict: Adoptable, Condition: Present, Recorded: before, Adopt: true},
		},
		"OldControlPlaneOtherName": {
			reason: "Another name there is not.",
			q: Question{Record: record(Owner{ControlPlane: "old", UID: "x", Namespace: "ns", Name: "other"}, 7, StateCreated), OID: 7,
				Consents: Consents{ControlPlanes: []string{"old"}}},
			want: Decision{Verdict: Foreign, Condition: Present, Recorded: Owner{ControlPlane: "old", UID: "x", Namespace: "ns", Name: "other"}},
		},
		"SameUIDOtherControlPlane": {
			reason: "A uid means something within its control plane alone.",
			q:      Question{Record: record(Owner{ControlPlane: "old", UID: "us", Namespace: "ns", Name: "db"}, 7, StateCreated), OID: 7},
			want:   Decision{Verdict: Foreign, Condition: Present, Recorded: Owner{ControlPlane: "old", UID: "us", Namespace: "ns", Name: "db"}},
		},
		"Unregistered": {
			reason: "It exists and we did not make it.",
			q:      Question{OID: 7},
			want:   Decision{Verdict: NotRegistered, Condition: Present},
		},
		"UnregisteredApproved": {
			reason: "An admin may hand it over.",
			q:      Question{OID: 7, Consents: consent(Unregistered)},
			want:   Decision{Verdict: Adoptable, Condition: Present, Adopt: true},
		},
		"UnregisteredProtected": {
			reason: "Privileged roles and system databases are never handed over.",
			q:      Question{OID: 7, Consents: consent(Unregistered), Protected: true},
			want:   Decision{Verdict: NotRegistered, Condition: Present},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q := tc.q
			q.Kind, q.Owner, q.Database = KindDatabase, us, "d"
			if q.ServerIdentity == "" {
				q.ServerIdentity = "srv"
			}
			if diff := cmp.Diff(tc.want, Decide(q)); diff != "" {
				t.Errorf("%s\nDecide(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
