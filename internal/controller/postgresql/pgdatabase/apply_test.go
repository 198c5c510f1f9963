package pgdatabase

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// TestApply holds in which order things are made, that a password is only set where it has to be, and where a failure is reported.
func TestApply(t *testing.T) {
	accepts := map[string]bool{password: true}
	noRole := func(f *postgresql.Facts) { f.Role = nil; f.RoleRecord.OID = 0 }
	citext := wants(v1alpha1.Extension{Name: "citext"})
	missing := func(db *v1alpha1.PGDatabase) { db.Spec.ForProvider.Owner.PasswordFrom.SecretKeyRef.Name = "missing" }
	blank := func(db *v1alpha1.PGDatabase) { db.Spec.ForProvider.Owner.PasswordFrom.SecretKeyRef.Name = "blank" }
	privilege := &postgresql.Error{Code: "42501"}
	fails := func(call string) map[string]error { return map[string]error{call: privilege} }
	const (
		pending  = v1alpha1.ReasonPending
		done     = v1alpha1.ReasonPassed
		denied   = v1alpha1.ReasonInsufficientPrivilege
		none     = xpv2.ConditionReason("")
		record   = "RecordCredential VERSION"
		withPass = "EnsureRole with password"
	)
	type want struct {
		calls []string
		err   xpv2.ConditionReason
		// reasons of PreflightPassed, RoleReady, DatabaseReady and ExtensionsReady.
		steps [4]xpv2.ConditionReason
	}
	cases := map[string]struct {
		reason   string
		mg       *v1alpha1.PGDatabase
		server   *pg
		rejected bool
		want     want
	}{
		"New": {
			reason: "A new role gets its password, and the password is proven.", mg: database(), server: &pg{facts: facts(noRole)},
			want: want{calls: []string{"Reserve", withPass, "EnsureDatabase", "CheckLogin", record}, steps: [4]xpv2.ConditionReason{none, done, done, done}},
		},
		"PasswordWorks": {
			reason: "A password that logs in is not set.", mg: database(), server: &pg{facts: facts(), accepts: accepts},
			want: want{calls: []string{"Reserve", "EnsureRole", "EnsureDatabase", "CheckLogin", record}, steps: [4]xpv2.ConditionReason{none, done, done, done}},
		},
		"PasswordRejected": {
			reason: "A password that the server refuses is set, and proven.", mg: database(), server: &pg{facts: facts()},
			want: want{
				calls: []string{"Reserve", "EnsureRole", "EnsureDatabase", "CheckLogin", withPass, "CheckLogin", record},
				steps: [4]xpv2.ConditionReason{none, done, done, done},
			},
		},
		"PasswordRecorded": {
			reason: "A password that was proven is not proven again.", mg: database(), server: &pg{facts: facts(recorded("VERSION"))},
			want: want{calls: []string{"Reserve", "EnsureRole", "EnsureDatabase"}, steps: [4]xpv2.ConditionReason{none, done, done, done}},
		},
		"PasswordRecordedAndRejected": {
			reason: "Unless the server refused it since.", mg: database(), server: &pg{facts: facts(recorded("VERSION"))}, rejected: true,
			want: want{
				calls: []string{"Reserve", "EnsureRole", "EnsureDatabase", "CheckLogin", withPass, "CheckLogin", record},
				steps: [4]xpv2.ConditionReason{none, done, done, done},
			},
		},
		"SourceGone": {
			reason: "Without a source the role keeps its password.", mg: database(missing), server: &pg{facts: facts()},
			want: want{calls: []string{"Reserve", "EnsureRole", "EnsureDatabase"}, steps: [4]xpv2.ConditionReason{none, none, done, done}},
		},
		"SourceGoneAndNoRole": {
			reason: "Without a source no role is made.", mg: database(missing), server: &pg{facts: facts(noRole)},
			want: want{calls: []string{"Reserve"}, err: v1alpha1.ReasonCredentialNotReady, steps: [4]xpv2.ConditionReason{none, v1alpha1.ReasonCredentialNotReady, pending, pending}},
		},
		"BlankPassword": {
			reason: "A blank password is never set.", mg: database(blank), server: &pg{facts: facts()},
			want: want{
				calls: []string{"Reserve", "EnsureRole", "EnsureDatabase"}, err: v1alpha1.ReasonCredentialNotReady,
				steps: [4]xpv2.ConditionReason{none, v1alpha1.ReasonCredentialNotReady, done, pending},
			},
		},
		"LoginUnreachable": {
			reason: "A login that got no answer proves nothing, so nothing is set.", mg: database(), server: &pg{facts: facts(), loginErr: unreachable},
			want: want{
				calls: []string{"Reserve", "EnsureRole", "EnsureDatabase", "CheckLogin"}, err: v1alpha1.ReasonInstanceUnreachable,
				steps: [4]xpv2.ConditionReason{none, v1alpha1.ReasonInstanceUnreachable, done, pending},
			},
		},
		"LoginRejectedStill": {
			reason: "A login that is refused after the password was set is told, and not recorded.", mg: database(), server: &pg{facts: facts(), loginErr: rejected},
			want: want{
				calls: []string{"Reserve", "EnsureRole", "EnsureDatabase", "CheckLogin", withPass, "CheckLogin"}, err: v1alpha1.ReasonLoginRejected,
				steps: [4]xpv2.ConditionReason{none, v1alpha1.ReasonLoginRejected, done, pending},
			},
		},
		"ReserveFails": {
			reason: "Nothing is made without a reservation.", mg: database(), server: &pg{facts: facts(), fail: fails("Reserve")},
			want: want{calls: []string{"Reserve"}, err: denied, steps: [4]xpv2.ConditionReason{denied, pending, pending, pending}},
		},
		"RoleFails": {
			reason: "There is no database without its owner.", mg: database(), server: &pg{facts: facts(), fail: fails("EnsureRole")},
			want: want{calls: []string{"Reserve", "EnsureRole"}, err: denied, steps: [4]xpv2.ConditionReason{none, denied, pending, pending}},
		},
		"DatabaseFails": {
			reason: "There is no login without a database.", mg: database(), server: &pg{facts: facts(), fail: fails("EnsureDatabase")},
			want: want{calls: []string{"Reserve", "EnsureRole", "EnsureDatabase"}, err: denied, steps: [4]xpv2.ConditionReason{none, pending, denied, pending}},
		},
		"Extensions": {
			reason: "Extensions come last.", mg: database(citext), server: &pg{facts: facts(), accepts: accepts, results: []postgresql.ExtensionResult{{}}},
			want: want{
				calls: []string{"Reserve", "EnsureRole", "EnsureDatabase", "CheckLogin", record, "EnsureExtensions"},
				steps: [4]xpv2.ConditionReason{none, done, done, done},
			},
		},
		"ExtensionFails": {
			reason: "An extension that failed does not take the rest with it.", mg: database(citext),
			server: &pg{facts: facts(), accepts: accepts, results: []postgresql.ExtensionResult{{}, {Err: errBoom}}},
			want: want{
				calls: []string{"Reserve", "EnsureRole", "EnsureDatabase", "CheckLogin", record, "EnsureExtensions"}, err: v1alpha1.ReasonExtensionFailed,
				steps: [4]xpv2.ConditionReason{none, done, done, v1alpha1.ReasonExtensionFailed},
			},
		},
		"ExtensionUnavailable": {
			reason: "An extension that the server does not have is told as such, and is no error.", mg: database(citext),
			server: &pg{facts: facts(), accepts: accepts, results: []postgresql.ExtensionResult{{Err: &postgresql.Error{Code: "0A000"}}}},
			want: want{
				calls: []string{"Reserve", "EnsureRole", "EnsureDatabase", "CheckLogin", record, "EnsureExtensions"},
				steps: [4]xpv2.ConditionReason{none, done, done, v1alpha1.ReasonExtensionUnavailable},
			},
		},
		"ExtensionUnavailableAndFails": {
			reason: "One that the server refused for another reason is an error.", mg: database(citext),
			server: &pg{facts: facts(), accepts: accepts, results: []postgresql.ExtensionResult{{Err: errBoom}, {Err: &postgresql.Error{Code: "0A000"}}}},
			want: want{
				calls: []string{"Reserve", "EnsureRole", "EnsureDatabase", "CheckLogin", record, "EnsureExtensions"}, err: v1alpha1.ReasonExtensionFailed,
				steps: [4]xpv2.ConditionReason{none, done, done, v1alpha1.ReasonExtensionFailed},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := view(t, tc.server, login("login", "shop", password), login("blank", "shop", " "))
			e.passwordRejected = tc.rejected
			e.proofs.put(tc.mg.UID, &proof{})
			// VERSION stands for whatever the version of the source is.
			cred, err := e.credential(t.Context(), tc.mg)
			if err != nil {
				t.Fatal(err)
			}
			if r := tc.server.facts.RoleRecord; r.CredentialVersion == "VERSION" {
				r.CredentialVersion = cred.version
			}
			err = e.apply(t.Context(), tc.mg)
			got := want{err: connect.ReasonOf(err, "")}
			for _, c := range tc.server.calls {
				if cred.ready() {
					c = strings.ReplaceAll(c, cred.version, "VERSION")
				}
				got.calls = append(got.calls, c)
			}
			for i, step := range steps(tc.mg) {
				got.steps[i] = tc.mg.GetCondition(step).Reason
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\napply(...): error %v, -want, +got:\n%s", tc.reason, err, diff)
			}
			if err != nil && strings.Contains(err.Error(), password) {
				t.Errorf("\n%s\nthe error holds the password", tc.reason)
			}
			if e.proofs.get(tc.mg.UID) != nil {
				t.Errorf("\n%s\nwhat was proven before has to be proven again", tc.reason)
			}
		})
	}
}

// TestPasswordRepaired holds that a password which somebody changed on the server is put back, although it was proven before, and is ready then.
func TestPasswordRepaired(t *testing.T) {
	s, mg := &pg{facts: facts()}, database()
	e := view(t, s, login("login", "shop", password))
	cred, err := e.credential(t.Context(), mg)
	if err != nil {
		t.Fatal(err)
	}
	s.facts.RoleRecord.CredentialVersion = cred.version
	if o, err := e.Observe(t.Context(), mg); err != nil || o.ResourceUpToDate || o.Diff != "password" {
		t.Fatalf("want the password to differ, got %q and error %v", o.Diff, err)
	}
	if _, err := e.Update(t.Context(), mg); err != nil || !s.accepts[password] {
		t.Fatalf("want the password to be set, error %v after %v", err, s.calls)
	}
	if o, err := e.Observe(t.Context(), mg); err != nil || !o.ResourceUpToDate || mg.GetCondition(xpv2.TypeReady).Reason != xpv2.ReasonAvailable {
		t.Errorf("want it to be ready, got %s and error %v", mg.GetCondition(xpv2.TypeReady).Reason, err)
	}
}

// TestApplyNeedsOwner holds that nothing is asked of the server for an owner that cannot be told.
func TestApplyNeedsOwner(t *testing.T) {
	s := &pg{facts: facts()}
	mg := database(controlled)
	if _, err := view(t, s, login("login", "shop", password)).Create(t.Context(), mg); err == nil || len(s.calls) > 0 {
		t.Errorf("want an error and no call, got %v after %v", err, s.calls)
	}
}

// TestUpdateIsProven holds that Ready after an update is what was found afterwards, and not what was known before.
func TestUpdateIsProven(t *testing.T) {
	f := facts()
	f.Role.Login = false // What this server never puts right.
	mg := database()
	mg.SetConditions(xpv2.Available())
	e := view(t, &pg{facts: f, accepts: map[string]bool{password: true}}, login("login", "shop", password))
	if _, err := e.Update(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	if c := mg.GetCondition(xpv2.TypeReady); c.Status != "False" || c.Reason != v1alpha1.ReasonPending {
		t.Errorf("Ready is %s %s although the role still cannot log in", c.Status, c.Reason)
	}
}
