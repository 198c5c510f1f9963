package connect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// ReasonConfigNotReady : the provider config, or the Secret it names, is missing or incomplete.
const ReasonConfigNotReady xpv2.ConditionReason = "ConfigNotReady"

// Kinds of provider config, the same in each group.
const (
	KindProviderConfig        = "ProviderConfig"
	KindClusterProviderConfig = "ClusterProviderConfig"
)

// ConfigKey returns the key under which a managed resource is found by the provider config that it refers to.
func ConfigKey(kind, namespace, name string) string {
	if kind == KindClusterProviderConfig {
		namespace = ""
	}
	return strings.Join([]string{kind, namespace, name}, "/")
}

// ConfigRef returns which provider config a managed resource refers to. It is false when it refers to none.
func ConfigRef(o client.Object) (kind string, name types.NamespacedName, ok bool) {
	mg, ok := o.(resource.ModernManaged)
	if !ok {
		return "", name, false
	}
	if t, ok := mg.(*oncallv1alpha1.Team); ok && t.Spec.ForProvider.ServerRef != nil {
		return KindProviderConfig, serverRef(t), true
	}
	ref := mg.GetProviderConfigReference()
	if ref == nil {
		return "", name, false
	}
	name.Name = ref.Name
	if ref.Kind != KindClusterProviderConfig {
		name.Namespace = mg.GetNamespace()
	}
	return ref.Kind, name, true
}

// ConfigKeyOf returns the key of the provider config that a managed resource refers to, or nothing when it refers to none. It serves as an
// index of managed resources.
func ConfigKeyOf(o client.Object) []string {
	kind, n, ok := ConfigRef(o)
	if !ok {
		return nil
	}
	return []string{ConfigKey(kind, n.Namespace, n.Name)}
}

// IndexConfig is the name of the index of managed resources by ConfigKey.
const IndexConfig = "spec.providerConfigRef"

// configOf gets the provider config that a managed resource refers to, into one of the two objects.
func configOf(ctx context.Context, kube client.Reader, mg resource.ModernManaged, namespaced, cluster client.Object) (client.Object, error) {
	ref := mg.GetProviderConfigReference()
	if ref == nil {
		return nil, WithReason(fmt.Errorf("spec.providerConfigRef is not set"), ReasonConfigNotReady)
	}
	key := types.NamespacedName{Name: ref.Name}
	o := cluster
	switch ref.Kind {
	case KindClusterProviderConfig:
	case KindProviderConfig:
		key.Namespace = mg.GetNamespace()
		o = namespaced
	default:
		err := fmt.Errorf("spec.providerConfigRef.kind %q is neither %s nor %s", ref.Kind, KindProviderConfig, KindClusterProviderConfig)
		return nil, WithReason(err, ReasonConfigNotReady)
	}
	if err := kube.Get(ctx, key, o); err != nil {
		if kerrors.IsNotFound(err) {
			return nil, WithReason(&missingConfigError{kind: ref.Kind, name: ref.Name}, ReasonConfigNotReady)
		}
		return nil, fmt.Errorf("cannot get %s %q: %w", ref.Kind, ref.Name, err)
	}
	return o, nil
}

// A missingConfigError says that a provider config does not exist.
type missingConfigError struct{ kind, name string }

func (e *missingConfigError) Error() string {
	return fmt.Sprintf("%s %q does not exist", e.kind, e.name)
}

// Gone is true when a connection failed because what it needs is not there any more: the namespaced provider config that the object
// refers to, or a Secret of the object's namespace that such a config names. A Secret without the right key is not gone, and what an API
// server did not answer for is not known to be.
func Gone(err error, mg resource.ModernManaged) bool {
	ref := mg.GetProviderConfigReference()
	if ref == nil || ref.Kind != KindProviderConfig {
		return false
	}
	if e := (*missingConfigError)(nil); errors.As(err, &e) {
		return true
	}
	e := (*MissingSecretError)(nil)
	return errors.As(err, &e) && e.Key == "" && e.Secret.Namespace == mg.GetNamespace()
}

// configError reports an error of reading what a config names. It is the config that is not ready where somebody has to act on it or on its
// Secrets; an API server that does not answer says nothing about that.
func configError(err error) error {
	if e := (*MissingSecretError)(nil); errors.As(err, &e) || kerrors.IsForbidden(err) {
		return WithReason(err, ReasonConfigNotReady)
	}
	return err
}

// A usageTracker records which config a managed resource uses. Tools look at the records; nothing here depends on them, so a record that
// cannot be written stops nothing: in a namespace that is being deleted none can be.
type usageTracker struct{ tracker resource.ModernTracker }

func (t usageTracker) track(ctx context.Context, mg resource.ModernManaged) {
	if t.tracker == nil || meta.WasDeleted(mg) {
		return
	}
	_ = t.tracker.Track(ctx, mg)
}

// secretKey is a selector of one key of a Secret with its namespace filled in.
type secretKey struct {
	types.NamespacedName

	key string
}

func localKey(s *commonv1alpha1.LocalSecretKeySelector, namespace string) *secretKey {
	if s == nil {
		return nil
	}
	return &secretKey{NamespacedName: types.NamespacedName{Namespace: namespace, Name: s.Name}, key: s.Key}
}

func clusterKey(s *commonv1alpha1.SecretKeySelector) *secretKey {
	if s == nil {
		return nil
	}
	return localKey(&s.LocalSecretKeySelector, s.Namespace)
}

// configVersion changes whenever the spec of a config or one of its Secrets does.
func configVersion(ctx context.Context, s *Secrets, o client.Object, secrets ...types.NamespacedName) (string, error) {
	v := []string{string(o.GetUID()), fmt.Sprint(o.GetGeneration())}
	for _, n := range secrets {
		sv, err := s.Version(ctx, n)
		if err != nil {
			return "", err
		}
		v = append(v, n.String(), sv)
	}
	return strings.Join(v, " "), nil
}
