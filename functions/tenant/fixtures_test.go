package main

import (
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

const (
	uid = "5f0c2f5e-7f5c-4b1e-9d53-0a6f3c1f5b11"

	databaseName   = "orders-c5e875362d"
	credentialName = "orders-e4380f9a02"
	secretName     = "orders-fbe25c59e0"
)

// A mod changes an object of a fixture.
type mod func(obj map[string]any)

// with sets the field at a dotted path.
func with(path string, value any) mod {
	return func(obj map[string]any) {
		fields := strings.Split(path, ".")
		for _, f := range fields[:len(fields)-1] {
			next, ok := obj[f].(map[string]any)
			if !ok {
				next = map[string]any{}
				obj[f] = next
			}
			obj = next
		}
		obj[fields[len(fields)-1]] = value
	}
}

// without removes the field at a dotted path.
func without(path string) mod {
	return func(obj map[string]any) {
		fields := strings.Split(path, ".")
		for _, f := range fields[:len(fields)-1] {
			next, ok := obj[f].(map[string]any)
			if !ok {
				return
			}
			obj = next
		}
		delete(obj, fields[len(fields)-1])
	}
}

// said adds a condition that was set upon a generation.
func said(conditionType, status, reason, message string, generation int) mod {
	return func(obj map[string]any) {
		c := map[string]any{"type": conditionType, "status": status, "reason": reason, "lastTransitionTime": "2026-01-02T03:04:05Z"}
		if message != "" {
			c["message"] = message
		}
		if generation > 0 {
			c["observedGeneration"] = generation
		}
		st, _ := obj["status"].(map[string]any)
		if st == nil {
			st = map[string]any{}
			obj["status"] = st
		}
		var conditions []any
		for _, old := range list(st["conditions"]) {
			if old.(map[string]any)["type"] != conditionType {
				conditions = append(conditions, old)
			}
		}
		st["conditions"] = append(conditions, c)
	}
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// yes sets conditions to True for a generation.
func yes(generation int, types ...string) mod {
	return func(obj map[string]any) {
		for _, t := range types {
			said(t, "True", "Passed", "", generation)(obj)
		}
	}
}

func object(obj map[string]any, mods ...mod) *structpb.Struct {
	for _, m := range mods {
		m(obj)
	}
	s, err := structpb.NewStruct(obj)
	if err != nil {
		panic(err) // A mistake in a fixture.
	}
	return s
}

// xr is the composite as the API server holds it.
func xr(mods ...mod) *structpb.Struct {
	return object(map[string]any{
		"apiVersion": "terdut.ryuvia.com/v1alpha1",
		"kind":       "Tenant",
		"metadata":   map[string]any{"namespace": "shop", "name": "orders", "uid": uid, "generation": 1},
		"spec": map[string]any{
			"crossplane":      map[string]any{"compositionRef": map[string]any{"name": "tenants.terdut.ryuvia.com"}},
			"instanceRef":     map[string]any{"name": "default"},
			"baoRef":          map[string]any{"name": "default"},
			"secretStoreRef":  map[string]any{"kind": "ClusterSecretStore", "name": "openbao"},
			"extensions":      []any{map[string]any{"name": "pgcrypto", "schema": "public"}},
			"connectionLimit": 50,
			"deletionPolicy":  "Retain",
		},
	}, mods...)
}

// wantDatabase is the desired PGDatabase of xr.
func wantDatabase(mods ...mod) *structpb.Struct {
	return object(map[string]any{
		"apiVersion": "postgresql.terdut.ryuvia.com/v1alpha1",
		"kind":       "PGDatabase",
		"metadata": map[string]any{
			"namespace": "shop", "name": databaseName, "annotations": map[string]any{"crossplane.io/external-name": "shop_orders"},
		},
		"spec": map[string]any{
			"providerConfigRef": map[string]any{"kind": "ClusterProviderConfig", "name": "default"},
			"forProvider": map[string]any{
				"database": "shop_orders",
				"owner": map[string]any{
					"name":            "shop_orders",
					"connectionLimit": 50,
					"passwordFrom":    map[string]any{"baoSecretRef": map[string]any{"name": credentialName, "key": "password"}},
				},
				"extensions":           []any{map[string]any{"name": "pgcrypto", "schema": "public"}},
				"deletionPolicy":       "Retain",
				"terminateConnections": true,
				"loginCheck": map[string]any{
					"secretRef": map[string]any{"name": "orders-db", "usernameKey": "username", "passwordKey": "password"},
				},
			},
		},
	}, mods...)
}

// named gives a PGDatabase the name of its database.
func named(database string) mod {
	return func(obj map[string]any) {
		with("spec.forProvider.database", database)(obj)
		with("metadata.annotations", map[string]any{"crossplane.io/external-name": database})(obj)
	}
}

// observedDatabase is wantDatabase as the API server holds it, with the defaults that it adds.
func observedDatabase(mods ...mod) *structpb.Struct {
	return object(wantDatabase().AsMap(), append([]mod{
		with("metadata.generation", 1),
		with("spec.managementPolicies", []any{"*"}),
		with("spec.forProvider.encoding", "UTF8"),
		with("spec.forProvider.template", "template0"),
		with("spec.forProvider.connectionLimit", -1),
	}, mods...)...)
}

// consumer is what applications connect to.
func consumer(obj map[string]any) {
	with("status.atProvider.consumer", map[string]any{
		"host": "db.example.org", "hostaddr": "192.0.2.7", "port": 5432, "sslMode": "verify-full", "caBundle": "PEM {{ .password }}",
	})(obj)
}

const wantURI = "postgresql://{{ uriUser .username }}:{{ uriUser .password }}@{{ .host }}:{{ .port }}/{{ uriPath .dbname }}?sslmode={{ uriQuery .sslmode }}"

func wantData() []any {
	return []any{
		map[string]any{"key": "host", "value": "db.example.org"},
		map[string]any{"key": "hostaddr", "value": "192.0.2.7"},
		map[string]any{"key": "port", "value": "5432"},
		map[string]any{"key": "dbname", "value": "shop_orders"},
		map[string]any{"key": "username", "value": "shop_orders"},
		map[string]any{"key": "password", "generate": map[string]any{"length": 32}},
		map[string]any{"key": "sslmode", "value": "verify-full"},
		map[string]any{"key": "uri", "template": wantURI},
		map[string]any{"key": "ca.crt", "value": "PEM {{ .password }}"},
	}
}

// wantCredential is the desired BaoSecret of xr with consumer.
func wantCredential(mods ...mod) *structpb.Struct {
	return object(map[string]any{
		"apiVersion": "openbao.terdut.ryuvia.com/v1alpha1",
		"kind":       "BaoSecret",
		"metadata":   map[string]any{"namespace": "shop", "name": credentialName},
		"spec": map[string]any{
			"providerConfigRef": map[string]any{"kind": "ClusterProviderConfig", "name": "default"},
			"forProvider":       map[string]any{"path": "tenants/shop/orders", "data": wantData(), "deletionPolicy": "Retain"},
		},
	}, mods...)
}

func observedCredential(mods ...mod) *structpb.Struct {
	return object(wantCredential().AsMap(), append([]mod{
		with("metadata.generation", 1),
		with("spec.managementPolicies", []any{"*"}),
	}, mods...)...)
}

// stored is a record with a version, which the BaoSecret is Ready with.
func stored(obj map[string]any) {
	with("status.atProvider.version", 1)(obj)
	with("status.atProvider.mount", "kv")(obj)
	with("status.atProvider.path", "tenants/shop/orders")(obj)
	with("status.atProvider.url", "https://bao.example.org/v1/kv/data/tenants/shop/orders")(obj)
	with("status.atProvider.deletionPolicy", "Retain")(obj)
	yes(1, "RecordReady", "Ready", "Synced")(obj)
}

// wantExternalSecret is the desired ExternalSecret of xr with stored.
func wantExternalSecret(mods ...mod) *structpb.Struct {
	return object(map[string]any{
		"apiVersion": "external-secrets.io/v1",
		"kind":       "ExternalSecret",
		"metadata":   map[string]any{"namespace": "shop", "name": secretName},
		"spec": map[string]any{
			"secretStoreRef":  map[string]any{"kind": "ClusterSecretStore", "name": "openbao"},
			"refreshInterval": "1h0m0s",
			"target":          map[string]any{"name": "orders-db", "creationPolicy": "Owner", "deletionPolicy": "Retain"},
			"dataFrom": []any{map[string]any{"extract": map[string]any{
				"key": "tenants/shop/orders", "version": "1", "conversionStrategy": "Default", "decodingStrategy": "None", "metadataPolicy": "None",
			}}},
		},
	}, mods...)
}

// pinned is an ExternalSecret of another version of the record.
func pinned(version string) mod {
	return func(obj map[string]any) {
		spec := obj["spec"].(map[string]any)
		spec["dataFrom"].([]any)[0].(map[string]any)["extract"].(map[string]any)["version"] = version
	}
}

// madeAnew is an ExternalSecret of a record that was written at some time.
func madeAnew(obj map[string]any) {
	with("metadata.annotations", map[string]any{"terdut.ryuvia.com/record-created": "2026-11-30T10:00:00Z"})(obj)
}

func observedExternalSecret(mods ...mod) *structpb.Struct {
	return object(wantExternalSecret().AsMap(), append([]mod{with("metadata.generation", 1)}, mods...)...)
}

// projected is what External Secrets says once it wrote the Secret.
func projected(obj map[string]any) {
	with("status.refreshTime", "2026-01-02T03:04:05Z")(obj)
	with("status.syncedResourceVersion", "1-0123456789abcdef")(obj)
	said("Ready", "True", "SecretSynced", "secret synced", 0)(obj)
}

// provisioned is what the provider says once the database exists.
func provisioned(obj map[string]any) {
	consumer(obj)
	with("status.atProvider.databaseOID", 16384)(obj)
	with("status.atProvider.credentialVersion", "openbao/0b5c/1")(obj)
	with("status.atProvider.deletionPolicy", "Retain")(obj)
	yes(1, "PreflightPassed", "RoleReady", "DatabaseReady", "ExtensionsReady", "Synced")(obj)
}

// request with the observed composed resources.
func request(composite *structpb.Struct, observed map[string]*structpb.Struct) *fnv1.RunFunctionRequest {
	req := &fnv1.RunFunctionRequest{
		Meta: &fnv1.RequestMeta{Tag: "tag"},
		Observed: &fnv1.State{
			Composite: &fnv1.Resource{Resource: composite},
			Resources: map[string]*fnv1.Resource{},
		},
	}
	for name, s := range observed {
		req.Observed.Resources[name] = &fnv1.Resource{Resource: s}
	}
	return req
}

// everything is observed, and proven.
func everything() map[string]*structpb.Struct {
	return map[string]*structpb.Struct{
		"database":        observedDatabase(provisioned, yes(1, "LoginVerified", "Ready")),
		"credential":      observedCredential(stored),
		"external-secret": observedExternalSecret(projected),
	}
}
