package local

import (
	"context"
	"fmt"

	"github.com/openbao/openbao/api/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

const (
	// SecretStore is the name of the ClusterSecretStore through which ExternalSecrets read the KV engine at openbao.Mount.
	SecretStore = "openbao"

	storePolicy      = "external-secrets"
	storeTokenSecret = "openbao-token"
	storeTokenKey    = "token"
)

// createSecretStore gives the External Secrets controller a token that may read the KV engine, and a ClusterSecretStore that uses it.
func (p *Plane) createSecretStore(ctx context.Context) error {
	root := p.OpenBao.Root()
	rules := fmt.Sprintf("path %q { capabilities = [\"read\", \"list\"] }", openbao.Mount+"/*")
	if err := root.Sys().PutPolicyWithContext(ctx, storePolicy, rules); err != nil {
		return fmt.Errorf("cannot write policy %q: %w", storePolicy, err)
	}
	token, err := root.Auth().Token().CreateOrphanWithContext(ctx, &api.TokenCreateRequest{Policies: []string{storePolicy}})
	if err != nil {
		return fmt.Errorf("cannot create token of External Secrets: %w", err)
	}

	secret := &corev1.Secret{StringData: map[string]string{storeTokenKey: token.Auth.ClientToken}}
	secret.SetNamespace(ExternalSecretsNamespace)
	secret.SetName(storeTokenSecret)
	store := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "external-secrets.io/v1",
		"kind":       "ClusterSecretStore",
		"metadata":   map[string]any{"name": SecretStore},
		"spec": map[string]any{"provider": map[string]any{"vault": map[string]any{
			"server":  p.OpenBao.Address,
			"path":    openbao.Mount,
			"version": "v2",
			"auth": map[string]any{"tokenSecretRef": map[string]any{
				"namespace": ExternalSecretsNamespace, "name": storeTokenSecret, "key": storeTokenKey,
			}},
		}}},
	}}
	for _, o := range []client.Object{secret, store} {
		if err := p.client.Create(ctx, o); err != nil {
			return fmt.Errorf("cannot create %T %q: %w", o, o.GetName(), err)
		}
	}
	p.ready("ClusterSecretStore " + SecretStore)
	return nil
}
