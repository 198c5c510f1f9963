package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

const storeAdvice = `It tries again. If that does not help, the events of ExternalSecret "` + secretName + `" say why: the store must be Ready and ` +
	`read from the server, namespace and mount of ClusterProviderConfig "default", with a role that may read this path.`

func TestSecretProjectedReasons(t *testing.T) {
	cases := map[string]struct {
		reason   string
		observed map[string]*structpb.Struct
		want     string
	}{
		"CannotRead": {
			reason:   "One message stands for all causes, so the next step is said and nobody is blamed.",
			observed: everythingWith("external-secret", without("status"), said("Ready", "False", "SecretSyncedError", "could not get secret data from provider", 0)),
			want:     `SyncFailed ClusterSecretStore "openbao" cannot read the record "tenants/shop/orders" now. ` + storeAdvice,
		},
		"ReasonUnsaid": {
			reason:   "The message decides, a reason is not needed.",
			observed: everythingWith("external-secret", said("Ready", "False", "", "could not get secret data from provider", 0)),
			want:     `SyncFailed ClusterSecretStore "openbao" cannot read the record "tenants/shop/orders" now. ` + storeAdvice,
		},
		"BothDown": {
			reason: "The same is said whatever is known of the record.",
			observed: map[string]*structpb.Struct{
				"database":        everything()["database"],
				"credential":      object(everything()["credential"].AsMap(), said("Ready", "False", "Unreachable", "down", 1)),
				"external-secret": observedExternalSecret(said("Ready", "False", "SecretSyncedError", "could not get secret data from provider", 0)),
			},
			want: `SyncFailed ClusterSecretStore "openbao" cannot read the record "tenants/shop/orders" now. ` + storeAdvice,
		},
		"Empty": {
			reason:   "External Secrets calls it a success when there was nothing to write.",
			observed: everythingWith("external-secret", said("Ready", "True", "SecretSynced", "secret retained due to DeletionPolicy=Retain", 0)),
			want:     `SyncFailed ClusterSecretStore "openbao" found the record "tenants/shop/orders" empty. ` + storeAdvice,
		},
		"CannotWrite": {
			reason:   "What External Secrets says is passed on.",
			observed: everythingWith("external-secret", said("Ready", "False", "SecretSyncedError", "could not update secret", 0)),
			want:     `SyncFailed ExternalSecret "` + secretName + `": could not update secret. It tries again; its events say why.`,
		},
		"Immutable": {
			reason:   "The message says what helps.",
			observed: everythingWith("external-secret", said("Ready", "False", "SecretSyncedError", "could not update secret, target is immutable", 0)),
			want:     `SecretImmutable Secret "orders-db" is immutable: delete it, and External Secrets makes it anew.`,
		},
		"Owned": {
			reason:   "Somebody else's Secret is a conflict.",
			observed: everythingWith("external-secret", without("status"), said("Ready", "False", "SecretSyncedError", "failed to take ownership of target secret", 0)),
			want:     `Conflict Secret "orders-db" belongs to something else: set another secretName in a new Tenant, or remove the other owner.`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(xr(), tc.observed))
			i := slices.IndexFunc(rsp.GetConditions(), func(c *fnv1.Condition) bool { return c.GetType() == "SecretProjected" })
			got := rsp.GetConditions()[i].GetReason() + " " + rsp.GetConditions()[i].GetMessage()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nf.RunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDatabaseWithoutCredential holds that a database which is there is not said to be still to come when its credential cannot be read.
func TestDatabaseWithoutCredential(t *testing.T) {
	reads := said("RoleReady", "False", "CredentialNotReady", "BaoSecret is sealed.", 1)
	for name, tc := range map[string]struct {
		database *structpb.Struct
		want     string
	}{
		"There": {observedDatabase(provisioned, reads), "STATUS_CONDITION_UNKNOWN CredentialNotReady"},
		"New":   {observedDatabase(consumer, yes(1, "PreflightPassed", "Synced"), reads), "STATUS_CONDITION_FALSE Waiting"},
	} {
		t.Run(name, func(t *testing.T) {
			all := everything()
			all["database"] = tc.database
			for _, c := range run(t, request(xr(), all)).GetConditions() {
				if got := c.GetStatus().String() + " " + c.GetReason(); c.GetType() == "DatabaseReady" && got != tc.want {
					t.Errorf("DatabaseReady: got %s, want %s", got, tc.want)
				}
			}
		})
	}
}
