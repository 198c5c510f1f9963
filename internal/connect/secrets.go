package connect

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Secrets reads Secrets. Their metadata comes from a cache, their data is read from the API server when it is needed and never kept.
type Secrets struct {
	metadata client.Reader
	data     client.Reader
}

// NewSecrets returns Secrets that takes metadata from a cache of PartialObjectMetadata and data from a live reader.
func NewSecrets(metadata, data client.Reader) *Secrets {
	return &Secrets{metadata: metadata, data: data}
}

// Metadata of a Secret, or nil when there is none.
func (s *Secrets) Metadata(ctx context.Context, n types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := s.metadata.Get(ctx, n, m); err != nil {
		if kerrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("cannot get metadata of Secret %q: %w", n, err)
	}
	return m, nil
}

// Version of a Secret: it changes whenever the Secret does. It is empty when there is no such Secret.
func (s *Secrets) Version(ctx context.Context, n types.NamespacedName) (string, error) {
	m, err := s.Metadata(ctx, n)
	if err != nil || m == nil {
		return "", err
	}
	return version(m), nil
}

func version(o metav1.Object) string { return string(o.GetUID()) + "/" + o.GetResourceVersion() }

// A MissingSecretError says which Secret, or which key of it, is missing or empty.
type MissingSecretError struct {
	Secret types.NamespacedName
	// Key is empty when the Secret itself is missing.
	Key string
}

// Error implements error.
func (e *MissingSecretError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("Secret %q does not exist", e.Secret)
	}
	return fmt.Sprintf("Secret %q has no value at key %q", e.Secret, e.Key)
}

// Read keys of a Secret, in the order given, and the version that they are of. A missing Secret, and a key that is missing or empty, is a
// *MissingSecretError.
func (s *Secrets) Read(ctx context.Context, n types.NamespacedName, keys ...string) (values []string, ver string, err error) {
	secret := &corev1.Secret{}
	if err := s.data.Get(ctx, n, secret); err != nil {
		if kerrors.IsNotFound(err) {
			return nil, "", &MissingSecretError{Secret: n}
		}
		return nil, "", fmt.Errorf("cannot get Secret %q: %w", n, err)
	}
	values = make([]string, len(keys))
	for i, k := range keys {
		if len(secret.Data[k]) == 0 {
			return nil, "", &MissingSecretError{Secret: n, Key: k}
		}
		values[i] = string(secret.Data[k])
	}
	return values, version(secret), nil
}

// Object reads a whole Secret, or nil when there is none. Errors of the API server are wrapped: whether reading it is forbidden can be told.
func (s *Secrets) Object(ctx context.Context, n types.NamespacedName) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	if err := s.data.Get(ctx, n, secret); err != nil {
		if kerrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("cannot get Secret %q: %w", n, err)
	}
	return secret, nil
}

// pool shares one client per provider config, made anew when the config or a Secret that it names changes.
type pool[C any] struct {
	mu      sync.Mutex
	entries map[types.UID]entry[C]
	close   func(C)
}

type entry[C any] struct {
	version string
	client  C
}

func newPool[C any](closeFn func(C)) *pool[C] {
	return &pool[C]{entries: map[types.UID]entry[C]{}, close: closeFn}
}

// get returns the client of a config at a version, making it when there is none yet. Only one is made at a time, so that a burst of
// reconciles after a change makes one client, not many.
func (p *pool[C]) get(uid types.UID, ver string, make func() (C, error)) (C, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, ok := p.entries[uid]
	if ok && old.version == ver {
		return old.client, nil
	}
	c, err := make()
	if err != nil {
		return c, err
	}
	p.entries[uid] = entry[C]{version: ver, client: c}
	if ok {
		go p.close(old.client)
	}
	return c, nil
}

// known returns the client that there is of a config, whatever version it is of.
func (p *pool[C]) known(uid types.UID) (C, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.entries[uid]
	return e.client, ok
}

// forget closes the client of a config that is gone.
func (p *pool[C]) forget(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.entries[uid]; ok {
		delete(p.entries, uid)
		go p.close(e.client)
	}
}
