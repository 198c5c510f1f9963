package connect

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
)

// Postgres shares one Instance per provider config of PostgreSQL.
type Postgres struct {
	kube    client.Reader
	secrets *Secrets
	usage   usageTracker
	pool    *pool[*postgresql.Instance]
	// Adjust, when set, may change the configuration of an Instance before it is made. Tests inject faults with it.
	Adjust func(*postgresql.Config)
}

// NewPostgres returns a Postgres. The tracker may be nil.
func NewPostgres(kube client.Reader, s *Secrets, t resource.ModernTracker) *Postgres {
	return &Postgres{kube: kube, secrets: s, usage: usageTracker{tracker: t}, pool: newPool((*postgresql.Instance).Close)}
}

// A PostgresConfig is a provider config of either kind.
type PostgresConfig struct {
	// Object is the config itself.
	Object resource.ProviderConfig
	// Server are its settings.
	Server v1alpha1.ServerSpec

	credentials types.NamespacedName
	keys        v1alpha1.CredentialKeys
	ca          *secretKey
	clientCert  *types.NamespacedName
}

// VerifyInterval of the config, or the default.
func (c *PostgresConfig) VerifyInterval(def time.Duration) time.Duration {
	if v := c.Server.VerifyInterval; v != nil {
		return v.Duration
	}
	return def
}

// Secrets that the config names.
func (c *PostgresConfig) Secrets() []types.NamespacedName {
	n := []types.NamespacedName{c.credentials}
	if c.ca != nil {
		n = append(n, c.ca.NamespacedName)
	}
	if c.clientCert != nil {
		n = append(n, *c.clientCert)
	}
	return n
}

// PostgresConfigOf reads a provider config of either kind.
func PostgresConfigOf(o client.Object) (*PostgresConfig, error) {
	switch pc := o.(type) {
	case *v1alpha1.ProviderConfig:
		c := &PostgresConfig{
			Object: pc, Server: pc.Spec.ServerSpec,
			credentials: types.NamespacedName{Namespace: pc.Namespace, Name: pc.Spec.Credentials.SecretRef.Name},
			keys:        pc.Spec.Credentials.CredentialKeys,
			ca:          localKey(pc.Spec.CABundleRef, pc.Namespace),
		}
		if r := pc.Spec.ClientCertificateRef; r != nil {
			c.clientCert = &types.NamespacedName{Namespace: pc.Namespace, Name: r.Name}
		}
		return c, nil
	case *v1alpha1.ClusterProviderConfig:
		c := &PostgresConfig{
			Object: pc, Server: pc.Spec.ServerSpec,
			credentials: types.NamespacedName{Namespace: pc.Spec.Credentials.SecretRef.Namespace, Name: pc.Spec.Credentials.SecretRef.Name},
			keys:        pc.Spec.Credentials.CredentialKeys,
			ca:          clusterKey(pc.Spec.CABundleRef),
		}
		if r := pc.Spec.ClientCertificateRef; r != nil {
			c.clientCert = &types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
		}
		return c, nil
	default:
		return nil, fmt.Errorf("%T is not a provider config of PostgreSQL", o)
	}
}

// Connect returns the config that a managed resource refers to and an Instance for it. The Instance does not connect before it is used.
func (p *Postgres) Connect(ctx context.Context, mg resource.ModernManaged) (*PostgresConfig, *postgresql.Instance, error) {
	p.usage.track(ctx, mg)
	o, err := configOf(ctx, p.kube, mg, &v1alpha1.ProviderConfig{}, &v1alpha1.ClusterProviderConfig{})
	if err != nil {
		return nil, nil, err
	}
	c, err := PostgresConfigOf(o)
	if err != nil {
		return nil, nil, err
	}
	i, err := p.Instance(ctx, c)
	if err != nil && meta.WasDeleted(mg) {
		// In a namespace that is being deleted the credentials may go before what needs them to go.
		if known, ok := p.pool.known(c.Object.GetUID()); ok {
			return c, known, nil
		}
	}
	return c, i, err
}

// Instance of a config.
func (p *Postgres) Instance(ctx context.Context, c *PostgresConfig) (*postgresql.Instance, error) {
	v, err := configVersion(ctx, p.secrets, c.Object, c.Secrets()...)
	if err != nil {
		return nil, err
	}
	return p.pool.get(c.Object.GetUID(), v, func() (*postgresql.Instance, error) {
		cfg, err := p.config(ctx, c)
		if err != nil {
			return nil, configError(err)
		}
		if p.Adjust != nil {
			p.Adjust(&cfg)
		}
		i, err := postgresql.New(cfg)
		return i, WithReason(err, ReasonConfigNotReady)
	})
}

// Forget the Instance of a config that is gone.
func (p *Postgres) Forget(uid types.UID) { p.pool.forget(uid) }

// CABundle of the config, empty when it has none.
func (p *Postgres) CABundle(ctx context.Context, c *PostgresConfig) (string, error) {
	switch {
	case c.Server.CABundle != nil:
		return *c.Server.CABundle, nil
	case c.ca != nil:
		v, _, err := p.secrets.Read(ctx, c.ca.NamespacedName, c.ca.key)
		if err != nil {
			return "", err
		}
		return v[0], nil
	}
	return "", nil
}

func (p *Postgres) config(ctx context.Context, c *PostgresConfig) (postgresql.Config, error) {
	s := c.Server
	cfg := postgresql.Config{
		Host: s.Host, Port: int(s.Port), Database: s.Database, RegistryDatabase: s.RegistryDatabase,
		SSLMode: string(s.SSLMode), MaxConnections: int(s.MaxConnections),
	}
	if s.HostAddr != nil {
		cfg.HostAddr = *s.HostAddr
	}
	login, _, err := p.secrets.Read(ctx, c.credentials, c.keys.UsernameKey, c.keys.PasswordKey)
	if err != nil {
		return cfg, err
	}
	cfg.Username, cfg.Password = login[0], login[1]

	ca, err := p.CABundle(ctx, c)
	if err != nil {
		return cfg, err
	}
	cfg.CABundle = []byte(ca)
	if c.clientCert != nil {
		pair, _, err := p.secrets.Read(ctx, *c.clientCert, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
		if err != nil {
			return cfg, err
		}
		cfg.ClientCert, cfg.ClientKey = []byte(pair[0]), []byte(pair[1])
	}
	return cfg, nil
}
