package setup

import (
	"context"
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

const configUID types.UID = "config"

// configs is a reconciler of provider configs over a fake API server, and what it did.
type configs struct {
	*configReconciler

	healthy   bool
	probes    int
	forgotten []types.UID
	errs      interceptor.Funcs
}

func newConfigs(t *testing.T, kind string, objects ...client.Object) *configs {
	t.Helper()
	c := &configs{healthy: true}
	kube := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.ProviderConfig{}, &v1alpha1.ClusterProviderConfig{}).
		WithIndex(&v1alpha1.BaoSecret{}, connect.IndexConfig, connect.ConfigKeyOf).
		WithInterceptorFuncs(interceptor.Funcs{
			List: func(ctx context.Context, inner client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
				if c.errs.List != nil {
					return c.errs.List(ctx, inner, l, opts...)
				}
				return inner.List(ctx, l, opts...)
			},
			SubResourcePatch: func(ctx context.Context, inner client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				if c.errs.SubResourcePatch != nil {
					return c.errs.SubResourcePatch(ctx, inner, sub, o, p, opts...)
				}
				return inner.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	c.configReconciler = &configReconciler{
		kube:    NewClient(kube),
		secrets: connect.NewSecrets(kube, kube),
		probed:  map[types.UID]probe{},
		kind: ProviderConfigKind{
			GVK:       v1alpha1.SchemeGroupVersion.WithKind(kind),
			New:       func() resource.ProviderConfig { return &v1alpha1.ProviderConfig{} },
			NewList:   func() client.ObjectList { return &v1alpha1.ProviderConfigList{} },
			Users:     []resource.ManagedList{&v1alpha1.BaoSecretList{}},
			UserKinds: []resource.ModernManaged{&v1alpha1.BaoSecret{}},
			Secrets: func(pc resource.ProviderConfig) []types.NamespacedName {
				return []types.NamespacedName{{Namespace: "shop", Name: pc.GetLabels()["secret"]}}
			},
			Probe: func(_ context.Context, pc resource.ProviderConfig) bool {
				c.probes++
				pc.SetConditions(xpv2.Condition{Type: v1alpha1.TypeHealthy, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonProbed})
				return c.healthy
			},
			Forget: func(uid types.UID) { c.forgotten = append(c.forgotten, uid) },
		},
	}
	if kind == connect.KindClusterProviderConfig {
		c.kind.New = func() resource.ProviderConfig { return &v1alpha1.ClusterProviderConfig{} }
		c.kind.NewList = func() client.ObjectList { return &v1alpha1.ClusterProviderConfigList{} }
	}
	return c
}

func config(kind string, mods ...func(client.Object)) resource.ProviderConfig {
	m := metav1.ObjectMeta{Namespace: "shop", Name: "default", UID: configUID, Generation: 1, Labels: map[string]string{"secret": "login"}}
	var pc resource.ProviderConfig = &v1alpha1.ProviderConfig{ObjectMeta: m}
	if kind == connect.KindClusterProviderConfig {
		m.Namespace = ""
		pc = &v1alpha1.ClusterProviderConfig{ObjectMeta: m}
	}
	for _, f := range mods {
		f(pc)
	}
	return pc
}

// using makes a managed resource that refers to a config.
func using(namespace, name, kind, config string) *v1alpha1.BaoSecret {
	return baoSecret(func(s *v1alpha1.BaoSecret) {
		s.Namespace, s.Name = namespace, name
		s.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: kind, Name: config}
	})
}

func (c *configs) reconcile(t *testing.T, pc client.Object) (reconcile.Result, error) {
	t.Helper()
	return c.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pc)})
}

// get the config as it is now, nil when it is gone.
func (c *configs) get(t *testing.T, pc resource.ProviderConfig) resource.ProviderConfig {
	t.Helper()
	got := c.kind.New()
	err := c.kube.Get(t.Context(), client.ObjectKeyFromObject(pc), got)
	if kerrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestConfigUsers holds that the managed resources of a config are counted, and keep it while there are any.
func TestConfigUsers(t *testing.T) {
	const (
		namespaced = connect.KindProviderConfig
		cluster    = connect.KindClusterProviderConfig
	)
	everybody := []client.Object{
		using("shop", "a", namespaced, "default"), using("shop", "b", namespaced, "default"), using("bank", "a", namespaced, "default"),
		using("shop", "c", cluster, "default"), using("bank", "c", cluster, "default"), using("pub", "c", cluster, "default"),
		using("shop", "d", namespaced, "other"), using("shop", "e", cluster, "other"),
		baoSecret(func(s *v1alpha1.BaoSecret) { s.Name = "none" }),
	}
	gone := func(o client.Object) {
		o.SetDeletionTimestamp(&deleted)
		o.SetFinalizers([]string{configFinalizer, "theirs"})
	}
	unused := func(o client.Object) { gone(o); o.SetName("unused") }

	type want struct {
		users      int64
		finalizers []string
		because    xpv2.ConditionReason
		probes     int
		forgotten  []types.UID
	}
	cases := map[string]struct {
		reason string
		config resource.ProviderConfig
		kind   string
		want   want
	}{
		"Namespaced": {
			reason: "A namespaced config is used from its own namespace, by those who name its kind.",
			config: config(namespaced), kind: namespaced,
			want: want{users: 2, finalizers: []string{configFinalizer}, probes: 1},
		},
		"Cluster": {
			reason: "A cluster config is used from every namespace.",
			config: config(cluster), kind: cluster,
			want: want{users: 3, finalizers: []string{configFinalizer}, probes: 1},
		},
		"DeletedInUse": {
			reason: "A config that is deleted stays while it is used, and says so. It is not probed.",
			config: config(cluster, gone), kind: cluster,
			want: want{users: 3, finalizers: []string{configFinalizer, "theirs"}, because: providerconfig.Terminating().Reason},
		},
		"DeletedUnused": {
			reason: "A config that nobody uses goes, with its clients.",
			config: config(cluster, unused), kind: cluster,
			want: want{finalizers: []string{"theirs"}, forgotten: []types.UID{configUID}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newConfigs(t, tc.kind, append([]client.Object{tc.config}, everybody...)...)
			if _, err := c.reconcile(t, tc.config); err != nil {
				t.Fatal(err)
			}
			pc := c.get(t, tc.config)
			terminating := pc.GetCondition(providerconfig.TypeTerminating)
			got := want{users: pc.GetUsers(), finalizers: pc.GetFinalizers(), because: terminating.Reason, probes: c.probes, forgotten: c.forgotten}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestConfigErrors holds that a config is not let go of when its users cannot be counted, and that one which is gone is no error.
func TestConfigErrors(t *testing.T) {
	gone := func(o client.Object) {
		o.SetDeletionTimestamp(&deleted)
		o.SetFinalizers([]string{configFinalizer})
	}
	pc := config(connect.KindProviderConfig, gone)
	c := newConfigs(t, connect.KindProviderConfig, pc)
	c.errs.List = func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return errBoom }
	if _, err := c.reconcile(t, pc); !errors.Is(err, errBoom) {
		t.Errorf("want errBoom, got %v", err)
	}
	if c.get(t, pc) == nil || len(c.forgotten) > 0 {
		t.Error("the config was let go of although its users could not be counted")
	}

	c.errs.List = nil
	for range 2 {
		if _, err := c.reconcile(t, pc); err != nil {
			t.Errorf("Reconcile(...): %v", err)
		}
		if c.get(t, pc) != nil {
			t.Error("an unused config must go")
		}
	}
}

// TestConfigWakes holds that a config is looked at when who uses it may have changed.
func TestConfigWakes(t *testing.T) {
	ctx := t.Context()
	key := func(namespace, name string) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
	}
	named, other := config(connect.KindProviderConfig), config(connect.KindProviderConfig, func(o client.Object) {
		o.SetName("other")
		o.SetLabels(nil)
	})
	namespaced := newConfigs(t, connect.KindProviderConfig, named, other)
	cluster := newConfigs(t, connect.KindClusterProviderConfig)
	local, global := using("shop", "a", connect.KindProviderConfig, "x"), using("shop", "a", connect.KindClusterProviderConfig, "x")
	secret := func(name string) client.Object {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	}

	cases := map[string]struct {
		reason string
		got    []reconcile.Request
		want   []reconcile.Request
	}{
		"Local":       {"A user wakes the config of its namespace.", namespaced.configOfUser(ctx, local), key("shop", "x")},
		"Global":      {"A user wakes the cluster config.", cluster.configOfUser(ctx, global), key("", "x")},
		"OtherKind":   {"A user of the other kind of config wakes nothing.", cluster.configOfUser(ctx, local), nil},
		"NoReference": {"A user without reference wakes nothing.", namespaced.configOfUser(ctx, baoSecret()), nil},
		"Secret":      {"A Secret wakes the configs that name it.", namespaced.configsOfSecret(ctx, secret("login")), key("shop", "default")},
		"OtherSecret": {"Other Secrets wake nothing.", namespaced.configsOfSecret(ctx, secret("theirs")), nil},
	}
	for name, tc := range cases {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s: %s\n-want, +got:\n%s", name, tc.reason, diff)
		}
	}

	moved := using("shop", "a", connect.KindProviderConfig, "y")
	if p := comesOrGoes(); p.Update(event.UpdateEvent{ObjectOld: local, ObjectNew: local.DeepCopy()}) ||
		!p.Update(event.UpdateEvent{ObjectOld: local, ObjectNew: moved}) || !p.Update(event.UpdateEvent{ObjectOld: local, ObjectNew: global}) ||
		!p.Create(event.CreateEvent{Object: local}) || !p.Delete(event.DeleteEvent{Object: local}) {
		t.Error("users matter when they come, go or turn to another config, and at no other time")
	}
	marked := config(connect.KindProviderConfig, func(o client.Object) { o.SetDeletionTimestamp(&deleted) })
	if p := deletionPredicate(); !p.Update(event.UpdateEvent{ObjectOld: named, ObjectNew: marked}) || p.Update(event.UpdateEvent{ObjectOld: named, ObjectNew: other}) {
		t.Error("the mark of a deletion must wake the config")
	}
}
