package connect

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
)

// Oncall finds the way to on-call servers through provider configs. A config with a bootstrapRef has nothing of its own: endpoint, CA
// bundle and key are those of the Bootstrap's credential.
type Oncall struct {
	kube        client.Reader
	secrets     *Secrets
	credentials *credential.Store
	terdut      *Terdut
	usage       usageTracker

	// tokens are the keys that configs' Secrets held last, by the config's uid. In a namespace that is being deleted the Secret may go
	// before the Teams that need it to go.
	tokens sync.Map
}

// NewOncall returns an Oncall. The tracker may be nil.
func NewOncall(kube client.Reader, s *Secrets, c *credential.Store, t *Terdut, tracker resource.ModernTracker) *Oncall {
	return &Oncall{kube: kube, secrets: s, credentials: c, terdut: t, usage: usageTracker{tracker: tracker}}
}

// A Server is what a provider config leads to.
type Server struct {
	// Config is the provider config of either kind.
	Config resource.ProviderConfig
	// Bootstrap that the config names, nil when it names none.
	Bootstrap *v1alpha1.Bootstrap
	// Endpoint in its canonical form, and CABundle in PEM.
	Endpoint string
	CABundle string
	// ID as in credential.Credential.Server.
	ID string
	// Through is the Bootstrap as the owner of the key. Its Kind is empty when the key is the config's own.
	Through credential.Owner
	// Client with the key that reaches the whole server.
	Client *terdut.Client
}

// Going is true when the config, or the Bootstrap that it names, is being deleted.
func (s *Server) Going() bool {
	return meta.WasDeleted(s.Config) || (s.Bootstrap != nil && meta.WasDeleted(s.Bootstrap))
}

// A MissingServerError says that there is no way to a server: a config or a Bootstrap does not exist.
type MissingServerError struct {
	Kind string
	Name types.NamespacedName
}

// Error implements error.
func (e *MissingServerError) Error() string {
	if e.Name.Namespace == "" {
		return fmt.Sprintf("%s %q does not exist", e.Kind, e.Name.Name)
	}
	return fmt.Sprintf("%s %q does not exist", e.Kind, e.Name)
}

// IsMissingServer is true for a *MissingServerError.
func IsMissingServer(err error) bool {
	e := (*MissingServerError)(nil)
	return errors.As(err, &e)
}

// serverRef is the name of the config that a Team's serverRef means, which must be set.
func serverRef(t *v1alpha1.Team) types.NamespacedName {
	ref := t.Spec.ForProvider.ServerRef
	n := types.NamespacedName{Namespace: t.GetNamespace(), Name: ref.Name}
	if ref.Namespace != nil {
		n.Namespace = *ref.Namespace
	}
	return n
}

// ConfigOf gets the provider config that a Team refers to, whether it may or not. It is a *MissingServerError that there is none.
func (o *Oncall) ConfigOf(ctx context.Context, t *v1alpha1.Team) (resource.ProviderConfig, error) {
	if t.Spec.ForProvider.ServerRef == nil {
		// A record can only be of what providerConfigRef names.
		o.usage.track(ctx, t)
	}
	kind, n, ok := ConfigRef(t)
	if !ok {
		return nil, WithReason(fmt.Errorf("neither spec.forProvider.serverRef nor spec.providerConfigRef is set"), v1alpha1.ReasonServerNotFound)
	}
	var pc resource.ProviderConfig = &v1alpha1.ClusterProviderConfig{}
	switch kind {
	case KindClusterProviderConfig:
	case KindProviderConfig:
		pc = &v1alpha1.ProviderConfig{}
	default:
		err := fmt.Errorf("spec.providerConfigRef.kind %q is neither %s nor %s", kind, KindProviderConfig, KindClusterProviderConfig)
		return nil, WithReason(err, v1alpha1.ReasonServerNotFound)
	}
	if err := o.kube.Get(ctx, n, pc); err != nil {
		if kerrors.IsNotFound(err) {
			return nil, WithReason(&MissingServerError{Kind: kind, Name: n}, v1alpha1.ReasonServerNotFound)
		}
		return nil, fmt.Errorf("cannot get %s %q: %w", kind, n, err)
	}
	return pc, nil
}

// Server of a config. What is not there yet has the reason ConfigNotReady; then the Server returned with the error says what is known.
func (o *Oncall) Server(ctx context.Context, pc resource.ProviderConfig) (*Server, error) {
	s := &Server{Config: pc}
	var key *secretKey
	switch c := pc.(type) {
	case *v1alpha1.ProviderConfig:
		if c.Spec.BootstrapRef != nil {
			return s, o.throughBootstrap(ctx, s, c)
		}
		s.Endpoint, s.CABundle, key = deref(c.Spec.Endpoint), deref(c.Spec.CABundle), localKey(c.Spec.SecretRef, c.Namespace)
	case *v1alpha1.ClusterProviderConfig:
		s.Endpoint, s.CABundle, key = c.Spec.Endpoint, deref(c.Spec.CABundle), clusterKey(&c.Spec.SecretRef)
	}
	if s.Endpoint == "" || key == nil {
		return s, WithReason(fmt.Errorf("the config names neither a Bootstrap nor an endpoint and a Secret"), v1alpha1.ReasonConfigNotReady)
	}
	token, err := o.token(ctx, pc, key)
	if err != nil {
		return s, err
	}
	return s, o.open(s, token)
}

// token that a config's Secret holds, or held last when the Secret has gone before the config.
func (o *Oncall) token(ctx context.Context, pc resource.ProviderConfig, key *secretKey) (terdut.Secret, error) {
	v, _, err := o.secrets.Read(ctx, key.NamespacedName, key.key)
	if e := (*MissingSecretError)(nil); errors.As(err, &e) && meta.WasDeleted(pc) {
		if last, ok := o.tokens.Load(pc.GetUID()); ok {
			return last.(terdut.Secret), nil //nolint:forcetypeassert // Nothing else is stored.
		}
	}
	if err != nil {
		return "", configError(err)
	}
	o.tokens.Store(pc.GetUID(), terdut.Secret(v[0]))
	return terdut.Secret(v[0]), nil
}

func (o *Oncall) throughBootstrap(ctx context.Context, s *Server, c *v1alpha1.ProviderConfig) error {
	n := types.NamespacedName{Namespace: c.Namespace, Name: c.Spec.BootstrapRef.Name}
	b := &v1alpha1.Bootstrap{}
	if err := o.kube.Get(ctx, n, b); err != nil {
		if kerrors.IsNotFound(err) {
			return WithReason(&MissingServerError{Kind: v1alpha1.BootstrapKind, Name: n}, v1alpha1.ReasonConfigNotReady)
		}
		return fmt.Errorf("cannot get Bootstrap %q: %w", n, err)
	}
	s.Bootstrap, s.Through = b, credential.OwnerOf(v1alpha1.BootstrapKind, b)
	s.Endpoint, s.CABundle = b.Spec.ForProvider.Endpoint, deref(b.Spec.ForProvider.CABundle)
	cred, err := o.credentials.Get(ctx, s.Through)
	if err != nil {
		return err
	}
	if !cred.Complete() {
		return WithReason(fmt.Errorf("Bootstrap %q has no key of the server yet", n), v1alpha1.ReasonConfigNotReady)
	}
	// The address that the key was made for, whatever the Bootstrap says.
	s.Endpoint, s.ID = cred.Endpoint, cred.Server
	return o.open(s, cred.Token)
}

// open makes the client of a server.
func (o *Oncall) open(s *Server, token terdut.Secret) error {
	cl, err := o.terdut.Client(s.Endpoint, s.CABundle, token)
	if err != nil {
		return err
	}
	s.Client, s.Endpoint = cl, cl.Endpoint()
	return nil
}

// Kept returns the server of a credential whose config is gone, when the provider still has a key that reaches the whole server: the
// Bootstrap's, or what was retained of it. It is nil when there is none.
func (o *Oncall) Kept(ctx context.Context, c *credential.Credential) (*Server, error) {
	if c.Through.Kind == "" {
		return nil, nil
	}
	through, err := o.credentials.Get(ctx, c.Through)
	if err != nil {
		return nil, err
	}
	if !through.Complete() {
		if through, err = o.credentials.Retained(ctx, c.Through, c.Endpoint); err != nil {
			return nil, err
		}
	}
	if !through.Complete() || through.Endpoint != c.Endpoint {
		return nil, nil
	}
	s := &Server{CABundle: through.CABundle, Endpoint: through.Endpoint, ID: through.Server, Through: c.Through}
	return s, o.open(s, through.Token)
}

// Secrets that a config names.
func (o *Oncall) Secrets(pc resource.ProviderConfig) []types.NamespacedName {
	var key *secretKey
	switch c := pc.(type) {
	case *v1alpha1.ProviderConfig:
		key = localKey(c.Spec.SecretRef, c.Namespace)
	case *v1alpha1.ClusterProviderConfig:
		key = clusterKey(&c.Spec.SecretRef)
	}
	if key == nil {
		return nil
	}
	return []types.NamespacedName{key.NamespacedName}
}

// Forget the key of a config that is gone.
func (o *Oncall) Forget(uid types.UID) { o.tokens.Delete(uid) }

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
