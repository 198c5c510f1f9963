package postgresql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

func TestReasonOf(t *testing.T) {
	code := func(c string) error { return fmt.Errorf("wrapped: %w", &postgresql.Error{Code: c}) }
	cases := map[string]struct {
		reason string
		err    error
		want   xpv2.ConditionReason
	}{
		"Conflict":              {"Somebody else's.", &postgresql.ConflictError{}, v1alpha1.ReasonConflict},
		"DataLost":              {"Recorded, but gone.", &postgresql.DataLostError{}, v1alpha1.ReasonDataLost},
		"IdentityChanged":       {"Not the recorded one.", &postgresql.IdentityChangedError{}, v1alpha1.ReasonIdentityChanged},
		"InUse":                 {"Sessions are in the way.", &postgresql.InUseError{}, v1alpha1.ReasonInUse},
		"ReadOnly":              {"A standby.", code("25006"), v1alpha1.ReasonReadOnly},
		"TooManyConnections":    {"No slot is left.", code("53300"), v1alpha1.ReasonTooManyConnections},
		"InsufficientPrivilege": {"A privilege is missing.", code("42501"), v1alpha1.ReasonInsufficientPrivilege},
		"LoginRejected":         {"The password is wrong.", code("28P01"), v1alpha1.ReasonLoginRejected},
		"Unreachable":           {"The server is shutting down.", code("57P01"), v1alpha1.ReasonInstanceUnreachable},
		"OwnReason":             {"Errors that have a reason keep it.", connect.WithReason(errors.New("boom"), connect.ReasonConfigNotReady), connect.ReasonConfigNotReady},
		"ServersReasonFirst":    {"What the server says is more precise.", connect.WithReason(code("42501"), v1alpha1.ReasonExtensionFailed), v1alpha1.ReasonInsufficientPrivilege},
		"Other":                 {"Anything else.", code("22012"), v1alpha1.ReasonFailed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ReasonOf(tc.err); got != tc.want {
				t.Errorf("%s: want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	facts := postgresql.ServerFacts{Version: postgresql.MinimumVersion}
	cases := map[string]struct {
		reason string
		result postgresql.ProbeResult
		want   xpv2.ConditionReason
	}{
		"Healthy":  {"Nothing is missing.", postgresql.ProbeResult{ServerFacts: facts}, v1alpha1.ReasonProbed},
		"Old":      {"The server is too old.", postgresql.ProbeResult{ServerFacts: postgresql.ServerFacts{Version: 140012}}, v1alpha1.ReasonFailed},
		"Missing":  {"The management role lacks something.", postgresql.ProbeResult{ServerFacts: facts, Missing: []string{"CREATEDB"}}, v1alpha1.ReasonInsufficientPrivilege},
		"ReadOnly": {"It is a standby.", postgresql.ProbeResult{ServerFacts: postgresql.ServerFacts{Version: 170000, ReadOnly: true}}, v1alpha1.ReasonReadOnly},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, message := verdict(&tc.result)
			if got != tc.want || (message == "") != (got == v1alpha1.ReasonProbed) {
				t.Errorf("%s want %s, got %s with message %q", tc.reason, tc.want, got, message)
			}
		})
	}
	if got := VersionString(150018); got != "15.18" {
		t.Errorf("want 15.18, got %s", got)
	}
}

// TestProbe holds what a config of either kind reports when its server cannot be asked: nothing of an earlier answer stays.
func TestProbe(t *testing.T) {
	// A port that nobody listens on.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}

	status := v1alpha1.ProviderConfigStatus{Server: v1alpha1.ServerObservation{ServerVersion: "17.2"}}
	keys := v1alpha1.CredentialKeys{UsernameKey: "user", PasswordKey: "pass"}
	server := v1alpha1.ServerSpec{Host: "127.0.0.1", Port: int32(port), SSLMode: "disable"}
	local := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", UID: "l", Generation: 4}, Status: status}
	local.Spec.ServerSpec, local.Spec.Credentials.CredentialKeys = server, keys
	local.Spec.Credentials.SecretRef.Name = "login"
	cluster := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{UID: "c", Generation: 4}, Status: status}
	cluster.Spec.ServerSpec, cluster.Spec.Credentials.CredentialKeys = server, keys
	cluster.Spec.Credentials.SecretRef.Name, cluster.Spec.Credentials.SecretRef.Namespace = "login", "shop"
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "login"}, Data: map[string][]byte{"user": []byte("u"), "pass": []byte("p")}}

	cases := map[string]struct {
		reason  string
		config  resource.ProviderConfig
		objects []client.Object
		want    xpv2.ConditionReason
	}{
		"NoSecret":           {"The Secret is missing.", local, nil, connect.ReasonConfigNotReady},
		"Unreachable":        {"Nobody answers.", local, []client.Object{secret}, v1alpha1.ReasonInstanceUnreachable},
		"ClusterUnreachable": {"Nobody answers.", cluster, []client.Object{secret}, v1alpha1.ReasonInstanceUnreachable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientBuilder().WithObjects(tc.objects...).Build()
			o := setup.Options{Postgres: connect.NewPostgres(kube, connect.NewSecrets(kube, kube), nil)}
			k := ConfigKinds(o)[0]
			pc := tc.config.DeepCopyObject().(resource.ProviderConfig)
			if diff := cmp.Diff([]types.NamespacedName{{Namespace: "shop", Name: "login"}}, k.Secrets(pc)); diff != "" {
				t.Errorf("\n%s\nSecrets(...): -want, +got:\n%s", tc.reason, diff)
			}
			if k.Probe(context.Background(), pc) {
				t.Errorf("\n%s\nthe config is not healthy", tc.reason)
			}
			got := pc.GetCondition(v1alpha1.TypeHealthy)
			want := xpv2.Condition{Type: v1alpha1.TypeHealthy, Status: corev1.ConditionFalse, Reason: tc.want, Message: got.Message, ObservedGeneration: 4}
			if diff := cmp.Diff(want, got); diff != "" || got.Message == "" || got.ObservedGeneration != 4 {
				t.Errorf("\n%s\nHealthy: message %q, -want, +got:\n%s", tc.reason, got.Message, diff)
			}
			if s := statusOf(pc); s.ObservedGeneration != 4 || s.Server.ServerVersion != "" {
				t.Errorf("\n%s\nwant the generation and nothing of a server, got %d and %v", tc.reason, s.ObservedGeneration, s.Server)
			}
		})
	}
}
