package baosecret

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// cluster is an API server with a BaoSecret, its config and the config's Secret.
func cluster(t *testing.T, url string, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "default", UID: "config"}}
	pc.Spec.Address, pc.Spec.Mount = url, "kv"
	pc.Spec.Auth.Token = &v1alpha1.LocalTokenAuth{SecretRef: commonv1alpha1.LocalSecretKeySelector{Name: "token", Key: "token"}}
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "token"}, Data: map[string][]byte{"token": []byte("t")}}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(objects, pc, s)...).Build()
}

// configured refers to a config by name.
func configured(name string) func(*v1alpha1.BaoSecret) {
	return func(s *v1alpha1.BaoSecret) {
		s.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: connect.KindProviderConfig, Name: name}
	}
}

func TestConnect(t *testing.T) {
	other := "other/mount"
	type want struct {
		name    string
		waiting bool
		err     error
	}
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.BaoSecret
		want   want
	}{
		"ConfigsMount": {"The mount is the config's by default.", mine(configured("default")), want{name: "kv/orders"}},
		"OwnMount": {
			"The mount may be the object's.", mine(configured("default"), func(s *v1alpha1.BaoSecret) { s.Spec.ForProvider.Mount = &other }),
			want{name: "other/mount/orders"},
		},
		"Renamed": {
			"The external name says where the record is, whatever somebody wrote there.",
			mine(configured("default"), func(s *v1alpha1.BaoSecret) { meta.SetExternalName(s, "kv/billing") }),
			want{name: "kv/orders"},
		},
		"NoConfig":          {"Without a config nothing can be looked at.", mine(configured("gone")), want{err: cmpopts.AnyError}},
		"NoConfigAndRetain": {"What is to be left behind needs no config.", going(commonv1alpha1.DeletionRetain, configured("gone")), want{waiting: true}},
		"NoConfigAndDelete": {"What is to be deleted needs its config.", going(commonv1alpha1.DeletionDelete, configured("gone")), want{err: cmpopts.AnyError}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := tc.mg
			mg.Finalizers = []string{managed.FinalizerName}
			kube := cluster(t, "http://127.0.0.1:1", mg.DeepCopy())
			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(mg), mg); err != nil {
				t.Fatal(err)
			}
			secrets := connect.NewSecrets(kube, kube)
			c := &connector{kube: kube, secrets: secrets, bao: connect.NewOpenBao(kube, secrets, nil)}
			e, err := c.Connect(t.Context(), mg)

			stored := &v1alpha1.BaoSecret{}
			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(mg), stored); err != nil {
				t.Fatal(err)
			}
			_, ours := e.(*external)
			got := want{name: meta.GetExternalName(stored), waiting: err == nil && !ours, err: err}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nConnect(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got.waiting {
				if o, err := e.Observe(t.Context(), mg); err != nil || o.ResourceExists {
					t.Errorf("\n%s\nthe object must go at once, got %v and error %v", tc.reason, o, err)
				}
			}
		})
	}
}

// TestRead holds that a value is read from the version in the status, from a record that this very BaoSecret holds, and that errors hold
// none.
func TestRead(t *testing.T) {
	first, second := raw("pass", `"first `+sentinel+`"`), raw("pass", `"second `+sentinel+`"`)
	type want struct {
		value string
		err   error
	}
	cases := map[string]struct {
		reason  string
		key     string
		version int64
		custom  map[string]string
		data    map[string]string
		want    want
	}{
		"Current":   {reason: "The version that was observed.", key: "pass", version: 2, custom: tags(nil), want: want{value: "second " + sentinel}},
		"Earlier":   {reason: "Not a version that nobody has observed yet.", key: "pass", version: 1, custom: tags(nil), want: want{value: "first " + sentinel}},
		"NoVersion": {reason: "The version is gone.", key: "pass", version: 7, custom: tags(nil), want: want{err: cmpopts.AnyError}},
		"Foreign":   {reason: "A record of nobody.", key: "pass", version: 2, want: want{err: cmpopts.AnyError}},
		"Other":     {reason: "Another object holds the record, whatever the status says.", key: "pass", version: 2, custom: tags(map[string]string{tagHolder: "other"}), want: want{err: cmpopts.AnyError}},
		"NoKey":     {reason: "The key is missing.", key: "no", version: 2, custom: tags(nil), want: want{err: cmpopts.AnyError}},
		"Empty":     {reason: "An empty value is none.", key: "empty", version: 2, custom: tags(nil), want: want{err: cmpopts.AnyError}},
		"NoText":    {reason: "A number is no password.", key: "number", version: 2, custom: tags(nil), want: want{err: cmpopts.AnyError}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, _ := newKV(t)
			k.put("orders", tc.custom, first, second)
			for _, v := range k.records["orders"].versions {
				v["empty"], v["number"] = []byte(`""`), []byte(`17`)
			}
			kube := cluster(t, k.url)
			mg := mine(configured("default"), observed(tc.version))
			value, err := Read(t.Context(), connect.NewOpenBao(kube, connect.NewSecrets(kube, kube), nil), mg, tc.key)
			if diff := cmp.Diff(tc.want, want{value, err}, cmp.AllowUnexported(want{}), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nRead(...) returned another value or error", tc.reason)
			}
			if err != nil && strings.Contains(err.Error(), sentinel) {
				t.Errorf("\n%s\nthe error holds a value", tc.reason)
			}
		})
	}
}
