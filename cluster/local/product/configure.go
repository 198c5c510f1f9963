package product

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/openbao/openbao/api/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

const (
	// ManagementRole is the PostgreSQL role that the provider works as. It is no superuser.
	ManagementRole = "terdut_admin"

	postgresSecret = "postgresql-admin"
	openbaoSecret  = "openbao-provider"
	tokenKey       = "token"

	configureTimeout = time.Minute
)

// configure does what an admin does once: a management role, a token with a policy, and a ClusterProviderConfig for each server.
func (p *Product) configure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, configureTimeout)
	defer cancel()

	password := rand.Text()
	if err := p.createManagementRole(ctx, password); err != nil {
		return err
	}
	token, err := p.createToken(ctx)
	if err != nil {
		return err
	}
	server := p.Plane.Postgres
	ca := string(server.CABundle)
	pg := &postgresqlv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pg.Spec.Host, pg.Spec.HostAddr, pg.Spec.Port = server.Host, &server.HostAddr, int32(server.Port)
	pg.Spec.MaxConnections = int32(p.options.MaxConnections)
	if ca != "" {
		pg.Spec.CABundle = &ca
	} else {
		pg.Spec.SSLMode = postgresqlv1alpha1.SSLDisable
	}
	pg.Spec.Credentials.SecretRef = secretReference(postgresSecret)

	bao := &openbaov1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	bao.Spec.Address = p.Plane.OpenBao.Address
	bao.Spec.Mount = openbao.Mount
	// Tenants that want it read their records with roles of their own; the others share a store.
	bao.Spec.Access = &openbaov1alpha1.Access{
		Default:    openbaov1alpha1.AccessShared,
		Kubernetes: openbaov1alpha1.KubernetesRoles{AuthPath: local.KubernetesAuth},
	}
	bao.Spec.Auth.Token = &openbaov1alpha1.TokenAuth{SecretRef: commonv1alpha1.SecretKeySelector{
		LocalSecretKeySelector: commonv1alpha1.LocalSecretKeySelector{Name: openbaoSecret, Key: tokenKey}, Namespace: local.SystemNamespace,
	}}

	for _, o := range []client.Object{
		secret(postgresSecret, map[string]string{"username": ManagementRole, "password": password}),
		secret(openbaoSecret, map[string]string{tokenKey: token}),
		pg, bao,
	} {
		if err := p.Client.Create(ctx, o); err != nil {
			return fmt.Errorf("cannot create %T %q: %w", o, o.GetName(), err)
		}
	}
	if err := p.WaitFor(ctx, "provider configs to be healthy", p.configsHealthy); err != nil {
		return err
	}
	p.report("ClusterProviderConfigs are healthy")
	return nil
}

// createManagementRole makes the role that docs/install.md asks for, with the grants that it gives.
func (p *Product) createManagementRole(ctx context.Context, password string) error {
	grants, err := os.ReadFile(filepath.Join(p.root, "package", "install", "postgresql-management-role.sql"))
	if err != nil {
		return fmt.Errorf("cannot read grants of the management role: %w", err)
	}
	conn, err := p.Plane.Postgres.Connect(ctx, "postgres")
	if err != nil {
		return fmt.Errorf("cannot connect to PostgreSQL as superuser: %w", err)
	}
	defer conn.Close(ctx) // Nothing is left to do with it.
	// The server may log statements, and the last one holds a password.
	for _, sql := range []string{
		string(grants), "SET log_statement = 'none'", fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", pgx.Identifier{ManagementRole}.Sanitize(), password),
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("cannot create management role: %w", err)
		}
	}
	return nil
}

// createToken makes a token that may do what docs/install.md says, and no more.
func (p *Product) createToken(ctx context.Context) (string, error) {
	root := p.Plane.OpenBao.Root()
	policies := map[string]string{Provider: "openbao-policy.hcl", Provider + "-access": "openbao-access-policy.hcl"}
	for name, file := range policies {
		policy, err := os.ReadFile(filepath.Join(p.root, "package", "install", file))
		if err != nil {
			return "", fmt.Errorf("cannot read policy: %w", err)
		}
		if err := root.Sys().PutPolicyWithContext(ctx, name, string(policy)); err != nil {
			return "", fmt.Errorf("cannot write policy: %w", err)
		}
	}
	t, err := root.Auth().Token().CreateOrphanWithContext(ctx, &api.TokenCreateRequest{Policies: slices.Sorted(maps.Keys(policies)), Period: "24h"})
	if err != nil {
		return "", fmt.Errorf("cannot create token: %w", err)
	}
	return t.Auth.ClientToken, nil
}

func secret(name string, data map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: local.SystemNamespace, Name: name}, StringData: data}
}

func secretReference(name string) commonv1alpha1.SecretReference {
	return commonv1alpha1.SecretReference{LocalSecretReference: commonv1alpha1.LocalSecretReference{Name: name}, Namespace: local.SystemNamespace}
}
