package baosecret

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
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
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/index"
	"github.com/ryuvia/provider-terdut/internal/controller/owner"
)

// quiet drops events.
type quiet struct{}

func (quiet) Event(runtime.Object, event.Event)          {}
func (q quiet) WithAnnotations(...string) event.Recorder { return q }

// mine is a BaoSecret that owns itself: me.
func mine(mods ...func(*v1alpha1.BaoSecret)) *v1alpha1.BaoSecret {
	s := &v1alpha1.BaoSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "uid", Generation: 2}}
	s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	s.Spec.ForProvider.Path = "orders"
	s.Spec.ForProvider.Data = []v1alpha1.DataItem{fixed("user", "shop"), random("pass")}
	for _, m := range mods {
		m(s)
	}
	return s
}

func observed(version int64) func(*v1alpha1.BaoSecret) {
	return func(s *v1alpha1.BaoSecret) { s.Status.AtProvider.Version = version }
}

// view is one reconcile's view of the record kv/orders.
func view(t *testing.T, c *openbao.Client, objects ...client.Object) *external {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, postgresqlv1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&postgresqlv1alpha1.PGDatabase{}, index.PGDatabaseByBaoSecret, func(o client.Object) []string {
			return []string{o.(*postgresqlv1alpha1.PGDatabase).Spec.ForProvider.Owner.PasswordFrom.BaoSecretRef.Name}
		}).Build()
	return &external{
		connector: &connector{
			kube: kube, secrets: connect.NewSecrets(kube, kube), owners: owner.NewResolver(kube), controlPlane: me.controlPlane,
			recorder: quiet{}, records: newLocks(),
		},
		cfg:    &connect.OpenBaoConfig{Server: v1alpha1.ServerSpec{Address: "https://bao.example", Mount: "kv"}},
		client: c, mount: "kv", path: "orders", name: "kv/orders",
	}
}

func TestObserve(t *testing.T) {
	complete := raw("user", `"shop"`, "pass", `"secret"`, "theirs", `1`)
	recreate := func(from string) func(*external) {
		return func(e *external) {
			e.cfg.Server.Adoptions = []v1alpha1.Adoption{{Path: "kv/orders", AdoptionTarget: commonv1alpha1.AdoptionTarget{From: from, To: "shop/orders", Recreate: true}}}
		}
	}
	const unregistered = commonv1alpha1.AdoptionFromUnregistered
	onlyObserve := func(s *v1alpha1.BaoSecret) {
		s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	}
	created := func(s *v1alpha1.BaoSecret) { meta.SetExternalCreateSucceeded(s, time.Unix(0, 0)) }
	missing := managed.ExternalObservation{ResourceUpToDate: true}
	drift := managed.ExternalObservation{ResourceExists: true}

	type want struct {
		o       managed.ExternalObservation
		ready   xpv2.ConditionReason
		version int64
		keys    []string
		err     error
	}
	keys := []string{"pass", "user"}
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.BaoSecret
		mods   func(*external)
		server func(*kv)
		want   want
	}{
		"New": {
			reason: "A record that nobody has is created.", mg: mine(), server: func(*kv) {},
			want: want{o: missing, ready: xpv2.ReasonCreating},
		},
		"Marked": {
			reason: "A create that was interrupted after the mark is finished.", mg: mine(),
			server: func(k *kv) { k.put("orders", tags(nil)) },
			want:   want{o: missing, ready: xpv2.ReasonCreating},
		},
		"Complete": {
			reason: "A record that has everything is ready.", mg: mine(),
			server: func(k *kv) {
				k.put("orders", tags(map[string]string{"team": "payments", tagGenerated: keyMark("pass")}), complete)
			},
			want: want{o: upToDate, ready: xpv2.ReasonAvailable, version: 1, keys: keys},
		},
		"Drifted": {
			reason: "A value that was changed by hand is repaired.", mg: mine(observed(1)),
			server: func(k *kv) { k.put("orders", tags(nil), complete, raw("user", `"x"`, "pass", `"secret"`)) },
			want:   want{o: drift, version: 2, keys: keys},
		},
		"MadeAgain": {
			reason: "The owner's object was made again: it takes its record over, but does not speak of it before.", mg: mine(),
			server: func(k *kv) { k.put("orders", tags(map[string]string{tagHolder: "earlier"}), complete) },
			want:   want{o: drift},
		},
		"Foreign": {
			reason: "Somebody else's record is a conflict, and nothing of it is ours to report.", mg: mine(),
			server: func(k *kv) { k.put("orders", map[string]string{"team": "payments"}, complete) },
			want:   want{o: upToDate, ready: v1alpha1.ReasonConflict},
		},
		"Vanished": {
			reason: "A record that was there and is not is not made anew.", mg: mine(observed(3)), server: func(*kv) {},
			want: want{o: upToDate, ready: v1alpha1.ReasonDataLost, version: 3},
		},
		"VanishedWithStatus": {
			reason: "A create that succeeded is also known when the status was lost.", mg: mine(created), server: func(*kv) {},
			want: want{o: upToDate, ready: v1alpha1.ReasonDataLost},
		},
		"VanishedAndAllowed": {
			reason: "An admin lets it be made anew.", mg: mine(observed(3)), mods: recreate(unregistered), server: func(*kv) {},
			want: want{o: missing, ready: xpv2.ReasonCreating, version: 3},
		},
		"VanishedAndAllowedAndMarked": {
			reason: "The consent holds for a create that was interrupted after the mark.", mg: mine(observed(3)), mods: recreate(unregistered),
			server: func(k *kv) { k.put("orders", tags(nil)) },
			want:   want{o: missing, ready: xpv2.ReasonCreating, version: 3},
		},
		"VersionsVanished": {
			reason: "A mark without the versions that were there is no new record.", mg: mine(observed(3)),
			server: func(k *kv) { k.put("orders", tags(nil)) },
			want:   want{o: upToDate, ready: v1alpha1.ReasonDataLost, version: 3},
		},
		"Deleted": {
			reason: "A deleted current version is not made anew: the role's password would no longer match.", mg: mine(observed(2)),
			server: func(k *kv) { k.put("orders", tags(nil), complete, nil) },
			want:   want{o: upToDate, ready: v1alpha1.ReasonDataLost, version: 2},
		},
		"DeletedAndAllowed": {
			reason: "An admin lets it be made anew.", mg: mine(observed(2)), mods: recreate("uid"),
			server: func(k *kv) { k.put("orders", tags(nil), complete, nil) },
			want:   want{o: drift, version: 2},
		},
		"DeletedAndOtherAllowed": {
			reason: "An admin who speaks of another owner's record does not speak of this one.", mg: mine(observed(2)), mods: recreate(unregistered),
			server: func(k *kv) { k.put("orders", tags(nil), complete, nil) },
			want:   want{o: upToDate, ready: v1alpha1.ReasonDataLost, version: 2},
		},
		"Emptied": {
			reason: "A password that was emptied is lost, and no template failed.", mg: mine(observed(1)),
			server: func(k *kv) { k.put("orders", tags(nil), raw("user", `"shop"`, "pass", `""`)) },
			want:   want{o: upToDate, ready: v1alpha1.ReasonDataLost, version: 1, keys: keys},
		},
		"KeyLost": {
			reason: "A password that somebody removed is lost: a new one would not match what is in use.", mg: mine(observed(1)),
			server: func(k *kv) {
				k.put("orders", tags(map[string]string{tagGenerated: keyMark("pass")}), complete, raw("user", `"shop"`))
			},
			want: want{o: upToDate, ready: v1alpha1.ReasonDataLost, version: 2, keys: []string{"user"}},
		},
		"KeyLostAndAllowed": {
			reason: "An admin lets it be made anew.", mg: mine(observed(1)), mods: recreate("uid"),
			server: func(k *kv) {
				k.put("orders", tags(map[string]string{tagGenerated: keyMark("pass")}), complete, raw("user", `"shop"`))
			},
			want: want{o: drift, version: 2, keys: []string{"user"}},
		},
		"KeyNew": {
			reason: "A key that was never generated is new.", mg: mine(observed(1)),
			server: func(k *kv) { k.put("orders", tags(nil), raw("user", `"shop"`)) },
			want:   want{o: drift, version: 1, keys: []string{"user"}},
		},
		"NoSource": {
			reason: "A Secret that is not there is waited for.",
			mg: mine(func(s *v1alpha1.BaoSecret) {
				s.Spec.ForProvider.Data = []v1alpha1.DataItem{{Key: "k", ValueFrom: &v1alpha1.ValueSource{SecretKeyRef: commonv1alpha1.LocalSecretKeySelector{Name: "x", Key: "y"}}}}
			}), server: func(*kv) {},
			want: want{o: upToDate, ready: v1alpha1.ReasonSourceNotReady},
		},
		"BinarySource": {
			reason: "JSON would keep another value, which would be written again and again.",
			mg: mine(func(s *v1alpha1.BaoSecret) {
				s.Spec.ForProvider.Data = []v1alpha1.DataItem{{Key: "k", ValueFrom: &v1alpha1.ValueSource{SecretKeyRef: commonv1alpha1.LocalSecretKeySelector{Name: "x", Key: "y"}}}}
			}),
			mods: func(e *external) {
				kube := fake.NewClientBuilder().WithObjects(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "x"}, Data: map[string][]byte{"y": {0xff, 0xfe}}}).Build()
				e.secrets = connect.NewSecrets(kube, kube)
			},
			server: func(*kv) {},
			want:   want{o: upToDate, ready: v1alpha1.ReasonSourceNotReady},
		},
		"BadTemplate": {
			reason: "A template that fails is the spec's fault.",
			mg:     mine(func(s *v1alpha1.BaoSecret) { s.Spec.ForProvider.Data = []v1alpha1.DataItem{rendered("k", "{{ .no }}")} }),
			server: func(*kv) {},
			want:   want{o: upToDate, ready: v1alpha1.ReasonTemplateFailed},
		},
		"OnlyObserved": {
			reason: "What is only looked at is reported, whoever owns it.", mg: mine(onlyObserve),
			server: func(k *kv) { k.put("orders", nil, complete) },
			want:   want{o: upToDate, ready: xpv2.ReasonAvailable, version: 1, keys: keys},
		},
		"OnlyObservedMissing": {
			reason: "What is only looked at has to be there.", mg: mine(onlyObserve), server: func(*kv) {},
		},
		"Sealed": {
			reason: "A server that cannot answer is an error with its reason.", mg: mine(), server: func(k *kv) { k.down = true },
			want: want{err: cmpopts.AnyError},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, c := newKV(t)
			tc.server(k)
			before := k.world()
			e := view(t, c)
			if tc.mods != nil {
				tc.mods(e)
			}
			o, err := e.Observe(t.Context(), tc.mg)
			ready := tc.mg.GetCondition(xpv2.TypeReady)
			got := want{o: o, ready: ready.Reason, version: tc.mg.Status.AtProvider.Version, keys: tc.mg.Status.AtProvider.Keys, err: err}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, k.world()); diff != "" || len(k.writes) > 0 {
				t.Errorf("\n%s\nObserve(...) must write nothing: %v\n%s", tc.reason, k.writes, diff)
			}
			if (ready.Status == corev1.ConditionTrue) != (ready.Reason == xpv2.ReasonAvailable) {
				t.Errorf("\n%s\nReady is %s with reason %s", tc.reason, ready.Status, ready.Reason)
			}
			if strings.Contains(tc.mg.Status.AtProvider.URL, "//bao.example/v1/kv/data/orders") != (err == nil) {
				t.Errorf("\n%s\nURL is %q", tc.reason, tc.mg.Status.AtProvider.URL)
			}
			if err != nil && connect.ReasonOf(err, "") != v1alpha1.ReasonSealed {
				t.Errorf("\n%s\nwant reason %s, got %s", tc.reason, v1alpha1.ReasonSealed, connect.ReasonOf(err, ""))
			}
		})
	}
}

func TestRecordURL(t *testing.T) {
	got := recordURL("https://bao.example/prefix/", "team/kv", "a b/c?d/e#f/100%/ü")
	want := "https://bao.example/prefix/v1/team/kv/data/a%20b/c%3Fd/e%23f/100%25/%C3%BC"
	if got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}
