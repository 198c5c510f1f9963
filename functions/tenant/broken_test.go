package main

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// fatal is the message of a fatal result, or nothing.
func fatal(rsp *fnv1.RunFunctionResponse) string {
	for _, r := range rsp.GetResults() {
		if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
			return r.GetMessage()
		}
	}
	return ""
}

func TestH47BrokenInput(t *testing.T) {
	cases := map[string]struct {
		reason   string
		xr       *structpb.Struct
		observed map[string]*structpb.Struct
		want     string
	}{
		"Nothing": {
			reason: "There is no composite at all.",
			want:   "composite: metadata.name: required",
		},
		"NoName":  {xr: xr(without("metadata.name")), want: "composite: metadata.name: required"},
		"NoUID":   {xr: xr(without("metadata.uid")), want: "composite: metadata.uid: required"},
		"NoScope": {xr: xr(without("metadata.namespace")), want: "composite: metadata.namespace: required, because a composite of cluster scope has no namespace to compose into"},
		"MetadataType": {
			reason: "The path is that of the field, not that of our types.",
			xr:     xr(with("metadata.name", 5)), want: "composite: metadata.name: must be a string, not number",
		},
		"NoSpec":      {xr: xr(without("spec")), want: "composite: spec: required, and must be an object"},
		"SpecType":    {xr: xr(with("spec", "x")), want: "composite: spec: required, and must be an object"},
		"NullSpec":    {xr: xr(with("spec", nil)), want: "composite: spec: required, and must be an object"},
		"FieldType":   {xr: xr(with("spec.database", 5)), want: "composite: spec.database: must be a string, not number"},
		"Fraction":    {xr: xr(with("spec.connectionLimit", 1.5)), want: "composite: spec.connectionLimit: must be an integer of 32 bits, not number 1.5"},
		"TooLarge":    {xr: xr(with("spec.connectionLimit", 1e10)), want: "composite: spec.connectionLimit: must be an integer of 32 bits, not number 10000000000"},
		"NaN":         {xr: xr(with("spec.connectionLimit", math.NaN())), want: "composite: spec.connectionLimit: must be an integer of 32 bits, not string"},
		"ListType":    {xr: xr(with("spec.extensions", "pgcrypto")), want: "composite: spec.extensions: must be an array, not string"},
		"Unknown":     {xr: xr(with("spec.databse", "x"), with("spec.zzz", "x")), want: "composite: spec.databse: unknown field"},
		"DeepUnknown": {xr: xr(with("spec.extensions", []any{map[string]any{"name": "a"}, map[string]any{"nam": "b"}})), want: "composite: spec.extensions[1].nam: unknown field"},
		"LongName":    {xr: xr(with("spec.database", strings.Repeat("ä", 32))), want: "composite: spec.database: must be from 1 to 63 bytes"},
		"EmptyName":   {xr: xr(with("spec.owner", "")), want: "composite: spec.owner: must be from 1 to 63 bytes"},
		"NUL":         {xr: xr(with("spec.owner", "a\x00b")), want: "composite: spec.owner: must not contain NUL"},
		"ReservedOwner": {
			reason: "The default of one field must not break the rules of another.",
			xr:     xr(with("spec.database", "pg_orders")), want: "composite: spec.owner: required, because PostgreSQL keeps role names like this database's for itself",
		},
		"SecretName":   {xr: xr(with("spec.secretName", "No_Name")), want: "composite: spec.secretName: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters"},
		"Policy":       {xr: xr(with("spec.deletionPolicy", "Keep")), want: "composite: spec.deletionPolicy: must be Retain or Delete"},
		"StoreKind":    {xr: xr(with("spec.secretStoreRef.kind", "Vault")), want: "composite: spec.secretStoreRef.kind: must be ClusterSecretStore or SecretStore"},
		"Limit":        {xr: xr(with("spec.connectionLimit", -2)), want: "composite: spec.connectionLimit: must be from -1 to 262143"},
		"NoExtension":  {xr: xr(with("spec.extensions", []any{map[string]any{}})), want: "composite: spec.extensions[0].name: required"},
		"SameTwice":    {xr: xr(with("spec.extensions", []any{map[string]any{"name": "a"}, map[string]any{"name": "a"}})), want: "composite: spec.extensions[1].name: must not repeat"},
		"KindOfChild":  {xr: xr(), observed: everythingWith("database", with("kind", "ConfigMap")), want: `observed resource "database": kind: must be PGDatabase`},
		"EmptyChild":   {xr: xr(), observed: map[string]*structpb.Struct{"credential": nil}, want: `observed resource "credential": kind: must be BaoSecret`},
		"NamelessKid":  {xr: xr(), observed: everythingWith("credential", without("metadata.name")), want: `observed resource "credential": metadata.name: required`},
		"StatusOfKid":  {xr: xr(), observed: everythingWith("database", with("status", []any{1})), want: `observed resource "database": status: must be an object, not array`},
		"VersionOfKid": {xr: xr(), observed: everythingWith("credential", with("status.atProvider.version", "x")), want: `observed resource "credential": status.atProvider.version: must be an integer of 64 bits, not string`},
		"NothingToKeep": {
			reason: "The BaoSecret's data is known neither from the PGDatabase nor from itself.",
			xr:     xr(), observed: map[string]*structpb.Struct{"credential": observedCredential(without("spec.forProvider.data"))},
			want: `observed resource "credential": spec.forProvider.data: required while the database's status does not say what applications connect to`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(tc.xr, tc.observed))
			got := fatal(rsp)
			if diff := cmp.Diff("cannot compose tenant: "+tc.want, got[:min(len(got), len("cannot compose tenant: "+tc.want))]); diff != "" {
				t.Errorf("\n%s\nf.RunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
			if len(rsp.GetDesired().GetResources()) > 0 {
				t.Errorf("f.RunFunction(...): a fatal result desires %d resources", len(rsp.GetDesired().GetResources()))
			}
		})
	}
}

func TestInputIsRefused(t *testing.T) {
	req := request(xr(), nil)
	req.Input = object(map[string]any{"kind": "Input"})
	if diff := cmp.Diff("cannot use input: this function takes none", fatal(run(t, req))); diff != "" {
		t.Errorf("f.RunFunction(...): -want, +got:\n%s", diff)
	}
}
