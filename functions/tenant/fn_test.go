package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/ryuvia/provider-terdut/functions/internal/claimtest"
)

func newFunction() *Function { return &Function{log: logging.NewNopLogger(), now: time.Now} }

// run the function. It must answer the same when the manifest is that of a claim.
func run(t testing.TB, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()
	rsp := once(t, req)
	claimtest.SameAnswer(t, newFunction(), req, rsp)
	return rsp
}

// once runs the function, where it is run so often that time matters.
func once(t testing.TB, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()
	rsp, err := newFunction().RunFunction(t.Context(), req)
	if err != nil {
		t.Fatalf("f.RunFunction(...): unexpected error: %v", err)
	}
	return rsp
}

// A step is what a response says, in a form that is short to write down.
type step struct {
	resources  map[string]*structpb.Struct
	ready      []string // Composition resource names.
	xrReady    fnv1.Ready
	status     map[string]any
	conditions []string // "Type=Status Reason: message"
	ttl        time.Duration
}

// response that a step stands for, whole.
func (s step) response() *fnv1.RunFunctionResponse {
	status, err := structpb.NewStruct(map[string]any{"status": s.status})
	if err != nil {
		panic(err) // A mistake in a test case.
	}
	rsp := &fnv1.RunFunctionResponse{
		Meta: &fnv1.ResponseMeta{Tag: "tag", Ttl: durationpb.New(s.ttl)},
		Desired: &fnv1.State{
			Composite: &fnv1.Resource{Resource: status, Ready: s.xrReady},
			Resources: map[string]*fnv1.Resource{},
		},
	}
	for name, r := range s.resources {
		rsp.Desired.Resources[name] = &fnv1.Resource{Resource: r, Ready: fnv1.Ready_READY_FALSE}
	}
	for _, name := range s.ready {
		rsp.Desired.Resources[name].Ready = fnv1.Ready_READY_TRUE
	}
	for _, text := range s.conditions {
		head, message, _ := strings.Cut(text, ": ")
		fields := strings.FieldsFunc(head, func(r rune) bool { return r == '=' || r == ' ' })
		c := &fnv1.Condition{
			Type:   fields[0],
			Status: map[string]fnv1.Status{"True": fnv1.Status_STATUS_CONDITION_TRUE, "False": fnv1.Status_STATUS_CONDITION_FALSE, "Unknown": fnv1.Status_STATUS_CONDITION_UNKNOWN}[fields[1]],
			Reason: fields[2],
			Target: fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
		}
		if message != "" {
			c.Message = &message
		}
		rsp.Conditions = append(rsp.Conditions, c)
	}
	return rsp
}

// status of the composite in a phase, with further fields as pairs.
func status(phase string, fields ...any) map[string]any {
	s := map[string]any{
		"phase": phase, "database": "shop_orders", "owner": "shop_orders", "secretRef": map[string]any{"name": "orders-db"}, "observedGeneration": 1,
	}
	for i := 0; i < len(fields); i += 2 {
		s[fields[i].(string)] = fields[i+1]
	}
	return s
}

// endpoint are the fields of status once the consumer endpoint is known.
var endpoint = []any{"host", "db.example.org", "hostaddr", "192.0.2.7", "port", 5432}

// complete are the fields of status once everything exists.
var complete = append([]any{"kvURL", "https://bao.example.org/v1/kv/data/tenants/shop/orders", "deletionPolicy", "Retain"}, endpoint...)

const (
	noCredential = "CredentialReady=False Waiting: The credential is stored once the PGDatabase has found that nothing stands in the way."
	noDatabase   = "DatabaseReady=False Waiting: Role, database and extensions are created once the credential is stored."
	sharedAccess = "AccessReady=True Available"
	noAccess     = "AccessReady=False Waiting: How the record is read is the admin's default, which is known once the credential is stored."
	noSecret     = "SecretProjected=False Waiting: The Secret is delivered once database, credential and access are ready."
	noLogin      = "LoginVerified=False Waiting: The login is verified once the Secret is delivered."
)

func unsaid(conditionType, what string) string {
	return conditionType + "=False Waiting: " + what + " with its current spec yet."
}

func TestRunFunction(t *testing.T) {
	cases := map[string]struct {
		reason string
		req    *fnv1.RunFunctionRequest
		want   step
	}{
		"FirstPass": {
			reason: "Only the PGDatabase is composed: it looks whether the names are free.",
			req:    request(xr(), nil),
			want: step{
				resources:  map[string]*structpb.Struct{"database": wantDatabase()},
				xrReady:    fnv1.Ready_READY_FALSE,
				status:     status("Planned"),
				conditions: []string{noCredential, noDatabase, noAccess, noSecret, noLogin},
				ttl:        5 * time.Second,
			},
		},
		"WithoutStatus": {
			reason: "A PGDatabase that was not reconciled yet says nothing.",
			req:    request(xr(), map[string]*structpb.Struct{"database": observedDatabase()}),
			want: step{
				resources: map[string]*structpb.Struct{"database": wantDatabase()},
				xrReady:   fnv1.Ready_READY_FALSE,
				status:    status("Planned"),
				conditions: []string{
					noCredential, noDatabase, noAccess, noSecret, noLogin,
				},
				ttl: 5 * time.Second,
			},
		},
		"PreflightPassed": {
			reason: "The names are free and the endpoint is known, so the credential may be made.",
			req: request(xr(), map[string]*structpb.Struct{"database": observedDatabase(consumer, yes(1, "PreflightPassed", "Synced"),
				said("RoleReady", "False", "CredentialNotReady", "BaoSecret is missing.", 1))}),
			want: step{
				resources: map[string]*structpb.Struct{"database": wantDatabase(), "credential": wantCredential()},
				xrReady:   fnv1.Ready_READY_FALSE,
				status:    status("Planned", endpoint...),
				conditions: []string{
					noCredential, noDatabase, noAccess, noSecret, noLogin,
				},
				ttl: 5 * time.Second,
			},
		},
		"CredentialStored": {
			reason: "The credential exists, the database does not yet.",
			req: request(xr(), map[string]*structpb.Struct{
				"database": observedDatabase(consumer, yes(1, "PreflightPassed", "RoleReady", "Synced"),
					said("DatabaseReady", "False", "Pending", "Creating.", 1)),
				"credential": observedCredential(stored),
			}),
			want: step{
				resources: map[string]*structpb.Struct{"database": wantDatabase(), "credential": wantCredential()},
				ready:     []string{"credential"},
				xrReady:   fnv1.Ready_READY_FALSE,
				status:    status("RoleCreated", complete...),
				conditions: []string{
					"CredentialReady=True Available", noDatabase, sharedAccess, noSecret, noLogin,
				},
				ttl: 5 * time.Second,
			},
		},
		"Provisioned": {
			reason: "The database exists, so its credential may be delivered.",
			req: request(xr(), map[string]*structpb.Struct{
				"database":   observedDatabase(provisioned),
				"credential": observedCredential(stored),
			}),
			want: step{
				resources: map[string]*structpb.Struct{
					"database": wantDatabase(), "credential": wantCredential(), "external-secret": wantExternalSecret(),
				},
				ready:   []string{"credential"},
				xrReady: fnv1.Ready_READY_FALSE,
				status:  status("DatabaseCreated", complete...),
				conditions: []string{
					"CredentialReady=True Available", "DatabaseReady=True Available", sharedAccess,
					noSecret, noLogin,
				},
				ttl: 5 * time.Second,
			},
		},
		"Projected": {
			reason: "The Secret is delivered, but nobody has logged in with it.",
			req: request(xr(), map[string]*structpb.Struct{
				"database":        observedDatabase(provisioned, said("LoginVerified", "Unknown", "Pending", "Not tried yet.", 1)),
				"credential":      observedCredential(stored),
				"external-secret": observedExternalSecret(projected),
			}),
			want: step{
				resources: map[string]*structpb.Struct{
					"database": wantDatabase(), "credential": wantCredential(), "external-secret": wantExternalSecret(),
				},
				ready:   []string{"credential", "external-secret"},
				xrReady: fnv1.Ready_READY_FALSE,
				status:  status("CredentialProjected", complete...),
				conditions: []string{
					"CredentialReady=True Available", "DatabaseReady=True Available", sharedAccess, "SecretProjected=True Available",
					noLogin,
				},
				ttl: 5 * time.Second,
			},
		},
		"Ready": {
			reason: "Everything is proven.",
			req:    request(xr(), everything()),
			want: step{
				resources: map[string]*structpb.Struct{
					"database": wantDatabase(), "credential": wantCredential(), "external-secret": wantExternalSecret(),
				},
				ready:   []string{"database", "credential", "external-secret"},
				xrReady: fnv1.Ready_READY_TRUE,
				status:  status("Ready", complete...),
				conditions: []string{
					"CredentialReady=True Available", "DatabaseReady=True Available", sharedAccess, "SecretProjected=True Available", "LoginVerified=True Available",
				},
				ttl: 5 * time.Minute,
			},
		},
		"Conflict": {
			reason: "A name that is taken ends before a password exists.",
			req: request(xr(), map[string]*structpb.Struct{
				"database": observedDatabase(consumer, said("PreflightPassed", "False", "Conflict", "Role is taken.", 1)),
			}),
			want: step{
				resources:  map[string]*structpb.Struct{"database": wantDatabase()},
				xrReady:    fnv1.Ready_READY_FALSE,
				status:     status("Conflict", endpoint...),
				conditions: []string{noCredential, "DatabaseReady=False Conflict: Role is taken.", noAccess, noSecret, noLogin},
				ttl:        5 * time.Second,
			},
		},
		"OlderGeneration": {
			reason: "An answer to an older question does not count, but what was created stays.",
			req: request(xr(with("spec.connectionLimit", 7), with("metadata.generation", 2)), map[string]*structpb.Struct{
				"database": observedDatabase(provisioned, yes(1, "LoginVerified", "Ready"),
					with("metadata.generation", 2), with("spec.forProvider.owner.connectionLimit", 7)),
				"credential":      observedCredential(stored),
				"external-secret": observedExternalSecret(projected),
			}),
			want: step{
				resources: map[string]*structpb.Struct{
					"database":   wantDatabase(with("spec.forProvider.owner.connectionLimit", 7)),
					"credential": wantCredential(), "external-secret": wantExternalSecret(),
				},
				ready:   []string{"credential", "external-secret"},
				xrReady: fnv1.Ready_READY_FALSE,
				status:  status("CredentialProjected", append([]any{"observedGeneration", 2}, complete...)...),
				conditions: []string{
					"CredentialReady=True Available",
					unsaid("DatabaseReady", `PGDatabase "`+databaseName+`" has not said whether it is PreflightPassed`), sharedAccess,
					"SecretProjected=True Available",
					unsaid("LoginVerified", `PGDatabase "`+databaseName+`" has not said whether it is LoginVerified`),
				},
				ttl: 5 * time.Second,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want.response(), run(t, tc.req), protocmp.Transform()); diff != "" {
				t.Errorf("\n%s\nf.RunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
