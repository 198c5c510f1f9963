package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
)

// TestManifests looks at single composed resources where something out of the ordinary is observed or asked for.
func TestManifests(t *testing.T) {
	older := []mod{named("old_db"), with("spec.forProvider.owner.name", "old_owner"),
		with("spec.forProvider.loginCheck.secretRef.name", "old-secret"), with("metadata.name", "old-name")}

	cases := map[string]struct {
		reason   string
		xr       *structpb.Struct
		observed map[string]*structpb.Struct
		resource string
		want     *structpb.Struct
	}{
		"NamesOfTheSpec": {
			reason:   "What the spec says is used as it is.",
			xr:       xr(with("spec.database", "Orders DB"), with("spec.owner", "the-owner"), with("spec.secretName", "creds")),
			resource: "database",
			want: wantDatabase(named("Orders DB"), with("spec.forProvider.owner.name", "the-owner"),
				with("spec.forProvider.loginCheck.secretRef.name", "creds")),
		},
		"OwnerIsNamedLikeItsDatabase": {
			reason:   "The owner's default follows the database's name.",
			xr:       xr(with("spec.database", "orders")),
			resource: "database",
			want:     wantDatabase(named("orders"), with("spec.forProvider.owner.name", "orders")),
		},
		"Defaults": {
			reason:   "A rendered Tenant has not passed an API server.",
			xr:       xr(with("spec", map[string]any{})),
			resource: "database",
			want:     wantDatabase(without("spec.forProvider.extensions")),
		},
		"NoConnections": {
			reason:   "Zero is a limit.",
			xr:       xr(with("spec.connectionLimit", 0)),
			resource: "database",
			want:     wantDatabase(with("spec.forProvider.owner.connectionLimit", 0)),
		},
		"ObservedNamesStay": {
			reason:   "A name by an older rule wins over the rules of today.",
			observed: map[string]*structpb.Struct{"database": observedDatabase(older...)},
			resource: "database",
			want:     wantDatabase(older...),
		},
		"RecordRemembersNames": {
			reason: "With the PGDatabase gone the BaoSecret still has the names.",
			observed: map[string]*structpb.Struct{"credential": observedCredential(with("metadata.name", "old-credential"), with("spec.forProvider.data", []any{
				map[string]any{"key": "dbname", "value": "old_db"}, map[string]any{"key": "username", "value": "old_owner"},
			}))},
			resource: "database",
			want: wantDatabase(named("old_db"), with("spec.forProvider.owner.name", "old_owner"),
				with("spec.forProvider.owner.passwordFrom.baoSecretRef.name", "old-credential")),
		},
		"ObservedPathStays": {
			reason: "The record does not move.",
			observed: map[string]*structpb.Struct{
				"database": observedDatabase(consumer), "credential": observedCredential(with("spec.forProvider.path", "old/path")),
			},
			resource: "credential",
			want:     wantCredential(with("spec.forProvider.path", "old/path")),
		},
		"PathIsRememberedByItsReader": {
			reason: "With the BaoSecret gone the ExternalSecret still has the path.",
			observed: map[string]*structpb.Struct{
				"database": observedDatabase(provisioned), "external-secret": observedExternalSecret(with("spec.dataFrom", []any{
					map[string]any{"extract": map[string]any{"key": "old/path"}},
				})),
			},
			resource: "credential",
			want:     wantCredential(with("spec.forProvider.path", "old/path")),
		},
		"EndpointIsKept": {
			reason: "A PGDatabase without status must not take the endpoint away.",
			observed: map[string]*structpb.Struct{
				"database": observedDatabase(), "credential": observedCredential(),
			},
			resource: "credential",
			want:     wantCredential(),
		},
		"EndpointChanges": {
			reason: "A changed endpoint changes its own values alone; an IPv6 address stands in brackets in the URI.",
			observed: map[string]*structpb.Struct{
				"database":   observedDatabase(with("status.atProvider.consumer", map[string]any{"host": "2001:db8::7", "port": 6432, "sslMode": "require"})),
				"credential": observedCredential(stored),
			},
			resource: "credential",
			want: wantCredential(with("spec.forProvider.data", []any{
				map[string]any{"key": "host", "value": "2001:db8::7"},
				map[string]any{"key": "port", "value": "6432"},
				map[string]any{"key": "dbname", "value": "shop_orders"},
				map[string]any{"key": "username", "value": "shop_orders"},
				map[string]any{"key": "password", "generate": map[string]any{"length": 32}},
				map[string]any{"key": "sslmode", "value": "require"},
				map[string]any{"key": "uri", "template": "postgresql://{{ uriUser .username }}:{{ uriUser .password }}@[{{ .host }}]:{{ .port }}/" +
					"{{ uriPath .dbname }}?sslmode={{ uriQuery .sslmode }}"},
			})),
		},
		"Rotation": {
			reason:   "The trigger is passed on.",
			xr:       xr(with("spec.rotation.trigger", "2026-11")),
			observed: everything(),
			resource: "credential",
			want:     wantCredential(with("spec.forProvider.rotation.trigger", "2026-11")),
		},
		"Delete": {
			reason:   "The policy is passed on.",
			xr:       xr(with("spec.deletionPolicy", "Delete")),
			observed: everything(),
			resource: "credential",
			want:     wantCredential(with("spec.forProvider.deletionPolicy", "Delete")),
		},
		"NewVersion": {
			reason:   "A new version is read at once.",
			observed: everythingWith("credential", with("status.atProvider.version", 2)),
			resource: "external-secret",
			want:     wantExternalSecret(pinned("2")),
		},
		"MadeAnew": {
			reason:   "A record that is made anew may get the number that it had, and is read at once too.",
			observed: everythingWith("credential", with("status.atProvider.createdTime", "2026-11-30T10:00:00Z")),
			resource: "external-secret",
			want:     wantExternalSecret(madeAnew),
		},
		"DeliveredBefore": {
			reason: "It was delivered when nothing was said of a time, and the Secret need not change for that.",
			observed: func() map[string]*structpb.Struct {
				all := everythingWith("credential", with("status.atProvider.createdTime", "2025-11-30T10:00:00Z"))
				all["external-secret"] = object(all["external-secret"].AsMap(), projected)
				return all
			}(),
			resource: "external-secret",
			want:     wantExternalSecret(),
		},
		"MadeAnewIsKept": {
			reason: "A BaoSecret without status says of no other record.",
			observed: func() map[string]*structpb.Struct {
				all := everythingWith("credential", without("status"))
				all["external-secret"] = object(all["external-secret"].AsMap(), madeAnew)
				return all
			}(),
			resource: "external-secret",
			want:     wantExternalSecret(madeAnew),
		},
		"VersionIsKept": {
			reason:   "A BaoSecret without status says of no other version.",
			observed: everythingWith("credential", without("status")),
			resource: "external-secret",
			want:     wantExternalSecret(),
		},
		"SecretNameIsRememberedByItsWriter": {
			reason:   "With the PGDatabase gone the ExternalSecret still has the Secret's name.",
			observed: map[string]*structpb.Struct{"external-secret": observedExternalSecret(with("spec.target.name", "old-secret"))},
			resource: "database",
			want:     wantDatabase(with("spec.forProvider.loginCheck.secretRef.name", "old-secret")),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			composite := tc.xr
			if composite == nil {
				composite = xr()
			}
			rsp := run(t, request(composite, tc.observed))
			got := rsp.GetDesired().GetResources()[tc.resource].GetResource()
			if diff := cmp.Diff(tc.want, got, protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nf.RunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStatusFields(t *testing.T) {
	cases := map[string]struct {
		reason   string
		observed map[string]*structpb.Struct
		want     map[string]any
	}{
		"EndpointFromTheRecord": {
			reason:   "What applications were told stays in status while the PGDatabase is being created again.",
			observed: everythingWith("database"),
			want:     map[string]any{"host": "db.example.org", "hostaddr": "192.0.2.7", "port": 5432.0, "deletionPolicy": "Retain"},
		},
		"PolicyNotArrived": {
			reason:   "Delete is in force only when everything that holds data was told so.",
			observed: everythingWith("credential", with("status.atProvider.deletionPolicy", "Delete")),
			want:     map[string]any{"host": "db.example.org", "hostaddr": "192.0.2.7", "port": 5432.0, "deletionPolicy": "Retain"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(xr(), tc.observed))
			status := rsp.GetDesired().GetComposite().GetResource().AsMap()["status"].(map[string]any)
			got := map[string]any{}
			for k := range tc.want {
				got[k] = status[k]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nf.RunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
