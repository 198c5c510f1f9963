package main

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/ryuvia/provider-terdut/functions/internal/names"
)

// asking is a contract that has its Secret made.
const asking = `
apiVersion: terdut.ryuvia.com/v1alpha1
kind: SecretContract
metadata: {namespace: shop, name: orders, uid: xr-uid, generation: 4}
spec:
  crossplane: {compositionRef: {name: secretcontracts.terdut.ryuvia.com}}
  secretRef: {name: orders-db}
  requiredKeys:
  - {name: password, required: true, nonEmpty: true, minLength: 16, format: None}
  - {name: host, required: true, nonEmpty: true, format: None}
  policy: {requireWorkloadReference: false}
  provision:
    baoRef: {name: default}
    secretStoreRef: {kind: ClusterSecretStore, name: openbao}
    keys:
    - {name: password, generate: {length: 40, symbols: true}}
    - {name: host, value: db.example.org}
    rotation: {trigger: may}
`

// Names of what is composed, which nobody can guess before the contract exists.
var (
	recordName   = names.Composed("orders", "xr-uid", "credential")
	deliveryName = names.Composed("orders", "xr-uid", "external-secret")
)

const record = `
apiVersion: openbao.terdut.ryuvia.com/v1alpha1
kind: BaoSecret
metadata: {namespace: shop, name: RECORD}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: default}
  forProvider:
    path: contracts/shop/orders
    data:
    - {key: password, generate: {length: 40, symbols: true}}
    - {key: host, value: db.example.org}
    deletionPolicy: Retain
    rotation: {trigger: may}
`

const externalSecret = `
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {namespace: shop, name: DELIVERY}
spec:
  secretStoreRef: {kind: ClusterSecretStore, name: openbao}
  refreshInterval: 1h0m0s
  target: {name: orders-db, creationPolicy: Owner, deletionPolicy: Retain}
  dataFrom:
  - extract: {key: contracts/shop/orders, version: "3", conversionStrategy: Default, decodingStrategy: None, metadataPolicy: None}
`

func wantRecord(t *testing.T, mods ...func(map[string]any)) *structpb.Struct {
	t.Helper()
	return object(t, strings.Replace(record, "RECORD", recordName, 1), mods...)
}

func wantDelivery(t *testing.T, mods ...func(map[string]any)) *structpb.Struct {
	t.Helper()
	return object(t, strings.Replace(externalSecret, "DELIVERY", deliveryName, 1), mods...)
}

// stored is a BaoSecret that has stored the record.
func stored(t *testing.T, mods ...func(map[string]any)) *structpb.Struct {
	t.Helper()
	yes := func(ct string) any {
		return map[string]any{"type": ct, "status": "True", "reason": "Stored", "observedGeneration": 2.0, "lastTransitionTime": "2026-11-30T12:00:00Z"}
	}
	return wantRecord(t, append([]func(map[string]any){set(2.0, "metadata", "generation"), set(map[string]any{
		"atProvider": map[string]any{"version": 3.0, "url": "https://bao.example.org/v1/kv/data/contracts/shop/orders"},
		"conditions": []any{yes("RecordReady"), yes("Ready"), yes("Synced")},
	}, "status")}, mods...)...)
}

// delivered is an ExternalSecret that has written the Secret.
func delivered(t *testing.T, mods ...func(map[string]any)) *structpb.Struct {
	t.Helper()
	return wantDelivery(t, append([]func(map[string]any){set(1.0, "metadata", "generation"), set(map[string]any{
		"refreshTime": "2026-11-30T12:00:00Z", "syncedResourceVersion": "1-0123",
		"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "SecretSynced", "message": "secret synced"}},
	}, "status")}, mods...)...)
}

// failing says what External Secrets could not do.
func failing(message string) func(map[string]any) {
	return set([]any{map[string]any{"type": "Ready", "status": "False", "reason": "SecretSyncedError", "message": message}}, "status", "conditions")
}

// looked is a check of the contract, as it is composed, that has found this.
func looked(t *testing.T, mods ...func(map[string]any)) *structpb.Struct {
	t.Helper()
	spec := object(t, asking).AsMap()["spec"].(map[string]any)
	return object(t, checked, append([]func(map[string]any){
		set(map[string]any{
			"secretRef": spec["secretRef"], "requiredKeys": spec["requiredKeys"], "contractGeneration": 4.0,
			"externalSecretRef": map[string]any{"apiVersion": "external-secrets.io/v1", "name": deliveryName},
			"policy":            map[string]any{"requireExternalSecretReady": true, "requireWorkloadReference": false},
		}, "spec", "forProvider"),
		set("", "status", "atProvider", "checkRequest"),
	}, mods...)...)
}

func free(m map[string]any) {
	verdict("SecretExists", "False", "SecretNotFound", 9)(m)
	verdict("ExternalSecretReady", "False", "ExternalSecretNotFound", 9)(m)
	verdict("Satisfied", "False", "SecretNotFound", 9)(m)
}

// foreign is a Secret that satisfies all rules and that this contract's ExternalSecret does not deliver.
func foreign(m map[string]any) {
	verdict("ExternalSecretReady", "False", "ExternalSecretNotFound", 9)(m)
	verdict("Satisfied", "False", "ExternalSecretNotFound", 9)(m)
}

// composes is the answer of the function when these are observed, by composition resource name.
func composes(t *testing.T, contract *structpb.Struct, observed map[string]*structpb.Struct) *fnv1.RunFunctionResponse {
	t.Helper()
	r := request(contract, nil)
	for name, o := range observed {
		r.Observed.Resources[name] = &fnv1.Resource{Resource: o}
	}
	rsp := run(t, r)
	if len(rsp.GetResults()) > 0 {
		t.Fatalf("results: %v", rsp.GetResults())
	}
	return rsp
}

// said is a condition as its status, reason and message.
func said(rsp *fnv1.RunFunctionResponse, ct string) string {
	for _, c := range rsp.GetConditions() {
		if c.GetType() == ct {
			return strings.TrimSpace(strings.TrimPrefix(c.GetStatus().String(), "STATUS_CONDITION_") + " " + c.GetReason() + " " + c.GetMessage())
		}
	}
	return ""
}
