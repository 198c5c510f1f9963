package connect

import (
	"errors"
	"fmt"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// TestSecretCannotBeRead holds that only what a person has to mend is blamed on the config: an API server that does not answer says nothing
// about it.
func TestSecretCannotBeRead(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	cases := map[string]struct {
		reason string
		err    error
		want   xpv2.ConditionReason
	}{
		"NotFound":    {"Somebody has to make the Secret.", kerrors.NewNotFound(secrets, "login"), ReasonConfigNotReady},
		"Forbidden":   {"Somebody has to grant the right.", kerrors.NewForbidden(secrets, "login", errBoom), ReasonConfigNotReady},
		"Timeout":     {"The API server is slow.", kerrors.NewServerTimeout(secrets, "get", 1), "None"},
		"Unavailable": {"The API server is down.", kerrors.NewServiceUnavailable("boom"), "None"},
		"Other":       {"Nothing is known.", errBoom, "None"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, localPostgres(), secret("shop", "login", "user", "pass"))
			a.fail = tc.err
			_, _, err := NewPostgres(a, NewSecrets(a, a), nil).Connect(t.Context(), database(KindProviderConfig, "default"))
			if got := ReasonOf(err, "None"); err == nil || got != tc.want {
				t.Errorf("\n%s\nwant reason %s, got %s: %v", tc.reason, tc.want, got, err)
			}
		})
	}
}

// TestGone holds what is gone for good when a namespace goes.
func TestGone(t *testing.T) {
	login := types.NamespacedName{Namespace: "shop", Name: "login"}
	elsewhere := types.NamespacedName{Namespace: "system", Name: "login"}
	wrapped := func(err error) error { return fmt.Errorf("cannot connect: %w", WithReason(err, ReasonConfigNotReady)) }
	cases := map[string]struct {
		reason string
		kind   string
		err    error
		want   bool
	}{
		"Secret":        {"The Secret of a namespaced config went with its namespace.", KindProviderConfig, wrapped(&MissingSecretError{Secret: login}), true},
		"Config":        {"So did the config.", KindProviderConfig, wrapped(&missingConfigError{kind: KindProviderConfig, name: "default"}), true},
		"Key":           {"A Secret that lacks a key can be mended.", KindProviderConfig, wrapped(&MissingSecretError{Secret: login, Key: "pass"}), false},
		"ElsewhereGone": {"A Secret of another namespace can be made again.", KindProviderConfig, wrapped(&MissingSecretError{Secret: elsewhere}), false},
		"ClusterConfig": {"An admin can make it again.", KindClusterProviderConfig, wrapped(&missingConfigError{kind: KindClusterProviderConfig, name: "default"}), false},
		"ClusterSecret": {"An admin can name another.", KindClusterProviderConfig, wrapped(&MissingSecretError{Secret: login}), false},
		"Unknown":       {"Nothing is known to be gone.", KindProviderConfig, errBoom, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Gone(tc.err, database(tc.kind, "default")); got != tc.want {
				t.Errorf("%s want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
	noReference := database(KindProviderConfig, "default")
	noReference.Spec.ProviderConfigReference = nil
	if Gone(errors.Join(wrapped(&MissingSecretError{Secret: login})), noReference) {
		t.Error("an object that refers to no config needs none")
	}
}
