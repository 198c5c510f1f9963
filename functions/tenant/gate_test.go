package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// A verdict is the part of a response that a gate decides.
type verdict struct {
	Resources []string // Composition resource names, with a + when ready.
	Ready     bool
	Phase     string
}

func verdictOf(rsp *fnv1.RunFunctionResponse) verdict {
	v := verdict{
		Ready: rsp.GetDesired().GetComposite().GetReady() == fnv1.Ready_READY_TRUE,
		Phase: rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()["phase"].GetStringValue(),
	}
	for name, r := range rsp.GetDesired().GetResources() {
		if r.GetReady() == fnv1.Ready_READY_TRUE {
			name += "+"
		}
		v.Resources = append(v.Resources, name)
	}
	slices.Sort(v.Resources)
	return v
}

// everythingWith is everything with one object changed.
func everythingWith(name string, mods ...mod) map[string]*structpb.Struct {
	all := everything()
	if mods == nil {
		delete(all, name)
		return all
	}
	all[name] = object(all[name].AsMap(), mods...)
	return all
}

func TestH46Gates(t *testing.T) {
	all := []string{"credential+", "database+", "external-secret+"}
	databaseWaits := []string{"credential+", "database", "external-secret+"}
	credentialWaits := []string{"credential", "database+", "external-secret+"}
	secretWaits := []string{"credential+", "database+", "external-secret"}

	cases := map[string]struct {
		reason   string
		xr       *structpb.Struct
		observed map[string]*structpb.Struct
		want     verdict
	}{
		"NotSynced": {
			reason:   "Ready is no proof while the last change could not be applied.",
			observed: everythingWith("database", said("Synced", "False", "ReconcileError", "boom", 1)),
			want:     verdict{Resources: databaseWaits, Phase: "CredentialProjected"},
		},
		"SyncedUnsaid": {
			reason:   "A missing answer is not a positive one.",
			observed: everythingWith("credential", with("status.conditions", []any{})),
			want:     verdict{Resources: credentialWaits, Phase: "CredentialProjected"},
		},
		"LoginNotVerified": {
			reason:   "Ready of a PGDatabase without a login is not enough.",
			observed: everythingWith("database", said("LoginVerified", "False", "LoginRejected", "no", 1)),
			want:     verdict{Resources: databaseWaits, Phase: "CredentialProjected"},
		},
		"ConditionOfOlderGeneration": {
			reason:   "The condition's own generation counts.",
			observed: everythingWith("credential", with("metadata.generation", 2)),
			want:     verdict{Resources: credentialWaits, Phase: "CredentialProjected"},
		},
		"GenerationOfWholeStatus": {
			reason: "A condition without a generation speaks of that of the whole status.",
			observed: everythingWith("credential", with("status.observedGeneration", 3), with("metadata.generation", 3),
				with("status.conditions", []any{}), yes(0, "RecordReady", "Ready", "Synced")),
			want: verdict{Resources: all, Ready: true, Phase: "Ready"},
		},
		"NoGenerationAtAll": {
			reason:   "An answer that does not say what it belongs to does not count.",
			observed: everythingWith("credential", with("status.conditions", []any{}), yes(0, "RecordReady", "Ready", "Synced")),
			want:     verdict{Resources: credentialWaits, Phase: "CredentialProjected"},
		},
		"OlderSpec": {
			reason:   "The PGDatabase is Ready with a spec from before the change.",
			xr:       xr(with("spec.deletionPolicy", "Delete")),
			observed: everything(),
			want:     verdict{Resources: []string{"credential", "database", "external-secret+"}, Phase: "CredentialProjected"},
		},
		"RemovedRotation": {
			reason:   "A field that is not desired any more is a difference, too.",
			observed: everythingWith("credential", with("spec.forProvider.rotation.trigger", "2026-11")),
			want:     verdict{Resources: credentialWaits, Phase: "CredentialProjected"},
		},
		"ForeignAdditions": {
			reason: "What others added to our objects is not compared.",
			observed: map[string]*structpb.Struct{
				"database": object(everything()["database"].AsMap(), with("spec.forProvider.extensions", []any{
					map[string]any{"name": "hstore", "schema": "public"}, map[string]any{"name": "pgcrypto", "schema": "public"},
				})),
				"credential": object(everything()["credential"].AsMap(), with("spec.forProvider.data",
					append([]any{map[string]any{"key": "token", "value": "x"}}, wantData()...))),
				"external-secret": everything()["external-secret"],
			},
			want: verdict{Resources: all, Ready: true, Phase: "Ready"},
		},
		"BeingDeleted": {
			reason:   "An object that goes away is not ready, whatever it says.",
			observed: everythingWith("credential", with("metadata.deletionTimestamp", "2026-01-02T03:04:05Z")),
			want:     verdict{Resources: credentialWaits, Phase: "CredentialProjected"},
		},
		"SecretOfOlderGeneration": {
			reason:   "External Secrets last wrote the Secret for an older spec.",
			observed: everythingWith("external-secret", with("metadata.generation", 12), with("status.syncedResourceVersion", "1-0123")),
			want:     verdict{Resources: secretWaits, Phase: "CredentialProjected"},
		},
		"SecretOfOlderVersion": {
			reason:   "A new version of the record has to be read first.",
			observed: everythingWith("credential", with("status.atProvider.version", 2)),
			want:     verdict{Resources: []string{"credential+", "database", "external-secret"}, Phase: "CredentialProjected"},
		},
		"SecretNotWrittenYet": {
			reason: "External Secrets was asked for the new version, and its answer is about the one before.",
			observed: func() map[string]*structpb.Struct {
				all := everythingWith("credential", with("status.atProvider.version", 2), yes(1, "Ready", "Synced"))
				all["external-secret"] = observedExternalSecret(pinned("2"), with("metadata.generation", 2), projected)
				return all
			}(),
			want: verdict{Resources: []string{"credential+", "database", "external-secret"}, Phase: "CredentialProjected"},
		},
		"LoginOfOlderVersion": {
			reason:   "The login that was proven is that of the password before the rotation.",
			observed: everythingWith("database", with("status.atProvider.credentialVersion", "openbao/0b5c/11")),
			want:     verdict{Resources: []string{"credential+", "database", "external-secret+"}, Phase: "CredentialProjected"},
		},
		"LoginOfRecordOfBefore": {
			reason:   "The record was made anew, with the number that it had.",
			observed: everythingWith("database", with("status.atProvider.credentialVersion", "openbao/0b5c/1764530000/1")),
			want:     verdict{Resources: []string{"credential+", "database", "external-secret+"}, Phase: "CredentialProjected"},
		},
		"SecretWithoutStatus": {
			reason:   "An ExternalSecret that nobody looked at delivered nothing.",
			observed: everythingWith("external-secret", without("status")),
			want:     verdict{Resources: secretWaits, Phase: "ExternalSecretCreated"},
		},
		"StoreCannotRead": {
			reason:   "External Secrets does not say why, and it may heal by itself.",
			observed: everythingWith("external-secret", without("status"), said("Ready", "False", "SecretSyncedError", "could not get secret data from provider", 0)),
			want:     verdict{Resources: secretWaits, Phase: "ExternalSecretCreated"},
		},
		"SecretUnknown": {
			reason:   "Neither delivered nor failed is not delivered.",
			observed: everythingWith("external-secret", said("Ready", "Unknown", "", "", 0)),
			want:     verdict{Resources: secretWaits, Phase: "CredentialProjected"},
		},
		"CredentialNotSynced": {
			reason:   "Ready is no proof while the last change could not be applied.",
			observed: everythingWith("credential", said("Synced", "False", "ReconcileError", "boom", 1)),
			want:     verdict{Resources: credentialWaits, Phase: "CredentialProjected"},
		},
		"DatabaseOfOlderGeneration": {
			reason:   "The conditions' own generation is behind the object's.",
			observed: everythingWith("database", with("metadata.generation", 2), with("status.observedGeneration", 2)),
			want:     verdict{Resources: databaseWaits, Phase: "CredentialProjected"},
		},
		"WholeStatusOfOlderGeneration": {
			reason: "observedGeneration is behind, and the conditions do not say.",
			observed: everythingWith("credential", with("status.observedGeneration", 2), with("metadata.generation", 3),
				with("status.conditions", []any{}), yes(0, "RecordReady", "Ready", "Synced")),
			want: verdict{Resources: credentialWaits, Phase: "CredentialProjected"},
		},
		"LaterStagesMissing": {
			reason:   "What is composed is Ready, but that is not all that the spec asks for.",
			observed: map[string]*structpb.Struct{"database": everything()["database"]},
			want:     verdict{Resources: []string{"credential", "database+"}, Phase: "DatabaseCreated"},
		},
		"SecretImmutable": {
			reason:   "Nobody but a person can make an immutable Secret go.",
			observed: everythingWith("external-secret", said("Ready", "False", "SecretSyncedError", "could not update secret, target is immutable", 0)),
			want:     verdict{Resources: secretWaits, Phase: "Failed"},
		},
		"SecretRetained": {
			reason:   "Ready is no proof when External Secrets found nothing to write.",
			observed: everythingWith("external-secret", said("Ready", "True", "SecretSynced", "secret retained due to DeletionPolicy=Retain", 0)),
			want:     verdict{Resources: secretWaits, Phase: "CredentialProjected"},
		},
		"SecretOfSomebodyElse": {
			reason:   "The Secret belongs to something else.",
			observed: everythingWith("external-secret", without("status"), said("Ready", "False", "SecretSyncedError", "target is owned by another ExternalSecret", 0)),
			want:     verdict{Resources: secretWaits, Phase: "Conflict"},
		},
		"ServerUnreachable": {
			reason: "A server that does not answer heals by itself and undoes nothing.",
			observed: everythingWith("database",
				said("RoleReady", "Unknown", "InstanceUnreachable", "down", 1), said("DatabaseReady", "Unknown", "InstanceUnreachable", "down", 1),
				said("ExtensionsReady", "Unknown", "InstanceUnreachable", "down", 1), said("Ready", "False", "InstanceUnreachable", "down", 1)),
			want: verdict{Resources: databaseWaits, Phase: "CredentialProjected"},
		},
		"DataLost": {
			reason:   "A database that has vanished needs a person.",
			observed: everythingWith("database", said("DatabaseReady", "False", "DataLost", "gone", 1), said("Ready", "False", "DataLost", "gone", 1)),
			want:     verdict{Resources: databaseWaits, Phase: "Failed"},
		},
		"ConflictBeatsFailed": {
			reason:   "A conflict is named first.",
			observed: everythingWith("credential", said("RecordReady", "False", "Conflict", "x", 1), said("Ready", "False", "PermissionDenied", "x", 1)),
			want:     verdict{Resources: credentialWaits, Phase: "Conflict"},
		},
		"DatabaseDeletedByHand": {
			reason:   "The PGDatabase comes back; nothing else goes.",
			observed: everythingWith("database"),
			want:     verdict{Resources: databaseWaits, Phase: "CredentialProjected"},
		},
		"CredentialDeletedByHand": {
			reason:   "The BaoSecret comes back, under the same rules as the first time.",
			observed: everythingWith("credential"),
			want:     verdict{Resources: []string{"credential", "database+", "external-secret+"}, Phase: "CredentialProjected"},
		},
		"SecretDeletedByHand": {
			reason:   "The ExternalSecret comes back.",
			observed: everythingWith("external-secret"),
			want:     verdict{Resources: []string{"credential+", "database+", "external-secret"}, Phase: "DatabaseCreated"},
		},
		"EndpointUnknown": {
			reason:   "Without knowing what to tell applications no credential is made.",
			observed: map[string]*structpb.Struct{"database": observedDatabase(yes(1, "PreflightPassed", "Synced"))},
			want:     verdict{Resources: []string{"database"}, Phase: "Planned"},
		},
		"PreflightOfOlderSpec": {
			reason: "The names that were looked for are not the ones that are wanted.",
			xr:     xr(with("spec.extensions", []any{map[string]any{"name": "hstore"}})),
			observed: map[string]*structpb.Struct{
				"database": observedDatabase(consumer, yes(1, "PreflightPassed", "Synced")),
			},
			want: verdict{Resources: []string{"database"}, Phase: "Planned"},
		},
		"CredentialNotReady": {
			reason:   "Nothing is delivered before its source is settled.",
			observed: map[string]*structpb.Struct{"database": observedDatabase(provisioned), "credential": observedCredential(stored, said("Synced", "False", "ReconcileError", "x", 1))},
			want:     verdict{Resources: []string{"credential", "database"}, Phase: "DatabaseCreated"},
		},
		"CredentialOnly": {
			reason:   "The password is stored, the role does not exist.",
			observed: map[string]*structpb.Struct{"database": observedDatabase(consumer, yes(1, "PreflightPassed", "Synced")), "credential": observedCredential(stored)},
			want:     verdict{Resources: []string{"credential+", "database"}, Phase: "CredentialCreated"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			composite := tc.xr
			if composite == nil {
				composite = xr()
			}
			got := verdictOf(run(t, request(composite, tc.observed)))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nf.RunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOthersPassThrough makes sure that what earlier functions desire is not lost, and that their resources are waited for.
func TestOthersPassThrough(t *testing.T) {
	req := request(xr(), everything())
	req.Desired = &fnv1.State{
		Composite: &fnv1.Resource{Resource: object(map[string]any{"status": map[string]any{"theirs": "x", "phase": "y"}})},
		Resources: map[string]*fnv1.Resource{"theirs": {Resource: object(map[string]any{"kind": "ConfigMap"})}},
	}
	before := proto.CloneOf(req)
	rsp := run(t, req)

	if !proto.Equal(before, req) {
		t.Error("f.RunFunction(...): the request was changed")
	}
	got := rsp.GetDesired()
	if !proto.Equal(got.GetResources()["theirs"], req.GetDesired().GetResources()["theirs"]) {
		t.Error("f.RunFunction(...): a resource of another function was changed")
	}
	status := got.GetComposite().GetResource().GetFields()["status"].GetStructValue().AsMap()
	if diff := cmp.Diff([]any{"x", "Ready"}, []any{status["theirs"], status["phase"]}); diff != "" {
		t.Errorf("f.RunFunction(...): status of two functions: -want, +got:\n%s", diff)
	}
	if r := got.GetComposite().GetReady(); r != fnv1.Ready_READY_UNSPECIFIED {
		t.Errorf("f.RunFunction(...): want readiness left to Crossplane, got %v", r)
	}
}

// TestH47SameBytes runs one request many times. No map order, clock or random number may show.
func TestH47SameBytes(t *testing.T) {
	req := request(xr(), everythingWith("external-secret", without("status")))
	var first string
	for i := range 1000 {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(once(t, req))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = string(b)
		}
		if string(b) != first {
			t.Fatalf("f.RunFunction(...): run %d differs from the first", i)
		}
	}
	if strings.Contains(first, "2026-01-02") {
		t.Error("f.RunFunction(...): a time got into the response")
	}
}
