package credential

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// keepTime is how long, and keepPoll how often, it is tried to store what a server hands out once.
const (
	keepTime = 30 * time.Second
	keepPoll = 500 * time.Millisecond
)

// A Store of credentials: Secrets of one namespace, the provider's own. They are read from the API server each time and never kept.
type Store struct {
	kube      client.Client
	namespace string
}

// NewStore returns the Store of a namespace. The client must read Secrets from the API server, not from a cache.
func NewStore(kube client.Client, namespace string) *Store {
	return &Store{kube: kube, namespace: namespace}
}

// Namespace of the Secrets.
func (s *Store) Namespace() string { return s.namespace }

// Team returns the credential of a Team, or nil when there is none. It may be there and not be Complete yet: TeamID is known before the
// key is. Whether a child of the Team can work depends on this alone, and not on the Team being Ready: a Team is not while the key that
// reaches the whole server is revoked, and its children need no such key.
func (s *Store) Team(ctx context.Context, t *v1alpha1.Team) (*Credential, error) {
	return s.Get(ctx, OwnerOf(v1alpha1.TeamKind, t))
}

// Bootstrap returns the credential of a Bootstrap, or nil when there is none.
func (s *Store) Bootstrap(ctx context.Context, b *v1alpha1.Bootstrap) (*Credential, error) {
	return s.Get(ctx, OwnerOf(v1alpha1.BootstrapKind, b))
}

// Get the credential of an owner, or nil when there is none. A Secret in its place that holds something else is a *ForeignError.
func (s *Store) Get(ctx context.Context, o Owner) (*Credential, error) {
	return s.read(ctx, o.secretName(), o)
}

func (s *Store) read(ctx context.Context, name string, o Owner) (*Credential, error) {
	secret := &corev1.Secret{}
	n := types.NamespacedName{Namespace: s.namespace, Name: name}
	if err := s.kube.Get(ctx, n, secret); err != nil {
		if kerrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("cannot get Secret %q: %w", n, err)
	}
	return decode(secret, o)
}

// All returns every credential that can be read, those that were retained among them.
func (s *Store) All(ctx context.Context) ([]*Credential, error) {
	l := &corev1.SecretList{}
	if err := s.kube.List(ctx, l, client.InNamespace(s.namespace), client.MatchingLabels{labelManagedBy: managedBy}); err != nil {
		return nil, fmt.Errorf("cannot list Secrets of namespace %q: %w", s.namespace, err)
	}
	var all []*Credential
	for i := range l.Items {
		d := l.Items[i].Data
		o := Owner{
			Kind: string(d[keyOwnerKind]), Namespace: string(d[keyOwnerNamespace]), Name: string(d[keyOwnerName]), UID: types.UID(d[keyOwnerUID]),
		}
		if c, err := decode(&l.Items[i], o); err == nil && c.SecretName() == l.Items[i].Name {
			all = append(all, c)
		}
	}
	return all, nil
}

// Holders returns the credentials of a team of a server.
func (s *Store) Holders(ctx context.Context, endpoint string, team int64) ([]*Credential, error) {
	all, err := s.All(ctx)
	if err != nil {
		return nil, err
	}
	var holders []*Credential
	for _, c := range all {
		if c.Endpoint == endpoint && c.TeamID == team {
			holders = append(holders, c)
		}
	}
	return holders, nil
}

// Save a credential: in a new Secret when it is not stored yet, else over the version that was read. Whoever comes second gets a
// conflict of the API server, and has to read again.
func (s *Store) Save(ctx context.Context, c *Credential) error {
	secret := c.secret(s.namespace)
	verb, write := "create", func() error { return s.kube.Create(ctx, secret) }
	if c.Stored() {
		verb, write = "update", func() error { return s.kube.Update(ctx, secret) }
	}
	if err := write(); err != nil {
		return fmt.Errorf("cannot %s Secret %q: %w", verb, s.namespace+"/"+secret.Name, plain(err))
	}
	c.version = secret.ResourceVersion
	return nil
}

// Keep saves a credential with something in it that the server shows once. It is tried for half a minute, also when the caller's context
// ends meanwhile, because what is not stored is lost.
func (s *Store) Keep(ctx context.Context, c *Credential) error {
	var last error
	// Not its error: it forgets why.
	_ = wait.PollUntilContextTimeout(context.WithoutCancel(ctx), keepPoll, keepTime, true, func(ctx context.Context) (bool, error) {
		last = s.Save(ctx, c)
		return last == nil || final(last), nil
	})
	return last
}

// final is true for errors that do not pass by themselves.
func final(err error) bool {
	return kerrors.IsConflict(err) || kerrors.IsAlreadyExists(err) || kerrors.IsForbidden(err) || kerrors.IsInvalid(err) || kerrors.IsNotFound(err)
}

// Delete the Secret of a credential, if it still is what was read. One that is gone is no error.
func (s *Store) Delete(ctx context.Context, c *Credential) error {
	if !c.Stored() {
		return nil
	}
	return s.remove(ctx, c.SecretName(), c.version)
}

func (s *Store) remove(ctx context.Context, name, ver string) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	err := s.kube.Delete(ctx, secret, client.Preconditions{ResourceVersion: &ver})
	if err != nil && !kerrors.IsNotFound(err) {
		return fmt.Errorf("cannot delete Secret %q: %w", s.namespace+"/"+name, plain(err))
	}
	return nil
}

// plain drops what an API server says of a Secret but its kind of refusal: it may quote what was sent.
func plain(err error) error {
	status := kerrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return err
	}
	bare := status.Status()
	bare.Message, bare.Details = string(bare.Reason), nil
	return &kerrors.StatusError{ErrStatus: bare}
}

// OwnerOfSecret returns the kind and the name of the object that a Secret's metadata says it belongs to. It serves to wake that object.
func (s *Store) OwnerOfSecret(o client.Object) (kind string, name types.NamespacedName, ok bool) {
	a := o.GetAnnotations()
	if o.GetNamespace() != s.namespace || a[annotationKind] == "" {
		return "", types.NamespacedName{}, false
	}
	return a[annotationKind], types.NamespacedName{Namespace: a[annotationNamespace], Name: a[annotationName]}, true
}
