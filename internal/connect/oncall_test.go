package connect

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/connect/credential"
)

func newOncall(t *testing.T, objects ...client.Object) (*Oncall, client.Client, *credential.Store) {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	kube := fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).Build()
	store := credential.NewStore(kube, "system")
	return NewOncall(kube, NewSecrets(kube, kube), store, NewTerdut(), nil), kube, store
}

func throughBootstrap() *v1alpha1.ProviderConfig {
	c := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "terdut", UID: "config"}}
	c.Spec.BootstrapRef = &v1alpha1.BootstrapReference{Name: "terdut"}
	return c
}

func withSecret() *v1alpha1.ProviderConfig {
	c := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "terdut", UID: "config"}}
	endpoint := "http://other/api/"
	c.Spec.Endpoint, c.Spec.SecretRef = &endpoint, &commonv1alpha1.LocalSecretKeySelector{Name: "login", Key: "key"}
	return c
}

func login() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "login"}, Data: map[string][]byte{"key": []byte("secret")}}
}

// TestServer holds where a config leads, and what is said while it leads nowhere yet.
func TestServer(t *testing.T) {
	b := &v1alpha1.Bootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "terdut", UID: "bootstrap"}}
	// Where the key was made for counts, whatever the object says.
	b.Spec.ForProvider.Endpoint = "http://forged"
	kept := func(mods ...func(*credential.Credential)) *credential.Credential {
		c := credential.New(credential.OwnerOf(v1alpha1.BootstrapKind, b))
		c.Endpoint, c.Server, c.ServiceAccountID, c.KeyID, c.Token = "http://terdut", "first", 1, 2, "token"
		for _, m := range mods {
			m(c)
		}
		return c
	}
	spaces := login()
	spaces.Data["key"] = []byte("secret\n")
	for name, tc := range map[string]struct {
		config   resource.ProviderConfig
		objects  []client.Object
		kept     *credential.Credential
		endpoint string
		reason   xpv2.ConditionReason
	}{
		"Bootstrap":        {config: throughBootstrap(), objects: []client.Object{b}, kept: kept(), endpoint: "http://terdut"},
		"BootstrapMissing": {config: throughBootstrap(), reason: v1alpha1.ReasonConfigNotReady},
		"NoKeyYet":         {config: throughBootstrap(), objects: []client.Object{b}, reason: v1alpha1.ReasonConfigNotReady},
		"AdminKeyOnly": {config: throughBootstrap(), objects: []client.Object{b}, reason: v1alpha1.ReasonConfigNotReady, kept: kept(func(c *credential.Credential) {
			c.Token, c.AdminToken = "", "admin"
		})},
		"OtherBootstrap": {config: throughBootstrap(), objects: []client.Object{b}, reason: v1alpha1.ReasonConfigNotReady, kept: kept(func(c *credential.Credential) {
			c.Owner.UID = "before"
		})},
		"Secret":           {config: withSecret(), objects: []client.Object{login()}, endpoint: "http://other"},
		"SecretMissing":    {config: withSecret(), reason: v1alpha1.ReasonConfigNotReady},
		"SecretUnsendable": {config: withSecret(), objects: []client.Object{spaces}, reason: v1alpha1.ReasonConfigNotReady},
		"Neither":          {config: &v1alpha1.ProviderConfig{}, reason: v1alpha1.ReasonConfigNotReady},
	} {
		t.Run(name, func(t *testing.T) {
			o, _, store := newOncall(t, tc.objects...)
			if tc.kept != nil {
				if err := store.Save(t.Context(), tc.kept); err != nil {
					t.Fatal(err)
				}
			}
			s, err := o.Server(t.Context(), tc.config)
			if got := ReasonOf(err, ""); got != tc.reason {
				t.Fatalf("the reason is %q, want %q: %v", got, tc.reason, err)
			}
			if err == nil && (s.Endpoint != tc.endpoint || s.Client == nil) {
				t.Errorf("the endpoint is %q, want %q", s.Endpoint, tc.endpoint)
			}
		})
	}
}

// TestServerSecretGone holds that a config which is being deleted is used with the key that it had, when its Secret went first, and that another
// config is not.
func TestServerSecretGone(t *testing.T) {
	ctx := t.Context()
	o, kube, _ := newOncall(t, login())
	c := withSecret()
	if _, err := o.Server(ctx, c); err != nil {
		t.Fatal(err)
	}
	if err := kube.Delete(ctx, login()); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Server(ctx, c); ReasonOf(err, "") != v1alpha1.ReasonConfigNotReady {
		t.Errorf("a config that stays: %v", err)
	}
	now := metav1.Now()
	c.DeletionTimestamp = &now
	if _, err := o.Server(ctx, c); err != nil {
		t.Errorf("a config that goes: %v", err)
	}
	other := c.DeepCopy()
	other.UID = "other"
	if _, err := o.Server(ctx, other); err == nil {
		t.Error("another config has the key, too")
	}
	o.Forget(c.UID)
	if _, err := o.Server(ctx, c); err == nil {
		t.Error("a key that was forgotten is used")
	}
}

// TestTerdutShares holds that all keys of a server share its connections, and that a credential is used for its own endpoint.
func TestTerdutShares(t *testing.T) {
	x := NewTerdut()
	c := credential.New(credential.Owner{Kind: v1alpha1.TeamKind, Namespace: "shop", Name: "platform", UID: "one"})
	if _, err := x.For(c); ReasonOf(err, "") != v1alpha1.ReasonConfigNotReady {
		t.Errorf("without a key: %v", err)
	}
	c.Endpoint, c.Token = "http://terdut/", "one"
	for _, token := range []terdut.Secret{"one", "two"} {
		if cl, err := x.Client(c.Endpoint, "", token); err != nil || cl.Endpoint() != "http://terdut" {
			t.Errorf("a key: %v", err)
		}
	}
	if cl, err := x.For(c); err != nil || cl.Endpoint() != "http://terdut" {
		t.Errorf("with a key: %v", err)
	}
	if len(x.clients) != 1 {
		t.Errorf("there are %d clients of one server", len(x.clients))
	}
	for name, bad := range map[string][2]string{"Endpoint": {"ftp://x", ""}, "CABundle": {"https://x", "no certificate"}} {
		if _, err := x.Client(bad[0], bad[1], ""); ReasonOf(err, "") != v1alpha1.ReasonConfigNotReady {
			t.Errorf("%s: %v", name, err)
		}
	}
}
