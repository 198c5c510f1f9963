package connect

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
)

// configured returns what an Instance would be made from.
func configured(t *testing.T, a *api, mg resource.ModernManaged) postgresql.Config {
	t.Helper()
	var got postgresql.Config
	p := NewPostgres(a, NewSecrets(a, a), nil)
	p.Adjust = func(c *postgresql.Config) {
		got = *c
		// That what they hold is not PEM does not matter here.
		c.CABundle, c.ClientCert, c.ClientKey = nil, nil, nil
	}
	if _, _, err := p.Connect(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestPostgresSecrets holds that a namespaced config reads Secrets of its own namespace only, and a cluster config those that it names,
// whatever there is in other namespaces.
func TestPostgresSecrets(t *testing.T) {
	var objects []client.Object
	for _, ns := range []string{"shop", "system", "bank"} {
		objects = append(objects, secret(ns, "login", "user", "pass"), secret(ns, "ca", "bundle"), secret(ns, "tls", corev1.TLSCertKey, corev1.TLSPrivateKeyKey))
	}
	objects = append(objects,
		localPostgres(func(pc *v1alpha1.ProviderConfig) {
			ca := key("ca", "bundle")
			pc.Spec.CABundleRef = &ca
			pc.Spec.ClientCertificateRef = &commonv1alpha1.LocalSecretReference{Name: "tls"}
		}),
		localPostgres(func(pc *v1alpha1.ProviderConfig) { pc.Namespace, pc.Spec.Host = "bank", "bank.example" }),
		clusterPostgres(func(pc *v1alpha1.ClusterProviderConfig) {
			ca, tls := keyIn("system", "ca", "bundle"), refIn("system", "tls")
			pc.Spec.CABundleRef, pc.Spec.ClientCertificateRef = &ca, &tls
		}),
	)
	cases := map[string]struct {
		reason string
		kind   string
		want   string
	}{
		"Namespaced": {"The config of the managed resource's namespace is used, with Secrets of that namespace.", KindProviderConfig, "shop"},
		"Cluster":    {"The cluster config is used, with the Secrets that it names.", KindClusterProviderConfig, "system"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, objects...)
			got := configured(t, a, database(tc.kind, "default"))
			ns := tc.want
			want := postgresql.Config{
				Host: "db.example", SSLMode: "disable", Username: value(ns, "login", "user"), Password: value(ns, "login", "pass"),
				CABundle: []byte(value(ns, "ca", "bundle")), ClientCert: []byte(value(ns, "tls", corev1.TLSCertKey)), ClientKey: []byte(value(ns, "tls", corev1.TLSPrivateKeyKey)),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{ns}, a.namespaces); diff != "" {
				t.Errorf("\n%s\nnamespaces whose Secrets were read: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPostgresNotReady holds that what is missing is named, under one reason, and that no value is.
func TestPostgresNotReady(t *testing.T) {
	login := secret("shop", "login", "user", "pass")
	without := func(s *corev1.Secret, k string) *corev1.Secret {
		s = s.DeepCopy()
		delete(s.Data, k)
		return s
	}
	empty := without(login, "pass")
	empty.Data["pass"] = []byte{}
	withCA := localPostgres(func(pc *v1alpha1.ProviderConfig) {
		ca := key("ca", "bundle")
		pc.Spec.CABundleRef = &ca
	})
	noReference := database(KindProviderConfig, "")
	noReference.Spec.ProviderConfigReference = nil

	cases := map[string]struct {
		reason  string
		mg      *v1alpha1.PGDatabase
		objects []client.Object
		names   []string
	}{
		"NoReference":   {"A reference is needed.", noReference, nil, []string{"providerConfigRef"}},
		"WrongKind":     {"There are two kinds.", database("Config", "default"), nil, []string{`"Config"`}},
		"NoConfig":      {"The config is missing.", database(KindProviderConfig, "default"), nil, []string{KindProviderConfig, `"default"`}},
		"NoCluster":     {"The config is missing.", database(KindClusterProviderConfig, "default"), []client.Object{localPostgres(), login}, []string{KindClusterProviderConfig, `"default"`}},
		"NoSecret":      {"The Secret is missing.", database(KindProviderConfig, "default"), []client.Object{localPostgres()}, []string{"shop/login"}},
		"NoKey":         {"The key is missing.", database(KindProviderConfig, "default"), []client.Object{localPostgres(), without(login, "user")}, []string{"shop/login", `"user"`}},
		"EmptyKey":      {"An empty value is none.", database(KindProviderConfig, "default"), []client.Object{localPostgres(), empty}, []string{"shop/login", `"pass"`}},
		"NoCA":          {"The Secret of the CA is missing.", database(KindProviderConfig, "default"), []client.Object{withCA, login}, []string{"shop/ca"}},
		"NoCAKey":       {"The key of the CA is missing.", database(KindProviderConfig, "default"), []client.Object{withCA, login, secret("shop", "ca")}, []string{"shop/ca", `"bundle"`}},
		"UnusableValue": {"The CA is no certificate.", database(KindProviderConfig, "default"), []client.Object{withCA, login, secret("shop", "ca", "bundle")}, []string{"CA bundle"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, tc.objects...)
			_, _, err := NewPostgres(a, NewSecrets(a, a), nil).Connect(t.Context(), tc.mg)
			if got := ReasonOf(err, "None"); got != ReasonConfigNotReady {
				t.Fatalf("\n%s\nwant reason %s, got %s (error: %t)", tc.reason, ReasonConfigNotReady, got, err != nil)
			}
			for _, n := range tc.names {
				if !strings.Contains(err.Error(), n) {
					t.Errorf("\n%s\nthe error does not name %s", tc.reason, n)
				}
			}
			if strings.Contains(err.Error(), sentinel) {
				t.Errorf("\n%s\nthe error holds a secret value", tc.reason)
			}
		})
	}
}

// TestPostgresShared holds that one Instance serves all the managed resources of a config until the config or one of its Secrets changes,
// or until it is forgotten.
func TestPostgresShared(t *testing.T) {
	ctx := t.Context()
	login, pc, other := secret("shop", "login", "user", "pass"), localPostgres(), localPostgres(func(pc *v1alpha1.ProviderConfig) { pc.Name, pc.UID = "other", "other" })
	a := newAPI(t, login, pc, other)
	p := NewPostgres(a, NewSecrets(a, a), nil)
	connect := func(name string) *postgresql.Instance {
		t.Helper()
		_, i, err := p.Connect(ctx, database(KindProviderConfig, name))
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	write := func(o client.Object) {
		t.Helper()
		if err := a.Update(ctx, o); err != nil {
			t.Fatal(err)
		}
	}

	first := connect("default")
	if connect("default") != first {
		t.Error("nothing changed: the Instance must be shared")
	}
	if connect("other") == first {
		t.Error("another config must have an Instance of its own")
	}
	pc.Labels = map[string]string{"l": "v"}
	write(pc)
	if connect("default") != first {
		t.Error("only metadata of the config changed: the Instance must be shared")
	}
	pc.Generation = 2
	write(pc)
	second := connect("default")
	if second == first {
		t.Error("the config changed: there must be another Instance")
	}
	login.Data["pass"] = []byte(sentinel + " rotated")
	write(login)
	third := connect("default")
	if third == second || connect("default") != third {
		t.Error("the Secret changed: there must be another Instance, once")
	}
	if err := a.Delete(ctx, login); err != nil {
		t.Fatal(err)
	}
	db := database(KindProviderConfig, "default")
	if _, _, err := p.Connect(ctx, db); ReasonOf(err, "") != ReasonConfigNotReady {
		t.Errorf("the Secret is gone: want reason %s, got %s", ReasonConfigNotReady, ReasonOf(err, ""))
	}
	deleted := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	db.DeletionTimestamp = &deleted
	if _, i, err := p.Connect(ctx, db); err != nil || i != third {
		t.Errorf("what is being deleted needs no more than the Instance that there is, got error %v", err)
	}
	if err := a.Create(ctx, secret("shop", "login", "user", "pass")); err != nil {
		t.Fatal(err)
	}
	fourth := connect("default")
	p.Forget(pc.UID)
	if connect("default") == fourth {
		t.Error("a forgotten Instance must not be used again")
	}
}

// TestUsage holds that usages are recorded, and that nothing depends on it.
func TestUsage(t *testing.T) {
	tracked := 0
	tracker := resource.ModernTrackerFn(func(context.Context, resource.ModernManaged) error { tracked++; return errBoom })
	a := newAPI(t, secret("shop", "login", "user", "pass"), localPostgres())
	p := NewPostgres(a, NewSecrets(a, a), tracker)
	db := database(KindProviderConfig, "default")
	if _, _, err := p.Connect(t.Context(), db); err != nil || tracked != 1 {
		t.Errorf("a usage that cannot be recorded must stop nothing: tracked %d times, error %v", tracked, err)
	}
	deleted := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	db.DeletionTimestamp = &deleted
	if _, _, err := p.Connect(t.Context(), db); err != nil || tracked != 1 {
		t.Errorf("no usage is recorded while deleting: tracked %d times, error %v", tracked, err)
	}
}

// TestPostgresConfigOf holds what a config says beyond what its client is made from.
func TestPostgresConfigOf(t *testing.T) {
	c, err := PostgresConfigOf(localPostgres())
	if err != nil {
		t.Fatal(err)
	}
	if got := c.VerifyInterval(time.Hour); got != time.Hour {
		t.Errorf("want the default interval, got %s", got)
	}
	c.Server.VerifyInterval = &metav1.Duration{Duration: time.Second}
	if got := c.VerifyInterval(time.Hour); got != time.Second {
		t.Errorf("want the config's interval, got %s", got)
	}
	if diff := cmp.Diff([]types.NamespacedName{{Namespace: "shop", Name: "login"}}, c.Secrets()); diff != "" {
		t.Errorf("Secrets(): -want, +got:\n%s", diff)
	}
	if _, err := PostgresConfigOf(record("", "")); err == nil {
		t.Error("what is no config must be refused")
	}

	a := newAPI(t, secret("shop", "login", "user", "pass"), localPostgres())
	a.fail = errBoom
	_, _, err = NewPostgres(a, NewSecrets(a, a), nil).Connect(t.Context(), database(KindProviderConfig, "default"))
	if !errors.Is(err, errBoom) {
		t.Errorf("want errBoom, got %v", err)
	}
}
