package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/openbao/openbao/api/v2"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
)

var storeKind = schema.GroupVersionKind{Group: "external-secrets.io", Version: "v1", Kind: "SecretStore"}

// byKubernetes is the access of a Tenant that reads its record with a role of its own.
func byKubernetes(spec map[string]any) map[string]any {
	spec["access"] = map[string]any{"kubernetes": map[string]any{}}
	return spec
}

// TestAccess holds that a Tenant's store delivers its Secret, and that nothing that another namespace can write reads its record.
func TestAccess(t *testing.T) {
	a, b := namespace(t), namespace(t)
	create(t, newTenant(a, "orders", byKubernetes(map[string]any{})))
	create(t, newTenant(b, "orders", byKubernetes(map[string]any{"deletionPolicy": "Delete"})))
	first, second := tenantReady(t, a, "orders"), tenantReady(t, b, "orders")
	pathA, pathB := kvPath(first), kvPath(second)
	mustLogin(t, secretData(t, a, "orders-db"))
	mustLogin(t, secretData(t, b, "orders-db"))
	for _, ns := range []string{a, b} {
		es := externalSecretOf(t, ns, "orders")
		if kind, _, _ := unstructured.NestedString(es.Object, "spec", "secretStoreRef", "kind"); kind != storeKind.Kind {
			t.Errorf("the ExternalSecret in %s reads through a %s", ns, kind)
		}
	}

	// What each store logs in with reads its own record, and is refused the other's.
	storeA, storeB := ownStore(t, a), ownStore(t, b)
	clientA, clientB := loginAs(t, a, storeA), loginAs(t, b, storeB)
	reads(t, clientA, pathA, 200)
	reads(t, clientB, pathB, 200)
	reads(t, clientA, pathB, 403)
	reads(t, clientB, pathA, 403)
	if _, err := clientA.Logical().ListWithContext(t.Context(), "kv/metadata/tenants"); answered(err) != 403 {
		t.Errorf("listing tenants: %v", err)
	}

	// B's ServiceAccount cannot log in with A's role.
	if _, err := logIn(t, b, account(storeB), role(storeA)); answered(err) != 403 {
		t.Errorf("B's ServiceAccount logs in with A's role: %v", err)
	}

	// Through External Secrets: an ExternalSecret of B's reading A's path through B's store, and through a store of B's that names A's role.
	stolen := storeB.DeepCopy()
	stolen.SetName("stolen")
	stolen.SetResourceVersion("")
	stolen.SetUID("")
	stolen.SetOwnerReferences(nil)
	stolen.SetLabels(nil)
	stolen.SetAnnotations(nil)
	stolen.SetManagedFields(nil)
	if err := unstructured.SetNestedField(stolen.Object, role(storeA), "spec", "provider", "vault", "auth", "kubernetes", "role"); err != nil {
		t.Fatal(err)
	}
	create(t, stolen)
	refused(t, storeKind, b, "stolen")
	for i, store := range []string{storeB.GetName(), "stolen"} {
		name := fmt.Sprintf("steal-%d", i)
		es := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"secretStoreRef": map[string]any{"kind": storeKind.Kind, "name": store},
			"target":         map[string]any{"name": name},
			"dataFrom":       []any{map[string]any{"extract": map[string]any{"key": pathA}}},
		}}}
		es.SetGroupVersionKind(externalSecretKind)
		es.SetNamespace(b)
		es.SetName(name)
		create(t, es)
		refused(t, externalSecretKind, b, name)
		if err := gone(t.Context(), &corev1.Secret{}, types.NamespacedName{Namespace: b, Name: name}); err != nil {
			t.Errorf("a Secret was delivered: %v", err)
		}
	}

	// Retain keeps the record and removes the access; Delete removes both.
	remove(t, first)
	remove(t, second)
	for _, r := range []string{role(storeA), role(storeB)} {
		eventually(t, "access of "+r+" to be gone", func(ctx context.Context) error { return noAccess(ctx, r) })
	}
	if kvMetadata(t, pathA) == nil {
		t.Error("the retained record is gone")
	}
	if kvMetadata(t, pathB) != nil {
		t.Error("the record that was to be deleted is there")
	}
}

// TestAccessChanges changes the access of a Tenant that lives. Its Secret is delivered throughout.
func TestAccessChanges(t *testing.T) {
	ns := namespace(t)
	create(t, newTenant(ns, "orders", map[string]any{}))
	u := tenantReady(t, ns, "orders")
	s := &corev1.Secret{}
	key := types.NamespacedName{Namespace: ns, Name: "orders-db"}
	if err := p.Client.Get(t.Context(), key, s); err != nil {
		t.Fatal(err)
	}
	same := func(when string) {
		t.Helper()
		now := &corev1.Secret{}
		if err := p.Client.Get(t.Context(), key, now); err != nil {
			t.Fatal(err)
		}
		if now.UID != s.UID {
			t.Errorf("%s: the Secret is another", when)
		}
		samePassword(t, when, s.Data["password"], now.Data["password"])
	}
	set := func(access map[string]any) {
		t.Helper()
		changeSpec(t, u.GroupVersionKind(), ns, "orders", func(spec map[string]any) { spec["access"] = access })
	}
	readsThrough := func(kind string) {
		t.Helper()
		eventually(t, "the ExternalSecret to read through a "+kind, func(context.Context) error {
			es := externalSecretOf(t, ns, "orders")
			if got, _, _ := unstructured.NestedString(es.Object, "spec", "secretStoreRef", "kind"); got != kind {
				return errors.New("it reads through a " + got)
			}
			return nil
		})
		tenantReady(t, ns, "orders")
	}

	set(map[string]any{"kubernetes": map[string]any{}})
	readsThrough(storeKind.Kind)
	same("with a store of its own")
	own := ownStore(t, ns)

	// Another ServiceAccount: the role lets that one in, and no longer the one that was made.
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "app"}})
	set(map[string]any{"kubernetes": map[string]any{"serviceAccountName": "app"}})
	eventually(t, "the made ServiceAccount to go", func(ctx context.Context) error {
		return gone(ctx, &corev1.ServiceAccount{}, types.NamespacedName{Namespace: ns, Name: account(own)})
	})
	tenantReady(t, ns, "orders")
	if got := account(ownStore(t, ns)); got != "app" {
		t.Errorf("the store logs in as %q", got)
	}
	reads(t, loginAs(t, ns, ownStore(t, ns)), kvPath(u), 200)
	same("with another ServiceAccount")

	set(map[string]any{"shared": map[string]any{}})
	readsThrough("ClusterSecretStore")
	eventually(t, "the access of its own to go", func(ctx context.Context) error { return noAccess(ctx, role(own)) })
	noneLeft(t, ns, storeKind)
	same("with the shared store")
}

// TestAccessCorrected has a Tenant ask for access where no role can be made, until an admin corrects where that is.
func TestAccessCorrected(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	config := &openbaov1alpha1.ClusterProviderConfig{}
	if err := p.Client.Get(t.Context(), types.NamespacedName{Name: "default"}, config); err != nil {
		t.Fatal(err)
	}
	right := config.Spec.Access.Kubernetes.AuthPath
	config.ObjectMeta = metav1.ObjectMeta{Name: ns}
	config.Spec.Access.Kubernetes.AuthPath = "nowhere"
	create(t, config)
	create(t, newTenant(ns, "orders", byKubernetes(map[string]any{"baoRef": map[string]any{"name": ns}, "deletionPolicy": "Delete"})))
	tenantIs(t, ns, "orders", func(u *unstructured.Unstructured) error {
		if c := condition(u, terdutv1alpha1.TypeAccessReady); c["reason"] != string(openbaov1alpha1.ReasonMountNotFound) && c["reason"] != string(openbaov1alpha1.ReasonPermissionDenied) {
			return fmt.Errorf("it does not say that no role can be made: %v", c)
		}
		return nil
	})

	edit(t, config, func(c *openbaov1alpha1.ClusterProviderConfig) { c.Spec.Access.Kubernetes.AuthPath = right })
	u := tenantReady(t, ns, "orders")
	reads(t, loginAs(t, ns, ownStore(t, ns)), kvPath(u), 200)
	remove(t, newTenant(ns, "orders", nil))
	noneLeft(t, ns, terdutv1alpha1.TenantGroupVersionKind)
	remove(t, config)
	isGone(t, config)
}

// ownStore returns the SecretStore of the only Tenant of a namespace.
func ownStore(t *testing.T, ns string) *unstructured.Unstructured {
	t.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(storeKind)
	if err := p.Client.List(t.Context(), l, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	if len(l.Items) != 1 {
		t.Fatalf("%d SecretStores in %s", len(l.Items), ns)
	}
	return &l.Items[0]
}

// kubernetesOf a SecretStore is how it logs in.
func kubernetesOf(store *unstructured.Unstructured, field ...string) string {
	v, _, _ := unstructured.NestedString(store.Object, append([]string{"spec", "provider", "vault", "auth", "kubernetes"}, field...)...)
	return v
}

func role(store *unstructured.Unstructured) string { return kubernetesOf(store, "role") }

func account(store *unstructured.Unstructured) string {
	return kubernetesOf(store, "serviceAccountRef", "name")
}

// loginAs logs in as a store does, and returns a client with the token.
func loginAs(t *testing.T, ns string, store *unstructured.Unstructured) *api.Client {
	t.Helper()
	c, err := logIn(t, ns, account(store), role(store))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// logIn as a ServiceAccount with a role.
func logIn(t *testing.T, ns, account, role string) (*api.Client, error) {
	t.Helper()
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: account}}
	tr := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"openbao"}, ExpirationSeconds: ptr.To[int64](600)}}
	if err := p.Client.SubResource("token").Create(t.Context(), sa, tr); err != nil {
		t.Fatal(err)
	}
	c, err := p.Plane.OpenBao.Root().Clone()
	if err != nil {
		t.Fatal(err)
	}
	c.ClearToken()
	s, err := c.Logical().WriteWithContext(t.Context(), "auth/"+local.KubernetesAuth+"/login", map[string]any{"role": role, "jwt": tr.Status.Token})
	if err != nil {
		return nil, err
	}
	c.SetToken(s.Auth.ClientToken)
	return c, nil
}

// reads fails unless reading a record's data is answered with a status.
func reads(t *testing.T, c *api.Client, path string, want int) {
	t.Helper()
	_, err := c.Logical().ReadWithContext(t.Context(), "kv/data/"+path)
	got := 200
	if err != nil {
		got = answered(err)
	}
	if got != want {
		t.Errorf("reading %s is answered with %d, want %d", path, got, want)
	}
}

// answered an error of OpenBao, 0 when it is none.
func answered(err error) int {
	var r *api.ResponseError
	if errors.As(err, &r) {
		return r.StatusCode
	}
	return 0
}

// noAccess is nil when OpenBao has neither a policy nor a role of a name.
func noAccess(ctx context.Context, name string) error {
	for _, path := range []string{"sys/policies/acl/" + name, "auth/" + local.KubernetesAuth + "/role/" + name} {
		s, err := p.Plane.OpenBao.Root().Logical().ReadWithContext(ctx, path)
		if err != nil {
			return err
		}
		if s != nil {
			return errors.New(path + " is there")
		}
	}
	return nil
}

// refused waits until External Secrets says that something is not Ready.
func refused(t *testing.T, gvk schema.GroupVersionKind, ns, name string) {
	t.Helper()
	eventually(t, gvk.Kind+" "+name+" to be refused", func(ctx context.Context) error {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		if err := p.Client.Get(ctx, types.NamespacedName{Namespace: ns, Name: name}, u); err != nil {
			return err
		}
		if c := condition(u, "Ready"); c["status"] != "False" {
			return fmt.Errorf("Ready is %v", c["status"])
		}
		return nil
	})
}
