package pgdatabase

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

func TestMade(t *testing.T) {
	cases := map[string]struct {
		reason string
		mod    func(*postgresql.Facts)
		want   bool
	}{
		"All":            {"Both are there and recorded.", func(*postgresql.Facts) {}, true},
		"Nothing":        {"Nothing is there.", nothing, false},
		"NoRole":         {"The role is missing.", func(f *postgresql.Facts) { f.Role = nil }, false},
		"NoDatabase":     {"The database is missing.", func(f *postgresql.Facts) { f.Database = nil }, false},
		"NoRoleRecord":   {"The role is not recorded.", func(f *postgresql.Facts) { f.RoleRecord = nil }, false},
		"NoRecord":       {"The database is not recorded.", func(f *postgresql.Facts) { f.DatabaseRecord = nil }, false},
		"NotYetRecorded": {"The create was interrupted before it was recorded.", func(f *postgresql.Facts) { f.DatabaseRecord.OID = 0 }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := made(facts(tc.mod)); got != tc.want {
				t.Errorf("%s want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestDrifted(t *testing.T) {
	limit := int32(5)
	claim := postgresql.Claim{Owner: me, DeletionPolicy: "Retain"}
	good := func(f *postgresql.Facts) { f.DatabaseRecord.DeletionPolicy = "Retain" }
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.PGDatabase
		mod    func(*postgresql.Facts)
		cred   *credential
		want   []string
	}{
		"Nothing":       {"All is as asked for.", database(), nil, &credential{}, nil},
		"Credential":    {"Another version of the password has to be proven.", database(), nil, &credential{version: "2"}, []string{"credential"}},
		"SameOne":       {"A version that was proven is not proven again.", database(), recorded("2"), &credential{version: "2"}, nil},
		"NoCredential":  {"A password that is away is no drift.", database(), recorded("2"), &credential{}, nil},
		"RoleOwner":     {"The role's record names an earlier holder.", database(), func(f *postgresql.Facts) { f.RoleRecord.Owner.Holder = "earlier" }, &credential{}, []string{"registry"}},
		"DatabaseOwner": {"The database's record names an earlier owner.", database(), func(f *postgresql.Facts) { f.DatabaseRecord.Owner.UID = "earlier" }, &credential{}, []string{"registry"}},
		"Retained":      {"The owner is back.", database(), func(f *postgresql.Facts) { f.DatabaseRecord.State = postgresql.StateRetained }, &credential{}, []string{"registry"}},
		"Policy":        {"The registry tells people of another policy.", database(), func(f *postgresql.Facts) { f.DatabaseRecord.DeletionPolicy = "Delete" }, &credential{}, []string{"registry"}},
		"Many": {
			"All that differs is named, in a stable order.",
			database(func(db *v1alpha1.PGDatabase) {
				db.Spec.ForProvider.ConnectionLimit, db.Spec.ForProvider.Owner.ConnectionLimit = &limit, &limit
			}),
			func(f *postgresql.Facts) {
				f.Role.Privileges, f.Role.Login = []string{"SUPERUSER"}, false
				f.Database.PublicPrivileges = []string{"CONNECT"}
				f.RoleRecord.Owner.Holder = "earlier"
			},
			&credential{version: "2"},
			[]string{"registry", "SUPERUSER", "connectionLimit", "login", "connectionLimit", "publicPrivileges", "credential"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := facts(good)
			if tc.mod != nil {
				tc.mod(f)
			}
			if diff := cmp.Diff(tc.want, drifted(tc.mg, f, claim, tc.cred)); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestObserve(t *testing.T) {
	missing := func(db *v1alpha1.PGDatabase) { db.Spec.ForProvider.Owner.PasswordFrom.SecretKeyRef.Name = "missing" }
	citext := wants(v1alpha1.Extension{Name: "citext"})
	offered := map[string]postgresql.AvailableExtension{"citext": {Name: "citext"}}
	template := func(n string) func(*v1alpha1.PGDatabase) {
		return func(db *v1alpha1.PGDatabase) { db.Spec.ForProvider.Template = n }
	}
	foreign := func(f *postgresql.Facts) {
		f.RoleRecord, f.DatabaseRecord.Owner = nil, postgresql.Owner{ControlPlane: "here", UID: "other", Holder: "other"}
	}
	type want struct {
		exists, upToDate bool
		diff             string
		ready            xpv2.ConditionReason
		events           []event.Reason
		err              xpv2.ConditionReason
	}
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.PGDatabase
		server *pg
		want   want
	}{
		"New": {
			reason: "With nothing in the way and a password there is something to create.",
			mg:     database(), server: &pg{facts: facts(nothing)},
			want: want{upToDate: true},
		},
		"Preflight": {
			reason: "Without a password nothing is created. That is no error.",
			mg:     database(missing), server: &pg{facts: facts(nothing)},
			want: want{exists: true, upToDate: true, ready: v1alpha1.ReasonCredentialNotReady},
		},
		"Conflict": {
			reason: "Somebody else's database is told once, and stays untouched.",
			mg:     database(), server: &pg{facts: facts(foreign)},
			want: want{exists: true, upToDate: true, ready: v1alpha1.ReasonConflict, events: []event.Reason{"Conflict"}},
		},
		"DataLost": {
			reason: "A recorded database that is gone is not made anew.",
			mg:     database(), server: &pg{facts: facts(func(f *postgresql.Facts) { f.Database = nil })},
			want: want{exists: true, upToDate: true, ready: v1alpha1.ReasonDataLost, events: []event.Reason{"DataLost"}},
		},
		"IdentityChanged": {
			reason: "Another database of the same name is not taken for the recorded one.",
			mg:     database(), server: &pg{facts: facts(func(f *postgresql.Facts) { f.Database.OID = 21 })},
			want: want{exists: true, upToDate: true, ready: v1alpha1.ReasonIdentityChanged, events: []event.Reason{"IdentityChanged"}},
		},
		"ExtensionUnavailable": {
			reason: "An extension that cannot be had is told before anything is made.",
			mg:     database(citext), server: &pg{facts: facts(nothing)},
			want: want{exists: true, upToDate: true, ready: v1alpha1.ReasonExtensionUnavailable, events: []event.Reason{"ExtensionUnavailable"}},
		},
		"Ready": {
			reason: "What is as asked for, and whose password logs in, is ready.",
			mg:     database(), server: &pg{facts: facts(), accepts: map[string]bool{password: true}},
			want: want{exists: true, upToDate: true, ready: xpv2.ReasonAvailable},
		},
		"Drifted": {
			reason: "What differs is put right, before anything is proven.",
			mg:     database(), server: &pg{facts: facts(func(f *postgresql.Facts) { f.Role.Login = false })},
			want: want{exists: true, diff: "login"},
		},
		"PasswordRejected": {
			reason: "A password that does not log in is put right.",
			mg:     database(), server: &pg{facts: facts()},
			want: want{exists: true, diff: "password"},
		},
		"ExtensionMissing": {
			reason: "An extension that is missing is put right.",
			mg:     database(citext), server: &pg{facts: facts(), accepts: map[string]bool{password: true}, available: offered},
			want: want{exists: true, diff: "extension citext"},
		},
		"ExtensionNotToBeHad": {
			reason: "An extension that the server does not have is told once, and waited for without an error. The rest is ready.",
			mg:     database(citext), server: &pg{facts: facts(), accepts: map[string]bool{password: true}},
			want: want{exists: true, upToDate: true, ready: v1alpha1.ReasonExtensionUnavailable, events: []event.Reason{"ExtensionUnavailable"}},
		},
		"SomeExtensionsNotToBeHad": {
			reason: "Others are installed meanwhile.",
			mg:     database(wants(v1alpha1.Extension{Name: "citext"}, v1alpha1.Extension{Name: "missing"})),
			server: &pg{facts: facts(), accepts: map[string]bool{password: true}, available: offered},
			want:   want{exists: true, diff: "extension citext", events: []event.Reason{"ExtensionUnavailable"}},
		},
		"TemplateInUse": {
			reason: "A template that others are connected to is waited for, without an error.",
			mg:     database(template("busy")), server: &pg{facts: facts(nothing), sessions: map[string]int{"busy": 1}},
			want: want{exists: true, upToDate: true, ready: v1alpha1.ReasonInUse, events: []event.Reason{"InUse"}},
		},
		"TemplateIdle": {
			reason: "A template that nobody is connected to can be copied.",
			mg:     database(template("idle")), server: &pg{facts: facts(nothing), sessions: map[string]int{"busy": 1}},
			want: want{upToDate: true},
		},
		"TemplateInUseAfterwards": {
			reason: "A template is not looked at any more when the database was made from it.",
			mg:     database(template("busy")), server: &pg{facts: facts(), accepts: map[string]bool{password: true}, sessions: map[string]int{"busy": 1}},
			want: want{exists: true, upToDate: true, ready: xpv2.ReasonAvailable},
		},
		"Renamed": {
			reason: "An external name that was changed afterwards is refused, whatever there is under it.",
			mg:     database(), server: &pg{facts: facts(nothing), databases: []string{"first"}},
			want: want{exists: true, upToDate: true, ready: v1alpha1.ReasonExternalNameChanged, events: []event.Reason{"ExternalNameChanged"}},
		},
		"SourceGone": {
			reason: "A database whose password source went away stays as it is, and is not ready.",
			mg:     database(missing), server: &pg{facts: facts(recorded("1"))},
			want: want{exists: true, upToDate: true, ready: v1alpha1.ReasonCredentialNotReady, events: []event.Reason{"CredentialNotReady"}},
		},
		"OnlyObserved": {
			reason: "What is only looked at is reported, whoever owns it.",
			mg:     database(onlyObserved), server: &pg{facts: facts(foreign)},
			want: want{exists: true, upToDate: true, ready: xpv2.ReasonAvailable},
		},
		"OnlyObservedMissing": {
			reason: "What is only looked at has to be there.",
			mg:     database(onlyObserved), server: &pg{facts: facts(nothing)},
		},
		"Unreachable": {
			reason: "A server that does not answer is an error with its reason.",
			mg:     database(), server: &pg{observeErr: unreachable},
			want: want{err: v1alpha1.ReasonInstanceUnreachable},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := tc.mg
			e := view(t, tc.server, login("login", "shop", password))
			if f := tc.server.facts; f != nil && f.RoleRecord != nil && f.RoleRecord.CredentialVersion == "" {
				cred, err := e.credential(t.Context(), database())
				if err != nil {
					t.Fatal(err)
				}
				f.RoleRecord.CredentialVersion = cred.version
			}
			var got want
			// The second look sees what the first reported.
			for range 2 {
				o, err := e.Observe(t.Context(), mg)
				got = want{
					exists: o.ResourceExists, upToDate: o.ResourceUpToDate, diff: o.Diff, ready: mg.GetCondition(xpv2.TypeReady).Reason,
					events: e.recorder.(*recorder).events, err: connect.ReasonOf(err, ""),
				}
				if err != nil && strings.Contains(err.Error(), password) {
					t.Errorf("\n%s\nthe error holds the password", tc.reason)
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
			}
			for _, c := range tc.server.calls {
				if c != "CheckLogin" && c != "Extensions" && c != "AvailableExtensions" {
					t.Errorf("\n%s\nObserve(...) must write nothing: %s", tc.reason, c)
				}
			}
		})
	}
}
