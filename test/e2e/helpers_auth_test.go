package e2e

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/openbao/openbao/api/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// Tokens of the tests live so short that a test sees several of them.
var shortLived = map[string]any{"token_policies": product.Provider, "token_ttl": "4s", "token_max_ttl": "8s"}

// with returns the settings of a role whose tokens are short-lived and have the documented policy.
func with(more map[string]any) map[string]any {
	settings := map[string]any{}
	for _, m := range []map[string]any{shortLived, more} {
		for k, v := range m {
			settings[k] = v
		}
	}
	return settings
}

// baoAdmin writes to OpenBao as its administrator.
func baoAdmin(ctx context.Context, path string, data map[string]any) (*api.Secret, error) {
	s, err := p.Plane.OpenBao.Root().Logical().WriteWithContext(ctx, path, data)
	if err != nil {
		return nil, fmt.Errorf("cannot write %q: %w", path, err)
	}
	return s, nil
}

func mustBao(t *testing.T, path string, data map[string]any) *api.Secret {
	t.Helper()
	s, err := baoAdmin(t.Context(), path, data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// enableAppRole does once what an admin does for all roles. Kubernetes auth comes with the plane.
var enableAppRole = sync.OnceValue(func() error {
	return p.Plane.OpenBao.Root().Sys().EnableAuthWithOptions("approle", &api.EnableAuthOptions{Type: "approle"})
})

// A session is a token that somebody has logged in for.
type session struct{ accessor, account string }

// sessions of a role that are alive.
func sessions(ctx context.Context, role string) ([]session, error) {
	root := p.Plane.OpenBao.Root()
	l, err := root.Logical().ListWithContext(ctx, "auth/token/accessors")
	if err != nil {
		return nil, err
	}
	var alive []session
	for _, a := range l.Data["keys"].([]any) {
		s, err := root.Auth().Token().LookupAccessorWithContext(ctx, a.(string))
		if err != nil {
			continue // It has ended meanwhile.
		}
		m, _ := s.Data["meta"].(map[string]any)
		if m["role"] == role || m["role_name"] == role {
			alive = append(alive, session{accessor: a.(string), account: fmt.Sprintf("%v/%v", m["service_account_namespace"], m["service_account_name"])})
		}
	}
	return alive, nil
}

// clusterBao is a ClusterProviderConfig of OpenBao without authentication.
func clusterBao(name string) *openbaov1alpha1.ClusterProviderConfig {
	pc := &openbaov1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pc.Spec.Address, pc.Spec.Mount = p.Plane.OpenBao.Address, openbao.Mount
	return pc
}

// localBao is a ProviderConfig of OpenBao that logs in as a ServiceAccount of its namespace.
func localBao(ns, name, role string) *openbaov1alpha1.ProviderConfig {
	pc := &openbaov1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	pc.Spec.Address, pc.Spec.Mount = p.Plane.OpenBao.Address, openbao.Mount
	pc.Spec.Auth.Kubernetes = &openbaov1alpha1.LocalKubernetesAuth{
		Kubernetes:        openbaov1alpha1.Kubernetes{Role: role},
		ServiceAccountRef: commonv1alpha1.LocalSecretReference{Name: "app"},
	}
	return pc
}

// usedBy makes a BaoSecret with a config, and fails unless it becomes Ready.
func usedBy(t *testing.T, ns string, config conditioned) *openbaov1alpha1.BaoSecret {
	t.Helper()
	becomes(t, config, openbaov1alpha1.TypeHealthy, corev1.ConditionTrue, openbaov1alpha1.ReasonProbed)
	s := newRecord(ns, config.GetName(), "auth/"+ns+"/"+config.GetName())
	kind := "ClusterProviderConfig"
	if config.GetNamespace() != "" {
		kind = "ProviderConfig"
	}
	s.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: kind, Name: config.GetName()}
	s.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete
	create(t, s)
	becomes(t, s, xpv2.TypeReady, corev1.ConditionTrue, "")
	return s
}

// rotates fails unless a BaoSecret can be written to now.
func rotates(t *testing.T, s *openbaov1alpha1.BaoSecret) {
	t.Helper()
	version := s.Status.AtProvider.Version
	edit(t, s, func(s *openbaov1alpha1.BaoSecret) {
		s.Spec.ForProvider.Rotation = &openbaov1alpha1.Rotation{Trigger: rand.Text()}
	})
	eventually(t, "a new version of "+s.Name, func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return err
		}
		if got := s.Status.AtProvider; got.Version != version+1 || got.RotationTrigger != s.Spec.ForProvider.Rotation.Trigger {
			return fmt.Errorf("it is at version %d, %s", got.Version, conditionsOf(s))
		}
		return nil
	})
	becomes(t, s, xpv2.TypeReady, corev1.ConditionTrue, "")
}

// outlives waits until none of the sessions of a role is alive that were, and fails unless the BaoSecret is Ready throughout. A session that
// is revoked by hand is replaced just as one that has ended.
func outlives(t *testing.T, s *openbaov1alpha1.BaoSecret, role, account string) {
	t.Helper()
	first, err := sessions(t.Context(), role)
	if err != nil || len(first) == 0 {
		t.Fatalf("nobody has logged in as role %q (%v)", role, err)
	}
	eventually(t, "another login as role "+role, func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return err
		}
		if c := s.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionTrue {
			t.Errorf("%s is not Ready while its token is replaced: %s %s", s.Name, c.Reason, c.Message)
		}
		now, err := sessions(ctx, role)
		if err != nil {
			return err
		}
		for _, a := range now {
			if account != "" && a.account != account {
				t.Errorf("the login is that of %s, not of %s", a.account, account)
			}
			for _, b := range first {
				if a == b {
					return errors.New("a token of before is still alive")
				}
			}
		}
		if len(now) == 0 {
			return errors.New("there is none")
		}
		return nil
	})

	now, err := sessions(t.Context(), role)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range now {
		// It may have ended by itself.
		_ = p.Plane.OpenBao.Root().Auth().Token().RevokeAccessorWithContext(t.Context(), a.accessor)
	}
	rotates(t, s)
}

// leaves removes a BaoSecret with its record, and its config.
func leaves(t *testing.T, s *openbaov1alpha1.BaoSecret, config client.Object) {
	t.Helper()
	remove(t, s)
	isGone(t, s)
	if kvMetadata(t, s.Spec.ForProvider.Path) != nil {
		t.Errorf("the record of %s is still there", s.Name)
	}
	remove(t, config)
	isGone(t, config)
}
