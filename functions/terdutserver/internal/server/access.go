package server

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// composeAccess composes the provider's account and the config that leads to it, once the server answers.
func (s *server) composeAccess() error {
	allowed := s.serverReady() && s.namesFree() && s.bears(resourceBootstrap, resourceConfig)
	if err := s.compose(resourceBootstrap, allowed, s.renderBootstrap, (*object).isReady); err != nil {
		return err
	}
	return s.compose(resourceConfig, allowed, s.renderConfig, configHealthy)
}

// bootstrapped tells whether the provider has its account.
func (s *server) bootstrapped() bool {
	return s.resources[resourceBootstrap].Ready && s.holds[resourceConfig]
}

// renderBootstrap renders the Bootstrap.
func (s *server) renderBootstrap() (*structpb.Struct, error) {
	a := s.spec.Admin
	forProvider := map[string]any{
		"endpoint":       s.endpoint(),
		"adminUsername":  a.Username,
		"adminEmail":     a.Email,
		"deletionPolicy": string(s.spec.DeletionPolicy),
	}
	if r := a.KeySecretRef; r != nil {
		forProvider["adminKeySecretRef"] = map[string]any{"name": r.Name, "key": r.Key}
	}
	return s.manifest(oncallv1alpha1.SchemeGroupVersion.String(), kinds[resourceBootstrap], s.fixed()[resourceBootstrap], s.labels(),
		map[string]any{"forProvider": forProvider})
}

// renderConfig renders the ProviderConfig, which carries the consent to Teams of other namespaces.
func (s *server) renderConfig() (*structpb.Struct, error) {
	n := s.spec.AllowedTeams.Namespaces
	namespaces := map[string]any{"from": string(n.From)}
	if n.Selector != nil {
		selector, err := asMap(n.Selector)
		if err != nil {
			return nil, fmt.Errorf("cannot render selector: %w", err)
		}
		namespaces["selector"] = selector
	}
	return s.manifest(oncallv1alpha1.SchemeGroupVersion.String(), kinds[resourceConfig], s.fixed()[resourceConfig], s.labels(), map[string]any{
		"bootstrapRef": map[string]any{"name": s.fixed()[resourceBootstrap]},
		"allowedTeams": map[string]any{"namespaces": namespaces},
	})
}

// configHealthy tells whether the last probe of the config, as it is now, found nothing wrong.
func configHealthy(o *object) bool {
	return o.answers().AreTrue(oncallv1alpha1.TypeHealthy)
}

// asMap is a value as a manifest holds it.
func asMap(v any) (map[string]any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(b, &out)
}

// negative is the current answer of a type, when it is not True.
func negative(o *object, t xpv2.ConditionType) (xpv2.Condition, bool) {
	c, said := o.answers().Get(t)
	return c, said && c.Status != corev1.ConditionTrue
}
