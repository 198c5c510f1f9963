package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/utils/ptr"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/ryuvia/provider-terdut/functions/internal/claimtest"
)

func newFunction() *Function {
	return &Function{log: logging.NewNopLogger(), now: func() time.Time { return now }}
}

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

// fatal is the message of a fatal result, or nothing.
func fatal(rsp *fnv1.RunFunctionResponse) string {
	for _, r := range rsp.GetResults() {
		if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
			return r.GetMessage()
		}
	}
	return ""
}

// A step is what a response says, in a form that is short to write down.
type step struct {
	resources  map[string]*structpb.Struct
	ready      []string // Composition resource names.
	xrReady    fnv1.Ready
	status     map[string]any
	conditions []string // "Type=Status Reason: message"
	ttl        time.Duration
	required   map[string]*fnv1.ResourceSelector
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
	if len(s.required) > 0 {
		rsp.Requirements = &fnv1.Requirements{Resources: s.required}
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

// status of the composite, with the team's id and readiness and further fields as pairs.
func status(id int, ready bool, fields ...any) map[string]any {
	team := map[string]any{"name": "platform", "ready": ready}
	if id > 0 {
		team["id"] = id
	}
	s := map[string]any{
		"serviceName": "oncall", "endpoint": "http://oncall.ops.svc:8080", "observedGeneration": 1, "teams": []any{team},
	}
	for i := 0; i < len(fields); i += 2 {
		s[fields[i].(string)] = fields[i+1]
	}
	return s
}

// credentials are the fields of status once the provider has its account.
var credentials = []any{"credentialsSecretRef", map[string]any{"name": "instance-1"}}

// asks for whoever has taken one of our names.
func asks(resources ...string) map[string]*fnv1.ResourceSelector {
	out := map[string]*fnv1.ResourceSelector{}
	for _, r := range resources {
		kind := map[string]string{"service": "Service", "bootstrap": "Bootstrap", "provider-config": "ProviderConfig"}[r]
		version := map[bool]string{true: "v1", false: oncallVersion}[kind == "Service"]
		out[r] = &fnv1.ResourceSelector{
			ApiVersion: version, Kind: kind, Namespace: ptr.To("ops"), Match: &fnv1.ResourceSelector_MatchName{MatchName: "oncall"},
		}
	}
	return out
}

const (
	databaseAvailable = "DatabaseReady=True Available"
	credentialCurrent = "DatabaseCredentialCurrent=True Available"
	serverAvailable   = "ServerReady=True Available"
	accountAvailable  = "Bootstrapped=True Available"
	teamsAvailable    = "TeamsReady=True Available"

	notStarted = "DatabaseCredentialCurrent=False Waiting: It is known once all replicas are started with the current credential."
	noServer   = "ServerReady=False Waiting: The server is started shortly after its database is ready."
	starting   = `ServerReady=False Waiting: The server is ready once all replicas run the current template and answer; the conditions of Deployment "oncall-2d980b82cb" and its Pods say more.`
	noAccount  = "Bootstrapped=False Waiting: The provider gets its account shortly after the server answers."
	noTeams    = "TeamsReady=False Waiting: Teams are made once the provider has its account."
	someTeams  = "TeamsReady=False Waiting: Teams, and then what is theirs, are made few at a time, so that Crossplane keeps listening; status.teams says which are ready."
)

func TestRunFunction(t *testing.T) {
	check := map[string]*structpb.Struct{credential: wantCheck()}
	workload := map[string]*structpb.Struct{credential: wantCheck(), "deployment": wantDeployment(), "service": wantService()}
	with := func(base map[string]*structpb.Struct, more ...any) map[string]*structpb.Struct {
		out := map[string]*structpb.Struct{}
		for k, v := range base {
			out[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			out[more[i].(string)] = more[i+1].(*structpb.Struct)
		}
		return out
	}
	// Nothing of the server may go before the provider's account on it.
	owned := owner("b1")
	kept := map[string]*structpb.Struct{credential: wantCheck(), "deployment": wantDeployment(owned), "service": wantService(owned)}
	access := with(workload, "bootstrap", wantBootstrap(), "provider-config", wantConfig())
	teams := with(kept, "bootstrap", wantBootstrap(), "provider-config", wantConfig(), team, wantTeam())
	all := with(teams, policy, wantPolicy(), watchdog, wantSwitch(), integration, wantIntegration())

	cases := map[string]struct {
		reason string
		req    *fnv1.RunFunctionRequest
		want   step
	}{
		"NotAskedYet": {
			reason: "Nothing is composed before it is known that nobody has taken a name.",
			req:    request(xr(), nil, nil),
			want: step{
				xrReady: fnv1.Ready_READY_FALSE, status: status(0, false), ttl: 5 * time.Second,
				conditions: []string{databaseAvailable, notStarted, noServer, noAccount, noTeams},
				required:   asks("service", "bootstrap", "provider-config"),
			},
		},
		"FirstPass": {
			reason: "The names are free and the database needs no waiting: its Secret is looked at.",
			req:    request(xr(), nil, allFree()),
			want: step{
				resources: check, xrReady: fnv1.Ready_READY_FALSE, status: status(0, false), ttl: 5 * time.Second,
				conditions: []string{databaseAvailable, notStarted, noServer, noAccount, noTeams},
				required:   asks("service", "bootstrap", "provider-config"),
			},
		},
		"NotSeenYet": {
			reason: "Replicas are started when it is known with what.",
			req:    request(xr(), map[string]*structpb.Struct{credential: observed(wantCheck())}, allFree()),
			want: step{
				resources: check, ready: []string{credential}, xrReady: fnv1.Ready_READY_FALSE, status: status(0, false), ttl: 5 * time.Second,
				conditions: []string{databaseAvailable, notStarted, noServer, noAccount, noTeams},
				required:   asks("service", "bootstrap", "provider-config"),
			},
		},
		"Seen": {
			reason: "The Secret is seen: the server is started.",
			req:    request(xr(), onlySeen(), allFree()),
			want: step{
				resources: workload, ready: []string{credential}, xrReady: fnv1.Ready_READY_FALSE, status: status(0, false), ttl: 5 * time.Second,
				conditions: []string{databaseAvailable, notStarted, noServer, noAccount, noTeams},
				required:   asks("service", "bootstrap", "provider-config"),
			},
		},
		"Starting": {
			reason: "The account waits for the replicas.",
			req:    request(xr(), with(onlySeen(), "deployment", observed(wantDeployment()), "service", observed(wantService())), free("bootstrap", "provider-config")),
			want: step{
				resources: workload, ready: []string{credential, "service"}, xrReady: fnv1.Ready_READY_FALSE, status: status(0, false), ttl: 5 * time.Second,
				conditions: []string{databaseAvailable, notStarted, starting, noAccount, noTeams},
				required:   asks("bootstrap", "provider-config"),
			},
		},
		"Started": {
			reason: "The server answers: the provider gets its account, and a config that leads to it.",
			req:    request(xr(), with(onlySeen(), "deployment", observed(wantDeployment(), rolledOut), "service", observed(wantService())), free("bootstrap", "provider-config")),
			want: step{
				resources: access, ready: []string{credential, "deployment", "service"}, xrReady: fnv1.Ready_READY_FALSE, status: status(0, false), ttl: 5 * time.Second,
				conditions: []string{databaseAvailable, credentialCurrent, serverAvailable, noAccount, noTeams},
				required:   asks("bootstrap", "provider-config"),
			},
		},
		"Bootstrapped": {
			reason: "The provider has its account: the team is made, and what is the team's is not yet.",
			req:    request(xr(), everythingBut(team, policy, watchdog, integration), nil),
			want: step{
				resources: teams, ready: []string{credential, "deployment", "service", "bootstrap", "provider-config"},
				xrReady: fnv1.Ready_READY_FALSE, status: status(0, false, credentials...), ttl: 5 * time.Second,
				conditions: []string{databaseAvailable, credentialCurrent, serverAvailable, accountAvailable, someTeams},
			},
		},
		"ConfigNotReady": {
			reason: "The config waits for the Bootstrap, which has just become ready. That goes by itself and is not told.",
			req: request(xr(), func() map[string]*structpb.Struct {
				e := everythingBut(team, policy, watchdog, integration)
				e["provider-config"] = observed(wantConfig(), said("Healthy", "False", "ConfigNotReady", "No key yet.", 1))
				return e
			}(), nil),
			want: step{
				resources: teams, ready: []string{credential, "deployment", "service", "bootstrap"},
				xrReady: fnv1.Ready_READY_FALSE, status: status(0, false, credentials...), ttl: 5 * time.Second,
				conditions: []string{databaseAvailable, credentialCurrent, serverAvailable, noAccount, someTeams},
			},
		},
		"TeamWaits": {
			reason: "What is the team's waits until the team is ready.",
			req: request(xr(), func() map[string]*structpb.Struct {
				e := everythingBut(policy, watchdog, integration)
				e[team] = observed(wantTeam())
				return e
			}(), nil),
			want: step{
				resources: teams, ready: []string{credential, "deployment", "service", "bootstrap", "provider-config"},
				xrReady: fnv1.Ready_READY_FALSE, status: status(0, false, credentials...), ttl: 5 * time.Second,
				conditions: []string{databaseAvailable, credentialCurrent, serverAvailable, accountAvailable, someTeams},
			},
		},
		"TeamReady": {
			reason: "The team is on the server: everything else that is its own is made.",
			req:    request(xr(), everythingBut(policy, watchdog, integration), nil),
			want: step{
				resources: all, ready: []string{credential, "deployment", "service", "bootstrap", "provider-config", team},
				xrReady: fnv1.Ready_READY_FALSE, status: status(7, false, credentials...), ttl: 5 * time.Second,
				conditions: []string{databaseAvailable, credentialCurrent, serverAvailable, accountAvailable, someTeams},
			},
		},
		"Ready": {
			reason: "Everything is proven.",
			req:    request(xr(), everything(), nil),
			want: step{
				resources: all, ready: []string{credential, "deployment", "service", "bootstrap", "provider-config", team, policy, watchdog, integration},
				xrReady: fnv1.Ready_READY_TRUE, status: status(7, true, credentials...), ttl: 5 * time.Minute,
				conditions: []string{databaseAvailable, credentialCurrent, serverAvailable, accountAvailable, teamsAvailable},
			},
		},
		"Problem": {
			reason: "What stands in the way of a team is told by the server.",
			req:    request(xr(), everythingWith(policy, said("Ready", "False", "UnknownUser", "The server has no user alice.", 1)), nil),
			want: step{
				resources: all, ready: []string{credential, "deployment", "service", "bootstrap", "provider-config", team, watchdog, integration},
				xrReady: fnv1.Ready_READY_FALSE, status: status(7, false, credentials...), ttl: 5 * time.Second,
				conditions: []string{
					databaseAvailable, credentialCurrent, serverAvailable, accountAvailable,
					`TeamsReady=False UnknownUser: EscalationPolicy "` + policyName + `" of team "platform": The server has no user alice.`,
				},
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
