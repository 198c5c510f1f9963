package connect

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
)

var errBoom = errors.New("boom")

// sentinel is in every secret value, and must be in no error.
const sentinel = "s3ntinel"

// api is a fake API server that notes whose Secrets are read.
type api struct {
	client.Client

	mu         sync.Mutex
	namespaces []string
	// fail, when set, is what reading a Secret's data ends with.
	fail error
}

func newAPI(t *testing.T, objects ...client.Object) *api {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, openbaov1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	a := &api{}
	a.Client = fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				_, data := o.(*corev1.Secret)
				_, metadata := o.(*metav1.PartialObjectMetadata)
				a.mu.Lock()
				defer a.mu.Unlock()
				if (data || metadata) && !slices.Contains(a.namespaces, k.Namespace) {
					a.namespaces = append(a.namespaces, k.Namespace)
				}
				if data && a.fail != nil {
					return a.fail
				}
				return c.Get(ctx, k, o, opts...)
			},
		}).Build()
	return a
}

func secret(namespace, name string, keys ...string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{}}
	for _, k := range keys {
		s.Data[k] = []byte(sentinel + " " + namespace + "/" + name + "/" + k)
	}
	return s
}

func value(namespace, name, key string) string {
	return sentinel + " " + namespace + "/" + name + "/" + key
}

func key(name, key string) commonv1alpha1.LocalSecretKeySelector {
	return commonv1alpha1.LocalSecretKeySelector{Name: name, Key: key}
}

func keyIn(namespace, name, key string) commonv1alpha1.SecretKeySelector {
	return commonv1alpha1.SecretKeySelector{Namespace: namespace, LocalSecretKeySelector: commonv1alpha1.LocalSecretKeySelector{Name: name, Key: key}}
}

func refIn(namespace, name string) commonv1alpha1.SecretReference {
	return commonv1alpha1.SecretReference{Namespace: namespace, LocalSecretReference: commonv1alpha1.LocalSecretReference{Name: name}}
}

// database is a managed resource in the namespace shop that refers to a config.
func database(kind, config string) *v1alpha1.PGDatabase {
	db := &v1alpha1.PGDatabase{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}}
	db.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: kind, Name: config}
	return db
}

func record(kind, config string) *openbaov1alpha1.BaoSecret {
	s := &openbaov1alpha1.BaoSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}}
	s.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: kind, Name: config}
	return s
}

func localPostgres(mods ...func(*v1alpha1.ProviderConfig)) *v1alpha1.ProviderConfig {
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "default", UID: "local", Generation: 1}}
	pc.Spec.Host, pc.Spec.SSLMode = "db.example", "disable"
	pc.Spec.Credentials.SecretRef.Name = "login"
	pc.Spec.Credentials.CredentialKeys = v1alpha1.CredentialKeys{UsernameKey: "user", PasswordKey: "pass"}
	for _, m := range mods {
		m(pc)
	}
	return pc
}

func clusterPostgres(mods ...func(*v1alpha1.ClusterProviderConfig)) *v1alpha1.ClusterProviderConfig {
	pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "cluster", Generation: 1}}
	pc.Spec.Host, pc.Spec.SSLMode = "db.example", "disable"
	pc.Spec.Credentials.SecretRef = refIn("system", "login")
	pc.Spec.Credentials.CredentialKeys = v1alpha1.CredentialKeys{UsernameKey: "user", PasswordKey: "pass"}
	for _, m := range mods {
		m(pc)
	}
	return pc
}
