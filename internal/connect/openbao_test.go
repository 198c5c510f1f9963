package connect

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
)

func localOpenBao(auth v1alpha1.LocalAuth) *v1alpha1.ProviderConfig {
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "default", UID: "local", Generation: 1}}
	pc.Spec.Address, pc.Spec.Auth = "http://bao.example:8200", auth
	return pc
}

func clusterOpenBao(auth v1alpha1.Auth) *v1alpha1.ClusterProviderConfig {
	pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "cluster", Generation: 1}}
	pc.Spec.Address, pc.Spec.Auth = "http://bao.example:8200", auth
	return pc
}

// TestOpenBaoSecrets holds that a namespaced config authenticates with what is in its own namespace only, and a cluster config with what it
// names, whatever there is in other namespaces.
func TestOpenBaoSecrets(t *testing.T) {
	ca, clusterCA := key("ca", "bundle"), keyIn("system", "ca", "bundle")
	role := v1alpha1.AppRole{AuthPath: "auth", RoleID: "role"}
	withCA := localOpenBao(v1alpha1.LocalAuth{Token: &v1alpha1.LocalTokenAuth{SecretRef: key("login", "token")}})
	withCA.Spec.CABundleRef = &ca
	withClusterCA := clusterOpenBao(v1alpha1.Auth{Token: &v1alpha1.TokenAuth{SecretRef: keyIn("system", "login", "token")}})
	withClusterCA.Spec.CABundleRef = &clusterCA

	type want struct {
		token, secretID, ca string
	}
	cases := map[string]struct {
		reason string
		kind   string
		config client.Object
		from   string
		want   want
	}{
		"LocalToken": {
			"The token is of the config's namespace.", KindProviderConfig, withCA, "shop",
			want{token: value("shop", "login", "token"), ca: value("shop", "ca", "bundle")},
		},
		"ClusterToken": {
			"The token is of the namespace that is named.", KindClusterProviderConfig, withClusterCA, "system",
			want{token: value("system", "login", "token"), ca: value("system", "ca", "bundle")},
		},
		"LocalAppRole": {
			"The secret id is of the config's namespace.", KindProviderConfig,
			localOpenBao(v1alpha1.LocalAuth{AppRole: &v1alpha1.LocalAppRoleAuth{AppRole: role, SecretRef: key("login", "id")}}), "shop",
			want{secretID: value("shop", "login", "id")},
		},
		"ClusterAppRole": {
			"The secret id is of the namespace that is named.", KindClusterProviderConfig,
			clusterOpenBao(v1alpha1.Auth{AppRole: &v1alpha1.AppRoleAuth{AppRole: role, SecretRef: keyIn("system", "login", "id")}}), "system",
			want{secretID: value("system", "login", "id")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, tc.config)
			for _, ns := range []string{"shop", "system", "bank"} {
				for _, s := range []client.Object{secret(ns, "login", "token", "id"), secret(ns, "ca", "bundle")} {
					if err := a.Create(t.Context(), s); err != nil {
						t.Fatal(err)
					}
				}
			}
			got := want{}
			b := NewOpenBao(a, NewSecrets(a, a), nil)
			b.Adjust = func(c *openbao.Config) {
				got = want{token: c.Auth.Token, ca: string(c.CABundle)}
				if r := c.Auth.AppRole; r != nil {
					got.secretID = r.SecretID
				}
				c.CABundle = nil
			}
			if _, _, err := b.Connect(t.Context(), record(tc.kind, "default")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{tc.from}, a.namespaces); diff != "" {
				t.Errorf("\n%s\nnamespaces whose Secrets were read: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestH25ServiceAccountToken holds for which ServiceAccount a token is asked: one of the config's namespace, or the one that a cluster config
// names, with the audiences of the config and for a short time. The provider's own token goes nowhere.
func TestH25ServiceAccountToken(t *testing.T) {
	k := v1alpha1.Kubernetes{AuthPath: "k8s", Role: "role", Audiences: []string{"bao"}}
	cases := map[string]struct {
		reason string
		kind   string
		config client.Object
		want   string
	}{
		"Local": {
			"The ServiceAccount is of the config's namespace.", KindProviderConfig,
			localOpenBao(v1alpha1.LocalAuth{Kubernetes: &v1alpha1.LocalKubernetesAuth{Kubernetes: k, ServiceAccountRef: commonv1alpha1.LocalSecretReference{Name: "sa"}}}), "shop/sa",
		},
		"Cluster": {
			"The ServiceAccount is the one that is named.", KindClusterProviderConfig,
			clusterOpenBao(v1alpha1.Auth{Kubernetes: &v1alpha1.KubernetesAuth{Kubernetes: k, ServiceAccountRef: refIn("system", "sa")}}), "system/sa",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			asked, fail := "", error(nil)
			a := newAPI(t, tc.config)
			kube := interceptor.NewClient(a.Client.(client.WithWatch), interceptor.Funcs{
				SubResourceCreate: func(_ context.Context, _ client.Client, sub string, o, body client.Object, _ ...client.SubResourceCreateOption) error {
					tr := body.(*authenticationv1.TokenRequest)
					asked = client.ObjectKeyFromObject(o).String()
					if diff := cmp.Diff([]string{"bao"}, tr.Spec.Audiences); sub != "token" || diff != "" || *tr.Spec.ExpirationSeconds != tokenSeconds {
						t.Errorf("\n%s\nsubresource %q, audiences %v, seconds %d", tc.reason, sub, tr.Spec.Audiences, *tr.Spec.ExpirationSeconds)
					}
					tr.Status.Token = "jwt"
					return fail
				},
			})
			var jwt func(context.Context) (string, error)
			b := NewOpenBao(kube, NewSecrets(a, a), nil)
			b.Adjust = func(c *openbao.Config) { jwt = c.Auth.Kubernetes.JWT }
			if _, _, err := b.Connect(t.Context(), record(tc.kind, "default")); err != nil {
				t.Fatal(err)
			}
			if asked != "" {
				t.Errorf("\n%s\nno token may be asked for before it is needed", tc.reason)
			}
			got, err := jwt(t.Context())
			if err != nil || got != "jwt" || asked != tc.want {
				t.Errorf("\n%s\nwant a token of %s, got one of %s and error %v", tc.reason, tc.want, asked, err)
			}
			fail = errBoom
			if _, err := jwt(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nwant an error that names %s, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestOpenBaoNotReady holds that what is missing is named, under one reason.
func TestOpenBaoNotReady(t *testing.T) {
	token := localOpenBao(v1alpha1.LocalAuth{Token: &v1alpha1.LocalTokenAuth{SecretRef: key("login", "token")}})
	cases := map[string]struct {
		reason  string
		objects []client.Object
		names   []string
	}{
		"NoConfig": {"The config is missing.", nil, []string{KindProviderConfig, `"default"`}},
		"NoSecret": {"The Secret is missing.", []client.Object{token}, []string{"shop/login"}},
		"NoKey":    {"The key is missing.", []client.Object{token, secret("shop", "login", "other")}, []string{"shop/login", `"token"`}},
		"NoAuth":   {"There is no way to authenticate.", []client.Object{localOpenBao(v1alpha1.LocalAuth{})}, []string{"authentication"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, tc.objects...)
			_, _, err := NewOpenBao(a, NewSecrets(a, a), nil).Connect(t.Context(), record(KindProviderConfig, "default"))
			if got := ReasonOf(err, "None"); got != ReasonConfigNotReady {
				t.Fatalf("\n%s\nwant reason %s, got %s (error: %t)", tc.reason, ReasonConfigNotReady, got, err != nil)
			}
			for _, n := range tc.names {
				if !strings.Contains(err.Error(), n) || strings.Contains(err.Error(), sentinel) {
					t.Errorf("\n%s\nthe error must name %s and no value", tc.reason, n)
				}
			}
		})
	}
}

// TestOpenBaoShared holds that one Client, and so one login, serves all the managed resources of a config until the config or its Secret
// changes, or until it is forgotten.
func TestOpenBaoShared(t *testing.T) {
	ctx := t.Context()
	login := secret("shop", "login", "token")
	pc := localOpenBao(v1alpha1.LocalAuth{Token: &v1alpha1.LocalTokenAuth{SecretRef: key("login", "token")}})
	a := newAPI(t, login, pc)
	b := NewOpenBao(a, NewSecrets(a, a), nil)
	var last *openbao.Client
	connect := func(reason string, shared bool) {
		t.Helper()
		_, c, err := b.Connect(ctx, record(KindProviderConfig, "default"))
		if err != nil {
			t.Fatal(err)
		}
		if last != nil && (c == last) != shared {
			t.Errorf("%s: want the same Client: %t", reason, shared)
		}
		last = c
	}
	connect("first", false)
	connect("nothing changed", true)
	login.Data["token"] = []byte(sentinel + " rotated")
	if err := a.Update(ctx, login); err != nil {
		t.Fatal(err)
	}
	connect("the Secret changed", false)
	pc.Generation = 2
	if err := a.Update(ctx, pc); err != nil {
		t.Fatal(err)
	}
	connect("the config changed", false)
	connect("nothing changed again", true)

	if err := a.Delete(ctx, login); err != nil {
		t.Fatal(err)
	}
	s := record(KindProviderConfig, "default")
	if _, _, err := b.Connect(ctx, s); ReasonOf(err, "") != ReasonConfigNotReady {
		t.Errorf("the Secret is gone: want reason %s, got %s", ReasonConfigNotReady, ReasonOf(err, ""))
	}
	deleted := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s.DeletionTimestamp = &deleted
	if _, c, err := b.Connect(ctx, s); err != nil || c != last {
		t.Errorf("what is being deleted needs no more than the Client that there is, got error %v", err)
	}
	if err := a.Create(ctx, secret("shop", "login", "token")); err != nil {
		t.Fatal(err)
	}
	connect("the Secret came back", false)
	b.Forget(pc.UID)
	connect("forgotten", false)
}
