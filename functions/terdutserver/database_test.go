package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/utils/ptr"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

func found(objects ...*structpb.Struct) *fnv1.Resources {
	r := &fnv1.Resources{}
	for _, o := range objects {
		r.Items = append(r.Items, &fnv1.Resource{Resource: o})
	}
	return r
}

// with answers to further requirements.
func answered(answers map[string]*fnv1.Resources, name string, r *fnv1.Resources) map[string]*fnv1.Resources {
	answers[name] = r
	return answers
}

// readyTenant is a Tenant as its composition leaves it.
func readyTenant(mods ...mod) *structpb.Struct {
	return object(map[string]any{
		"apiVersion": "terdut.ryuvia.com/v1alpha1", "kind": "Tenant",
		"metadata": map[string]any{"namespace": "ops", "name": "db", "uid": "tenant-uid", "generation": 2},
		"status": map[string]any{
			"phase": "Ready", "observedGeneration": 2, "host": "db.example.org", "hostaddr": "192.0.2.7", "port": 5433,
			"database": "ops db", "owner": "ops@db", "secretRef": map[string]any{"name": "db-db"},
			"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Available", "lastTransitionTime": "2026-01-02T03:04:05Z"}},
		},
	}, mods...)
}

// claimedTenant is readyTenant in the other flavour: a claim, with a composite behind it that composes its PGDatabase.
func claimedTenant() *structpb.Struct {
	return readyTenant(with("spec.resourceRef", map[string]any{"apiVersion": "terdut.ryuvia.com/v1alpha1", "kind": "XTenant", "name": "db-x7k2p"}))
}

// controlledBy changes the kind and name of the controller of tenantDatabase.
func controlledBy(kind, name string) mod {
	return func(obj map[string]any) {
		ref := obj["metadata"].(map[string]any)["ownerReferences"].([]any)[0].(map[string]any)
		ref["kind"], ref["name"] = kind, name
	}
}

// tenantDatabase is the PGDatabase of a Tenant.
func tenantDatabase(owner, ca string) *structpb.Struct {
	consumer := map[string]any{"host": "db.example.org", "port": 5433, "sslMode": "verify-full"}
	if ca != "" {
		consumer["caBundle"] = ca
	}
	return object(map[string]any{
		"apiVersion": "postgresql.terdut.ryuvia.com/v1alpha1", "kind": "PGDatabase",
		"metadata": map[string]any{
			"namespace": "ops", "name": "db-1", "ownerReferences": []any{map[string]any{"uid": owner, "controller": true, "kind": "Tenant", "name": "db", "apiVersion": "v"}},
		},
		"status": map[string]any{"atProvider": map[string]any{"consumer": consumer}},
	})
}

func zalando(mods ...mod) *structpb.Struct {
	return object(map[string]any{
		"apiVersion": "acid.zalan.do/v1", "kind": "postgresql", "metadata": map[string]any{"namespace": "ops", "name": "pg"},
		"spec":   map[string]any{"databases": map[string]any{"oncall": "on_call"}},
		"status": map[string]any{"PostgresClusterStatus": "Running"},
	}, mods...)
}

func cnpg(mods ...mod) *structpb.Struct {
	return object(map[string]any{
		"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "metadata": map[string]any{"namespace": "ops", "name": "pg"},
		"spec":   map[string]any{"instances": 1},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "ClusterIsReady", "lastTransitionTime": "2026-01-02T03:04:05Z"}}},
	}, mods...)
}

// told is what the replicas are told of their database.
type told struct{ DSN, Secret, Key, RootCert, CASecret string }

// toldBy a desired Deployment.
func toldBy(d *structpb.Struct) *told {
	if d == nil {
		return nil
	}
	out := &told{}
	pod := d.AsMap()["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	for _, e := range pod["containers"].([]any)[0].(map[string]any)["env"].([]any) {
		v := e.(map[string]any)
		switch v["name"] {
		case "TERDUT_DATABASE_DSN":
			out.DSN, _ = v["value"].(string)
		case "PGSSLROOTCERT":
			out.RootCert, _ = v["value"].(string)
		case "PGPASSWORD":
			ref := v["valueFrom"].(map[string]any)["secretKeyRef"].(map[string]any)
			out.Secret, out.Key = ref["name"].(string), ref["key"].(string)
		}
	}
	for _, v := range pod["volumes"].([]any) {
		if s, ok := v.(map[string]any)["secret"].(map[string]any); ok {
			out.CASecret = s["secretName"].(string)
		}
	}
	return out
}

func TestDatabase(t *testing.T) {
	tenant := with("spec.database", map[string]any{"tenantRef": map[string]any{"name": "db"}})
	cluster := func(fields map[string]any) mod {
		return with("spec.database", map[string]any{"postgresClusterRef": fields})
	}
	both := func(t, d *structpb.Struct) map[string]*fnv1.Resources {
		return answered(answered(allFree(), "database-tenant", found(t)), "database-tenant-database", found(d))
	}
	const tenantDSN = "postgres://ops%40db@db.example.org:5433/ops%20db?sslmode=verify-full"

	cases := map[string]struct {
		reason   string
		database mod
		required map[string]*fnv1.Resources
		want     *told  // Nil when the server is not started.
		says     string // DatabaseReady.
	}{
		"DSN": {
			reason: "It is used as it is.", database: func(map[string]any) {}, required: allFree(),
			want: &told{DSN: dsn, Secret: "db", Key: "password"}, says: "Available",
		},
		"DSNWithoutPassword": {
			reason: "A server that trusts, or a certificate.", database: with("spec.database", map[string]any{"dsn": dsn}), required: allFree(),
			want: &told{DSN: dsn}, says: "Available",
		},
		"TenantNotAsked": {reason: "Nothing is known of the Tenant yet.", database: tenant, required: allFree(), says: "Waiting"},
		"TenantMissing":  {reason: "It does not exist.", database: tenant, required: answered(allFree(), "database-tenant", found()), says: "NotFound"},
		"TenantNotReady": {
			reason: "It has no database yet.", database: tenant, says: "Waiting",
			required: both(readyTenant(with("status.conditions", []any{})), tenantDatabase("tenant-uid", "")),
		},
		"TenantChanged": {
			reason: "Its answer is about an older spec.", database: tenant, says: "Waiting",
			required: both(readyTenant(with("metadata.generation", 3)), tenantDatabase("tenant-uid", "")),
		},
		"TenantReady": {
			reason: "Its status says everything but how it is verified.", database: tenant, says: "Available",
			required: both(readyTenant(), tenantDatabase("tenant-uid", "")), want: &told{DSN: tenantDSN, Secret: "db-db", Key: "password"},
		},
		"TenantWithCA": {
			reason: "The certificates are in the Tenant's Secret.", database: tenant, says: "Available",
			required: both(readyTenant(), tenantDatabase("tenant-uid", "PEM")),
			want:     &told{DSN: tenantDSN, Secret: "db-db", Key: "password", RootCert: "/etc/terdut-server/database/ca.crt", CASecret: "db-db"},
		},
		"TenantClaim": {
			reason: "The database is composed by what stands behind the Tenant.", database: tenant, says: "Available",
			required: both(claimedTenant(), object(tenantDatabase("composite-uid", "").AsMap(), controlledBy("XTenant", "db-x7k2p"))),
			want:     &told{DSN: tenantDSN, Secret: "db-db", Key: "password"},
		},
		"TenantClaimForged": {
			reason: "Another composite's database has nothing to say.", database: tenant, says: "Waiting",
			required: both(claimedTenant(), object(tenantDatabase("tenant-uid", "").AsMap(), controlledBy("XTenant", "db-other"))),
		},
		"TenantForged": {
			reason: "Anybody may set the label that the database is found by.", database: tenant, says: "Waiting",
			required: both(readyTenant(), tenantDatabase("another", "PEM")),
		},
		"Zalando": {
			reason: "The only database with its owner, and the Secret that the operator makes.", database: cluster(map[string]any{"name": "pg"}),
			required: answered(allFree(), "database-cluster", found(zalando())), says: "Available",
			want: &told{DSN: "postgres://on_call@pg.ops.svc:5432/oncall?sslmode=require", Secret: "on-call.pg.credentials.postgresql.acid.zalan.do", Key: "password"},
		},
		"ZalandoStarting": {
			reason: "It takes no connections.", database: cluster(map[string]any{"name": "pg"}), says: "Waiting",
			required: answered(allFree(), "database-cluster", found(zalando(with("status.PostgresClusterStatus", "Creating")))),
		},
		"ZalandoAmbiguous": {
			reason: "Which of two is meant is not guessed.", database: cluster(map[string]any{"name": "pg"}), says: "Ambiguous",
			required: answered(allFree(), "database-cluster", found(zalando(with("spec.databases", map[string]any{"a": "x", "b": "y"})))),
		},
		"ZalandoChosen": {
			reason: "The spec says which, and another host and Secret.", says: "Available",
			database: cluster(map[string]any{
				"name": "pg", "database": "b", "host": "pooler.ops.svc", "passwordSecretRef": map[string]any{"name": "own", "key": "pw"},
			}),
			required: answered(allFree(), "database-cluster", found(zalando(with("spec.databases", map[string]any{"a": "x", "b": "y"})))),
			want:     &told{DSN: "postgres://y@pooler.ops.svc:5432/b?sslmode=require", Secret: "own", Key: "pw"},
		},
		"ClusterMissing": {reason: "It does not exist.", database: cluster(map[string]any{"name": "pg"}), required: answered(allFree(), "database-cluster", found()), says: "NotFound"},
		"CloudNativePG": {
			reason: "The operator's defaults.", database: cluster(map[string]any{"name": "pg", "kind": "Cluster"}), says: "Available",
			required: answered(allFree(), "database-cluster", found(cnpg())),
			want:     &told{DSN: "postgres://app@pg-rw.ops.svc:5432/app?sslmode=require", Secret: "pg-app", Key: "password"},
		},
		"CloudNativePGNamed": {
			reason: "What the cluster was made with.", database: cluster(map[string]any{"name": "pg", "kind": "Cluster"}), says: "Available",
			required: answered(allFree(), "database-cluster", found(cnpg(with("spec.bootstrap.initdb", map[string]any{
				"database": "oncall", "owner": "oc", "secret": map[string]any{"name": "oc-login"},
			})))),
			want: &told{DSN: "postgres://oc@pg-rw.ops.svc:5432/oncall?sslmode=require", Secret: "oc-login", Key: "password"},
		},
		"CloudNativePGStarting": {
			reason: "It takes no connections.", database: cluster(map[string]any{"name": "pg", "kind": "Cluster"}), says: "Waiting",
			required: answered(allFree(), "database-cluster", found(cnpg(without("status")))),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := map[string]*structpb.Struct{}
			if w := tc.want; w != nil && w.Secret != "" {
				o[credential] = observed(checkOf(w.Secret, w.Key), seen(w.Secret))
			}
			rsp := run(t, request(xr(tc.database), o, tc.required))
			if msg := fatal(rsp); msg != "" {
				t.Fatal(msg)
			}
			if diff := cmp.Diff(tc.want, toldBy(rsp.GetDesired().GetResources()["deployment"].GetResource())); diff != "" {
				t.Errorf("\n%s\nthe replicas' database: -want, +got:\n%s", tc.reason, diff)
			}
			if c := rsp.GetConditions()[0]; c.GetType() != "DatabaseReady" || c.GetReason() != tc.says {
				t.Errorf("\n%s\nDatabaseReady: want %s, got %v", tc.reason, tc.says, c)
			}
		})
	}
}

// TestDatabaseLater lets a database that the server runs on say that it is not ready, or not be known any more: the replicas keep what they
// were told, and everything stays composed.
func TestDatabaseLater(t *testing.T) {
	tenant := with("spec.database", map[string]any{"tenantRef": map[string]any{"name": "db"}})
	check := observed(checkOf("db-db", "password"), seen("db-db"))
	first := run(t, request(xr(tenant), map[string]*structpb.Struct{credential: check}, answered(answered(allFree(), "database-tenant", found(readyTenant())),
		"database-tenant-database", found(tenantDatabase("tenant-uid", "PEM")))))
	running := first.GetDesired().GetResources()["deployment"].GetResource()
	e := everything()
	e["deployment"], e[credential] = observed(running, rolledOut), check

	for name, required := range map[string]map[string]*fnv1.Resources{
		"NotAsked": nil,
		"Missing":  {"database-tenant": found()},
		"NotReady": {"database-tenant": found(readyTenant(with("status.observedGeneration", 1)))},
		"Unknown":  {"database-tenant": found(readyTenant()), "database-tenant-database": found()},
	} {
		t.Run(name, func(t *testing.T) {
			rsp := run(t, request(xr(tenant), e, required))
			if diff := cmp.Diff(object(running.AsMap(), owner("b1")), rsp.GetDesired().GetResources()["deployment"].GetResource(), protocmp.Transform()); diff != "" {
				t.Errorf("the Deployment changes: -want, +got:\n%s", diff)
			}
			if got := len(rsp.GetDesired().GetResources()); got != len(e) {
				t.Errorf("%d resources are desired, want all %d", got, len(e))
			}
			if rsp.GetDesired().GetComposite().GetReady() != fnv1.Ready_READY_FALSE {
				t.Error("the TerdutServer is ready on a database that is not")
			}
		})
	}
}

// TestH45Requirements makes sure that what is not referred to is not asked for, that a Secret never is, and that requirements settle.
func TestH45Requirements(t *testing.T) {
	name := func(version, kind, name string) *fnv1.ResourceSelector {
		return &fnv1.ResourceSelector{ApiVersion: version, Kind: kind, Namespace: ptr.To("ops"), Match: &fnv1.ResourceSelector_MatchName{MatchName: name}}
	}
	tenant := name("terdut.ryuvia.com/v1alpha1", "Tenant", "db")
	inside := &fnv1.ResourceSelector{
		ApiVersion: "postgresql.terdut.ryuvia.com/v1alpha1", Kind: "PGDatabase", Namespace: ptr.To("ops"),
		Match: &fnv1.ResourceSelector_MatchLabels{MatchLabels: &fnv1.MatchLabels{Labels: map[string]string{"crossplane.io/composite": "db"}}},
	}
	behind := proto.CloneOf(inside)
	behind.Match = &fnv1.ResourceSelector_MatchLabels{MatchLabels: &fnv1.MatchLabels{Labels: map[string]string{"crossplane.io/composite": "db-x7k2p"}}}
	tenantRef := with("spec.database", map[string]any{"tenantRef": map[string]any{"name": "db"}})
	cases := map[string]struct {
		database mod
		required map[string]*fnv1.Resources
		want     map[string]*fnv1.ResourceSelector
	}{
		"DSN":         {database: func(map[string]any) {}},
		"Tenant":      {database: tenantRef, want: map[string]*fnv1.ResourceSelector{"database-tenant": tenant}},
		"TenantReady": {database: tenantRef, required: map[string]*fnv1.Resources{"database-tenant": found(readyTenant())}, want: map[string]*fnv1.ResourceSelector{"database-tenant": tenant, "database-tenant-database": inside}},
		"TenantClaim": {
			database: tenantRef, required: map[string]*fnv1.Resources{"database-tenant": found(claimedTenant())},
			want: map[string]*fnv1.ResourceSelector{"database-tenant": tenant, "database-tenant-database": behind},
		},
		"Settled": {
			database: tenantRef, required: map[string]*fnv1.Resources{"database-tenant": found(readyTenant()), "database-tenant-database": found()},
			want: map[string]*fnv1.ResourceSelector{"database-tenant": tenant, "database-tenant-database": inside},
		},
		"Zalando": {
			database: with("spec.database", map[string]any{"postgresClusterRef": map[string]any{"name": "pg"}}),
			want:     map[string]*fnv1.ResourceSelector{"database-cluster": name("acid.zalan.do/v1", "postgresql", "pg")},
		},
		"CloudNativePG": {
			database: with("spec.database", map[string]any{"postgresClusterRef": map[string]any{"name": "pg", "kind": "Cluster"}}),
			want:     map[string]*fnv1.ResourceSelector{"database-cluster": name("postgresql.cnpg.io/v1", "Cluster", "pg")},
		},
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			got := run(t, request(xr(tc.database), everything(), tc.required)).GetRequirements().GetResources()
			if diff := cmp.Diff(tc.want, got, protocmp.Transform()); diff != "" {
				t.Errorf("requirements: -want, +got:\n%s", diff)
			}
		})
	}
}
