package connect

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

// tokenSeconds is how long a token that is requested for a login is valid: the shortest time that the API server allows.
const tokenSeconds = 600

// drainTime is longer than any reconcile takes.
const drainTime = 2 * time.Minute

// OpenBao shares one Client per provider config of OpenBao.
type OpenBao struct {
	kube    client.Client
	secrets *Secrets
	usage   usageTracker
	pool    *pool[*openbao.Client]
	// Adjust, when set, may change the configuration of a Client before it is made. Tests inject faults with it.
	Adjust func(*openbao.Config)
}

// NewOpenBao returns an OpenBao. The tracker may be nil.
func NewOpenBao(kube client.Client, s *Secrets, t resource.ModernTracker) *OpenBao {
	// A closed client gives its token back, which calls that are still under way need.
	closeClient := func(c *openbao.Client) {
		time.AfterFunc(drainTime, func() { c.Close(context.Background()) })
	}
	return &OpenBao{kube: kube, secrets: s, usage: usageTracker{tracker: t}, pool: newPool(closeClient)}
}

// An OpenBaoConfig is a provider config of either kind.
type OpenBaoConfig struct {
	// Object is the config itself.
	Object resource.ProviderConfig
	// Server are its settings.
	Server v1alpha1.ServerSpec

	ca             *secretKey
	token          *secretKey
	appRole        *v1alpha1.AppRole
	secretID       *secretKey
	kubernetes     *v1alpha1.Kubernetes
	serviceAccount types.NamespacedName
}

// ExternalAddress is what consumers are told.
func (c *OpenBaoConfig) ExternalAddress() string {
	if a := c.Server.ExternalAddress; a != nil {
		return *a
	}
	return c.Server.Address
}

// Secrets that the config names.
func (c *OpenBaoConfig) Secrets() []types.NamespacedName {
	var n []types.NamespacedName
	for _, k := range []*secretKey{c.ca, c.token, c.secretID} {
		if k != nil {
			n = append(n, k.NamespacedName)
		}
	}
	return n
}

// OpenBaoConfigOf reads a provider config of either kind. The namespaced kind can only name what is in its own namespace.
func OpenBaoConfigOf(o client.Object) (*OpenBaoConfig, error) {
	switch pc := o.(type) {
	case *v1alpha1.ProviderConfig:
		c := &OpenBaoConfig{Object: pc, Server: pc.Spec.ServerSpec, ca: localKey(pc.Spec.CABundleRef, pc.Namespace)}
		switch a := pc.Spec.Auth; {
		case a.Token != nil:
			c.token = localKey(&a.Token.SecretRef, pc.Namespace)
		case a.AppRole != nil:
			c.appRole, c.secretID = &a.AppRole.AppRole, localKey(&a.AppRole.SecretRef, pc.Namespace)
		case a.Kubernetes != nil:
			c.kubernetes = &a.Kubernetes.Kubernetes
			c.serviceAccount = types.NamespacedName{Namespace: pc.Namespace, Name: a.Kubernetes.ServiceAccountRef.Name}
		}
		return c, nil
	case *v1alpha1.ClusterProviderConfig:
		c := &OpenBaoConfig{Object: pc, Server: pc.Spec.ServerSpec, ca: clusterKey(pc.Spec.CABundleRef)}
		switch a := pc.Spec.Auth; {
		case a.Token != nil:
			c.token = clusterKey(&a.Token.SecretRef)
		case a.AppRole != nil:
			c.appRole, c.secretID = &a.AppRole.AppRole, clusterKey(&a.AppRole.SecretRef)
		case a.Kubernetes != nil:
			c.kubernetes = &a.Kubernetes.Kubernetes
			c.serviceAccount = types.NamespacedName{Namespace: a.Kubernetes.ServiceAccountRef.Namespace, Name: a.Kubernetes.ServiceAccountRef.Name}
		}
		return c, nil
	default:
		return nil, fmt.Errorf("%T is not a provider config of OpenBao", o)
	}
}

// Connect returns the config that a managed resource refers to and a Client for it. The Client does not log in before it is used.
func (b *OpenBao) Connect(ctx context.Context, mg resource.ModernManaged) (*OpenBaoConfig, *openbao.Client, error) {
	b.usage.track(ctx, mg)
	o, err := configOf(ctx, b.kube, mg, &v1alpha1.ProviderConfig{}, &v1alpha1.ClusterProviderConfig{})
	if err != nil {
		return nil, nil, err
	}
	c, err := OpenBaoConfigOf(o)
	if err != nil {
		return nil, nil, err
	}
	cl, err := b.Client(ctx, c)
	if err != nil && meta.WasDeleted(mg) {
		// In a namespace that is being deleted the credentials may go before what needs them to go.
		if known, ok := b.pool.known(c.Object.GetUID()); ok {
			return c, known, nil
		}
	}
	return c, cl, err
}

// Client of a config.
func (b *OpenBao) Client(ctx context.Context, c *OpenBaoConfig) (*openbao.Client, error) {
	v, err := configVersion(ctx, b.secrets, c.Object, c.Secrets()...)
	if err != nil {
		return nil, err
	}
	return b.pool.get(c.Object.GetUID(), v, func() (*openbao.Client, error) {
		cfg, err := b.config(ctx, c)
		if err != nil {
			return nil, configError(err)
		}
		if b.Adjust != nil {
			b.Adjust(&cfg)
		}
		cl, err := openbao.New(cfg)
		return cl, WithReason(err, ReasonConfigNotReady)
	})
}

// Forget the Client of a config that is gone.
func (b *OpenBao) Forget(uid types.UID) { b.pool.forget(uid) }

func (b *OpenBao) config(ctx context.Context, c *OpenBaoConfig) (openbao.Config, error) {
	cfg := openbao.Config{Address: c.Server.Address}
	if n := c.Server.Namespace; n != nil {
		cfg.Namespace = *n
	}
	switch {
	case c.Server.CABundle != nil:
		cfg.CABundle = []byte(*c.Server.CABundle)
	case c.ca != nil:
		v, _, err := b.secrets.Read(ctx, c.ca.NamespacedName, c.ca.key)
		if err != nil {
			return cfg, err
		}
		cfg.CABundle = []byte(v[0])
	}
	switch {
	case c.token != nil:
		v, _, err := b.secrets.Read(ctx, c.token.NamespacedName, c.token.key)
		if err != nil {
			return cfg, err
		}
		cfg.Auth.Token = v[0]
	case c.appRole != nil:
		v, _, err := b.secrets.Read(ctx, c.secretID.NamespacedName, c.secretID.key)
		if err != nil {
			return cfg, err
		}
		cfg.Auth.AppRole = &openbao.AppRole{Mount: c.appRole.AuthPath, RoleID: c.appRole.RoleID, SecretID: v[0]}
	case c.kubernetes != nil:
		cfg.Auth.Kubernetes = &openbao.Kubernetes{Mount: c.kubernetes.AuthPath, Role: c.kubernetes.Role, JWT: b.requestToken(c)}
	}
	return cfg, nil
}

// requestToken returns a function that asks the API server for a token of the config's ServiceAccount. The provider's own token never
// goes to an address that somebody wrote into a config.
func (b *OpenBao) requestToken(c *OpenBaoConfig) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		seconds := int64(tokenSeconds)
		tr := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: c.kubernetes.Audiences, ExpirationSeconds: &seconds}}
		sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: c.serviceAccount.Namespace, Name: c.serviceAccount.Name}}
		if err := b.kube.SubResource("token").Create(ctx, sa, tr); err != nil {
			return "", fmt.Errorf("cannot request a token of ServiceAccount %q: %w", c.serviceAccount, err)
		}
		return tr.Status.Token, nil
	}
}
