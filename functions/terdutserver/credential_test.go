package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// TestDatabaseCredential lets the database's Secret, and the Deployment whose replicas read it when they are started, change in all orders.
// The Deployment says with which Secret they were started; that is renewed when its pod template changes, and never otherwise: nothing is
// restarted here.
func TestDatabaseCredential(t *testing.T) {
	const record, revision = "terdut.ryuvia.com/database-credential", "deployment.kubernetes.io/revision"
	const changed = `FALSE CredentialChanged: Secret "db" has changed since the replicas were started, and they go on with what they read then: restart Deployment "oncall-2d980b82cb".`
	const waits = "FALSE Waiting: It is known once all replicas are started with the current credential."
	const unknown = `UNKNOWN CredentialChanged: Some replicas may have been started with an earlier content of Secret "db": restart Deployment "oncall-2d980b82cb".`
	rotated := with("status.atProvider.observedSecret", map[string]any{"name": "db", "uid": "s1", "resourceVersion": "200"})
	says := func(status, reason, message string) mod { return said("SecretExists", status, reason, message, 1) }
	rolling := func(obj map[string]any) {
		with("status.replicas", 2)(obj)
	}
	unseen := with("metadata.generation", 2)
	none := func(map[string]any) {}

	cases := map[string]struct {
		reason     string
		spec       mod
		check      mod
		deployment []mod
		record     string // What the Deployment is to say.
		want       string // The condition.
		notReady   bool
	}{
		"Current": {
			reason: "Nothing has happened.", record: "1/s1/100", want: "TRUE Available: ",
		},
		"Changed": {
			reason: "What replicas were started with is not what there is, and stays written down.", check: rotated,
			record: "1/s1/100", want: changed,
		},
		"MadeAnew": {
			reason: "Another Secret of the name may have the same version.",
			check:  with("status.atProvider.observedSecret", map[string]any{"name": "db", "uid": "s2", "resourceVersion": "100"}),
			record: "1/s1/100", want: changed,
		},
		"Restarted": {
			reason: "Somebody has changed the pod template: the replicas of that revision read what there is.", check: rotated,
			deployment: []mod{annotated(revision, "2")}, record: "2/s1/200", want: changed,
		},
		"Rolling": {
			reason: "A replica of before is still there.", check: rotated, notReady: true,
			deployment: []mod{annotated(revision, "2"), annotated(record, "2/s1/200"), rolling}, record: "2/s1/200", want: waits,
		},
		"RolledOut": {
			reason: "All replicas are of the new revision.", check: rotated,
			deployment: []mod{annotated(revision, "2"), annotated(record, "2/s1/200")}, record: "2/s1/200", want: "TRUE Available: ",
		},
		"Template": {
			reason: "This pass changes the template, so the replicas that come read what there is now.", check: rotated, notReady: true,
			spec: with("spec.image.tag", "v2"), record: "2/s1/200;s1/100", want: changed,
		},
		"TemplateOnItsWay": {
			reason: "Its controller has not made the revision yet. A Secret that changes meanwhile may be read or not.", check: rotated,
			deployment: []mod{annotated(record, "2/s1/150"), unseen}, record: "2/s1/150", want: changed, notReady: true,
		},
		"TemplateAgain": {
			reason: "It changes once more before its controller has made the revision of the last change.", check: rotated, notReady: true,
			spec: with("spec.image.tag", "v2"), deployment: []mod{annotated(record, "2/s1/150"), unseen}, record: "2/s1/150", want: changed,
		},
		"TemplateOnceMore": {
			reason: "Its controller made no revision of a change that was taken back, and this pass makes one.", notReady: true,
			spec: with("spec.image.tag", "v2"), deployment: []mod{annotated(record, "2/s1/50")}, record: "2/s1/100;s1/50", want: changed,
		},
		"TemplateOnceMoreAfterChange": {
			reason: "What the change that was taken back was asked for with, no replica was started with.", notReady: true,
			spec: with("spec.image.tag", "v2"), deployment: []mod{annotated(record, "2/s1/100;s1/50")}, record: "2/s1/100;s1/50", want: waits,
		},
		"TakenBack": {
			reason:     "The template was changed and changed back before its controller looked: no replica was started.",
			deployment: []mod{annotated(record, "2/s1/100")}, record: "1/s1/100", want: waits,
		},
		"TakenBackAfterChange": {
			reason:     "The replicas that there are were started with what there was before.",
			deployment: []mod{annotated(record, "2/s1/100;s1/50")}, record: "1/s1/50", want: waits,
		},
		"TakenBackWhilePaused": {
			reason:     "A paused Deployment is looked at, and nothing is started.",
			deployment: []mod{annotated(record, "2/s1/100"), with("spec.paused", true)}, record: "2/s1/100", want: waits,
		},
		"NoReplicaYet": {
			reason: "Its controller scales first, and makes the revision later.", notReady: true,
			deployment: []mod{annotated(record, "2/s1/100"), with("status.updatedReplicas", 0)}, record: "2/s1/100", want: waits,
		},
		"RolledBack": {
			reason: "Replicas do not come up with a new image, and the template becomes another, perhaps what it was: those of before are kept then.", notReady: true,
			spec: with("spec.image.tag", "v2"), deployment: []mod{annotated(revision, "2"), annotated(record, "2/s1/100;s1/50"), rolling}, record: "3/unknown", want: waits,
		},
		"RolledBackWithSame": {
			reason: "All replicas were started with the same.", notReady: true,
			spec: with("spec.image.tag", "v2"), deployment: []mod{annotated(revision, "2"), annotated(record, "2/s1/100"), rolling}, record: "3/s1/100", want: waits,
		},
		"Unknown": {
			reason: "It stays so.", deployment: []mod{annotated(record, "1/unknown")}, record: "1/unknown", want: unknown,
		},
		"UnknownAndRestarted": {
			reason: "The replicas of the new revision read what there is.", deployment: []mod{annotated(revision, "2"), annotated(record, "1/unknown")},
			record: "2/s1/100", want: unknown,
		},
		"NewRevisionExpected": {
			reason: "The revision that was asked for is not there yet.", notReady: true,
			deployment: []mod{annotated(record, "2/s1/100"), unseen}, record: "2/s1/100", want: waits,
		},
		"NotRecorded": {
			reason: "An earlier version of this function started it.", deployment: []mod{annotated(record, "")}, record: "1/s1/100", want: waits,
		},
		"Nonsense": {
			reason: "Somebody has changed the record.", deployment: []mod{annotated(record, "yes")}, record: "1/s1/100", want: waits,
		},
		"Missing": {
			reason: "Replicas that start now would not. What the others have is still known.", check: says("False", "SecretNotFound", "x"),
			record: "1/s1/100", want: `FALSE NotFound: There is no Secret "db", with which replicas are started.`,
		},
		"NotApproved": {
			reason: "Nobody lets the provider look. The server does not depend on it.", check: says("Unknown", "AccessNotApproved", "No grant."),
			record: "1/s1/100", want: "UNKNOWN AccessNotApproved: No grant.",
		},
		"RestartedUnseen": {
			reason: "With what the new revision was started is not known, so the old record stays.", check: says("Unknown", "SecretAccessDenied", "No."),
			deployment: []mod{annotated(revision, "2")}, record: "1/s1/100", want: "UNKNOWN SecretAccessDenied: No.",
		},
		"NoPassword": {
			reason: "A server that trusts, or a certificate: the template loses the password, and the check goes.", notReady: true,
			spec: without("spec.database.passwordSecretRef"), record: "", want: "FALSE Waiting: What the spec does not ask for any more is deleted.",
		},
		"LessTemplate": {
			reason: "The template only loses something. With what its replicas start is known when its revision is there.", check: rotated, notReady: true,
			deployment: []mod{func(o map[string]any) {
				container("env", append(wantEnv(), env("A", "1")...))(o)
				annotated("terdut.ryuvia.com/desired", "of before")(o)
			}},
			record: "1/s1/100", want: changed,
		},
		"OtherSecret": {
			reason: "The template comes to name another Secret, of which nothing is known yet.",
			spec:   with("spec.database.passwordSecretRef.name", "other"), notReady: true, record: "", want: waits,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, m := range []*mod{&tc.spec, &tc.check} {
				if *m == nil {
					*m = none
				}
			}
			o := everythingWith("deployment", tc.deployment...)
			o[credential] = object(o[credential].AsMap(), tc.check)
			rsp := run(t, request(xr(tc.spec), o, nil))
			if msg := fatal(rsp); msg != "" {
				t.Fatal(msg)
			}
			annotations, _ := rsp.GetDesired().GetResources()["deployment"].GetResource().AsMap()["metadata"].(map[string]any)["annotations"].(map[string]any)
			got, _ := annotations[record].(string)
			if diff := cmp.Diff(tc.record, got); diff != "" {
				t.Errorf("\n%s\nrecord: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, conditionOf(rsp, "DatabaseCredentialCurrent")); diff != "" {
				t.Errorf("\n%s\ncondition: -want, +got:\n%s", tc.reason, diff)
			}
			if ready := rsp.GetDesired().GetComposite().GetReady() == fnv1.Ready_READY_TRUE; ready == tc.notReady {
				t.Errorf("\n%s\nready: %t", tc.reason, ready)
			}
		})
	}
}

// TestDatabaseCredentialFirst holds that a server is not started before it is known with what, that somebody who may not look, or a Secret
// that is not there, is an answer too, and that what was begun stays although the database goes again.
func TestDatabaseCredentialFirst(t *testing.T) {
	tenant := with("spec.database", map[string]any{"tenantRef": map[string]any{"name": "db"}})
	starts := []string{credential, "deployment", "service"}
	cases := map[string]struct {
		reason string
		spec   mod
		check  *structpb.Struct
		want   []string
		record bool
	}{
		"Seen":       {reason: "The Secret is there.", check: observed(wantCheck(), seen("db")), want: starts, record: true},
		"Stale":      {reason: "The answer is about an older spec.", check: observed(wantCheck(), seen("db"), with("metadata.generation", 2)), want: []string{credential}},
		"Another":    {reason: "The answer is about another Secret.", check: observed(checkOf("other", "password"), seen("other")), want: []string{credential}},
		"Missing":    {reason: "The replicas' own events say so.", check: observed(wantCheck(), said("SecretExists", "False", "SecretNotFound", "x", 1)), want: starts},
		"MayNotLook": {reason: "That is the admin's to decide.", check: observed(wantCheck(), said("SecretExists", "Unknown", "AccessNotApproved", "x", 1)), want: starts},
		"Gone":       {reason: "The Tenant is not ready any more.", spec: tenant, check: observed(wantCheck(), seen("db")), want: []string{credential}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.spec == nil {
				tc.spec = func(map[string]any) {}
			}
			rsp := run(t, request(xr(tc.spec), map[string]*structpb.Struct{credential: tc.check}, allFree()))
			if diff := cmp.Diff(tc.want, desiredNames(rsp)); diff != "" {
				t.Errorf("\n%s\ndesired: -want, +got:\n%s", tc.reason, diff)
			}
			d := rsp.GetDesired().GetResources()["deployment"].GetResource().AsMap()
			m, _ := d["metadata"].(map[string]any)
			annotations, _ := m["annotations"].(map[string]any)
			if got := annotations["terdut.ryuvia.com/database-credential"] != nil; got != tc.record {
				t.Errorf("\n%s\nrecorded: %t", tc.reason, got)
			}
		})
	}
}

func wantCheck(mods ...mod) *structpb.Struct { return checkOf("db", "password", mods...) }

// checkOf the Secret that replicas read their password from.
func checkOf(secret, key string, mods ...mod) *structpb.Struct {
	return manifest("secrets.terdut.ryuvia.com/v1alpha1", "SecretCheck", checkName, labels(), map[string]any{"forProvider": map[string]any{
		"secretRef": map[string]any{"name": secret}, "requiredKeys": []any{map[string]any{"name": key, "nonEmpty": false}},
	}}, mods...)
}

// seen is what a SecretCheck says of a Secret that is there.
func seen(secret string) mod {
	return func(obj map[string]any) {
		with("status.atProvider.observedSecret", map[string]any{"name": secret, "uid": "s1", "resourceVersion": "100"})(obj)
		yes(1, "SecretExists", "KeysValid", "Ready", "Synced")(obj)
	}
}

// onlySeen is all that there is before the server is started.
func onlySeen() map[string]*structpb.Struct {
	return map[string]*structpb.Struct{credential: observed(wantCheck(), seen("db"))}
}
